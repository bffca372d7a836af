"""Finding files by name."""

import os
from heapq import nlargest
from itertools import islice
from pathlib import Path

from claw_acp.contracts.tool import CallDraft, CallView, Invocation, ReadsPath, ToolContext, ToolResult
from claw_acp.core.events import Location
from claw_acp.core.messages import TextPart
from claw_acp.tools.display import amount, fenced, shown_path, within
from claw_acp.tools.files.unreadable import require_directory
from claw_acp.tools.parameters import Parameters, TypedTool, argument
from claw_acp.tools.search.disk_work import WALK_LIMIT, on_disk
from claw_acp.tools.search.glob_pattern import MAX_LENGTH, matcher, split_literal
from claw_acp.tools.search.ignore_rules import IgnoreRules
from claw_acp.tools.search.walk import Entry, Pulse, WalkStopped, walk

MAX_PATHS = 1_000
MAX_MATCHES = 100_000  # found files that are compared by age


class GlobParameters(Parameters):
    """A pattern, and where to search."""

    pattern: str = argument(
        min_length=1,
        max_length=MAX_LENGTH,
        description="Such as `**/*.py`, `src/*.{ts,tsx}`, `**/test_*`. `*` stays inside a name, `**` crosses "
        "directories, so `*.py` finds files directly in the directory only.",
    )
    path: str = argument(
        default=".", min_length=1, description="Directory to search, absolute or relative; by default the session's."
    )


class Glob(TypedTool[GlobParameters]):
    """Finds files whose path matches a pattern."""

    name = "glob"
    draft = CallDraft(kind="search", verb="Find", subject="pattern")
    description = (
        "Find files by a path pattern, the last changed first. Files that .gitignore leaves out, and .git, are "
        "skipped. Symbolic links to directories are not followed. At most 1,000 paths."
    )
    parameters = GlobParameters
    essential = True
    parallel = True

    def bind(self, parameters: GlobParameters, context: ToolContext) -> Invocation:
        """The invocation of one search; the plain directories at the beginning of a pattern become its start."""
        literal, rest = split_literal(parameters.pattern)
        rest = rest or "*"
        base = f"{parameters.path}/{literal}" if literal and not literal.startswith("/") else literal or parameters.path
        return _Globbing(parameters.pattern, rest=rest, path=context.workspace.locate(base), context=context)


class _Globbing(Invocation):
    def __init__(self, pattern: str, *, rest: str, path: Path, context: ToolContext) -> None:
        self._pattern = pattern
        self._rest = rest
        self._matches = matcher(rest)
        self._path = path
        self._context = context
        self._shown = shown_path(path, workspace=context.workspace)
        self.view = CallView(
            title=f"Find {rest}{within(self._shown)}", kind="search", locations=(Location(path=str(path)),)
        )
        self.accesses = (ReadsPath(path=path),)

    async def run(self) -> ToolResult:
        await require_directory(self._path, workspace=self._context.workspace)
        paths, total, stopped = await on_disk(self._found, clock=self._context.clock)
        text = "\n".join(shown_path(Path(path), workspace=self._context.workspace) for path in paths)
        if not paths:
            text = f"No file in {self._shown} matches {self._rest}.{self._hint()}"
        if total > len(paths):
            text += f"\n\n[{len(paths):,} of {amount(total, 'match')} shown; use a narrower pattern.]"
        if stopped:
            text += f"\n\n[The search was stopped after {WALK_LIMIT:.0f} s; use a narrower path.]"
        return ToolResult(parts=(TextPart(text=text),), content=(fenced(text),))

    def _hint(self) -> str:
        if "**" in self._rest:
            return ""
        return f" `**/{self._rest}` looks in all directories below."

    def _found(self, pulse: Pulse) -> tuple[list[str], int, bool]:
        """The newest paths, how many there are in all, and whether the walk was stopped."""
        found: list[tuple[float, str]] = []
        skip = len(str(self._path).rstrip("/")) + 1
        rules = IgnoreRules.at(self._path, roots=self._context.workspace.roots)
        entries = walk(str(self._path), rules=rules, pulse=pulse)
        fitting = (entry.path for entry in entries if self._fits(entry, entry.path[skip:]))
        stopped = False
        try:
            for path in islice(fitting, MAX_MATCHES):
                found.append((_changed(path), path))  # noqa: PERF401 - what was found before a stop is kept
        except WalkStopped:
            stopped = True
        found.sort(key=lambda item: item[1])  # nlargest is stable: equal ages stay in the order of their paths
        return [path for _, path in nlargest(MAX_PATHS, found, key=lambda item: item[0])], len(found), stopped

    def _fits(self, entry: Entry, relative: str) -> bool:
        named = entry.kind in {"file", "link"} and self._matches(relative)
        return named and self._context.may_read(Path(entry.path))


def _changed(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:  # gone meanwhile: the oldest of all
        return 0.0
