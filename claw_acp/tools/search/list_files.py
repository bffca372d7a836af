"""Showing a directory as a tree."""

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from claw_acp.contracts.tool import CallDraft, CallView, Invocation, ReadsPath, ToolContext, ToolResult
from claw_acp.core.errors import ToolError
from claw_acp.core.events import Location
from claw_acp.core.messages import TextPart
from claw_acp.tools.display import amount, byte_size, fenced, printable, shown_path
from claw_acp.tools.files.unreadable import require_directory
from claw_acp.tools.parameters import Parameters, TypedTool, argument
from claw_acp.tools.search.disk_work import on_disk
from claw_acp.tools.search.ignore_rules import IgnoreRules
from claw_acp.tools.search.walk import Contents, Entry, Pulse, WalkStopped, contents

MAX_ENTRIES = 1_000


class ListParameters(Parameters):
    """A directory, and the depth."""

    path: str = argument(
        default=".", min_length=1, description="Directory, absolute or relative to the session's; by default that one."
    )
    depth: int = argument(default=2, ge=1, le=20, description="Levels to show: 1 is the directory alone.")


class ListFiles(TypedTool[ListParameters]):
    """Shows the entries of a directory."""

    name = "list_files"
    draft = CallDraft(kind="search", verb="List", subject="path", is_path=True)
    description = (
        "List a directory as a tree, directories first, files with their size. What .gitignore leaves out and .git are "
        "not shown, unless you name such a directory itself. Symbolic links are shown, not followed. At most 1,000 "
        "entries, upper levels first."
    )
    parameters = ListParameters
    essential = True
    parallel = True

    def bind(self, parameters: ListParameters, context: ToolContext) -> Invocation:
        """The invocation of one listing."""
        return _Listing(parameters.depth, path=context.workspace.locate(parameters.path), context=context)


@dataclass(slots=True)
class _Tree:
    """The entries found, by directory. `left` counts entries beyond the limit, `hidden` ignored ones."""

    inside: dict[str, Contents] = field(default_factory=dict[str, Contents])
    count: int = 0
    left: int = 0
    hidden: int = 0
    stopped: bool = False


class _Listing(Invocation):
    def __init__(self, depth: int, *, path: Path, context: ToolContext) -> None:
        self._depth = depth
        self._path = path
        self._context = context
        self._shown = shown_path(path, workspace=context.workspace)
        name = "the session's directory" if self._shown == "." else self._shown
        self.view = CallView(title=f"List {name}", kind="search", locations=(Location(path=str(path)),))
        self.accesses = (ReadsPath(path=path),)

    async def run(self) -> ToolResult:
        await require_directory(self._path, workspace=self._context.workspace)
        text, notes = await on_disk(self._listed, clock=self._context.clock)
        whole = "\n\n".join((text, *notes))
        return ToolResult(parts=(TextPart(text=whole),), content=(fenced(whole),))

    def _listed(self, pulse: Pulse) -> tuple[str, list[str]]:
        tree = self._gather(pulse)
        top = tree.inside.get(str(self._path))
        if top is not None and not top.readable:
            raise ToolError(f"{self._shown} cannot be listed: its permissions do not allow it.")
        rows = [f"{self._shown.rstrip('/')}/", *_rows(tree, str(self._path), indent="  ")]
        return "\n".join(rows), self._notes(tree)

    def _gather(self, pulse: Pulse) -> _Tree:
        """Collect entries level by level, so that a huge directory deep down cannot crowd out its neighbours."""
        tree = _Tree()
        rules = IgnoreRules.at(self._path, roots=self._context.workspace.roots)
        pending = deque([(str(self._path), rules, 1)])
        try:
            while pending:
                pulse()
                directory, rules, level = pending.popleft()
                found = contents(directory, rules=rules)
                tree.hidden += found.hidden
                room = MAX_ENTRIES - tree.count
                ordered = sorted(found.entries, key=lambda e: (e.kind != "directory", e.name.casefold(), e.name))
                kept = Contents(tuple(ordered[:room]), found.rules, found.hidden, found.readable)
                tree.inside[directory] = kept
                tree.count += len(kept.entries)
                tree.left += len(ordered) - len(kept.entries)
                if level < self._depth and not tree.left:
                    below = (entry.path for entry in kept.entries if entry.kind == "directory")
                    pending.extend((path, rules.entering(path), level + 1) for path in below)
        except WalkStopped:
            tree.stopped = True
        return tree

    def _notes(self, tree: _Tree) -> list[str]:
        notes: list[str] = []
        if not tree.count:
            notes.append("[The directory is empty.]" if not tree.hidden else "[Everything in it is ignored.]")
        if tree.left or tree.stopped:
            shown = amount(tree.count, "entry")
            notes.append(f"[Only {shown} shown, the rest was left out; list a directory below, or use glob.]")
        if tree.hidden:
            notes.append(f"[{amount(tree.hidden, 'entry')} hidden by .gitignore.]")
        return notes


def _rows(tree: _Tree, directory: str, *, indent: str) -> Iterator[str]:
    for entry in tree.inside[directory].entries:
        yield indent + _row(entry, closed=entry.path not in tree.inside)
        if entry.path in tree.inside:
            yield from _rows(tree, entry.path, indent=f"{indent}  ")
            if not tree.inside[entry.path].readable:
                yield f"{indent}  (permission denied)"


def _row(entry: Entry, *, closed: bool) -> str:
    name = printable(entry.name)
    try:
        match entry.kind:
            case "directory":
                return f"{name}/ ..." if closed else f"{name}/"
            case "link":
                return f"{name} -> {printable(os.readlink(entry.path))}"  # noqa: PTH115 - a string walk
            case "file":
                return f"{name}  {byte_size(os.lstat(entry.path).st_size)}"
            case "other":
                return f"{name}  (device, pipe or socket)"
    except OSError:  # gone between the walk and now
        return f"{name}  (gone)"
