"""The listing of a project's files at one moment, as it is kept until a command has ended."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from claw_acp.core.events import PathChange, PathState
from claw_acp.core.value import replace
from claw_acp.workspace.path_states import OTHER, state_by_status
from claw_acp.workspace.tree_scan import TreeScan

GIT: Final = ".git"
_GONE: Final = "x"


def is_history(change: PathChange) -> bool:
    """Return whether a change is that of a repository's history, of which there is no copy."""
    return change.before.kind == "other" and change.path.endswith(f"/{GIT}")


class Survey:
    """The files of a project at one moment.

    Attributes:
        scan: All paths.
        blobs: The files that git has: its directory, and the name of the content there.
        kept: The states of those in the content store.
        heads: A mark of each repository that changes with its commits, branch and stash.
    """

    def __init__(
        self,
        *,
        scan: TreeScan,
        blobs: Mapping[str, tuple[str, str]],
        kept: Mapping[str, PathState],
        heads: Mapping[str, str],
    ) -> None:
        self.scan = scan
        self.blobs = blobs
        self.kept = kept
        self.heads = heads

    def state(self, path: str) -> PathState:
        """The state of a path then, as far as it is known."""
        status = self.scan.paths.get(path)
        if status is None:
            return PathState()
        known = self.kept.get(path)
        if known is not None:
            return known
        state = state_by_status(status[0], status[1])
        return OTHER if state.kind == "directory" and path not in self.scan.listed else state

    def changed_since(self, other: "Survey") -> set[str]:
        """The paths of which this survey knows something else than another one."""
        mine, theirs = self.scan, other.scan
        changed = {path for path, status in mine.paths.items() if theirs.paths.get(path) != status}
        changed |= {path for path, blob in self.blobs.items() if other.blobs.get(path) != blob}
        changed |= {path for path, state in self.kept.items() if other.kept.get(path) != state}
        changed |= theirs.paths.keys() - mine.paths.keys()
        changed |= (other.blobs.keys() - self.blobs.keys()) | (other.kept.keys() - self.kept.keys())
        return changed | (mine.listed ^ theirs.listed)

    def packed(self, *, base: str = "", changed: Iterable[str] | None = None) -> bytes:
        """The survey as bytes; see `unpacked`. With `base`, the name of another one, only what has `changed` since."""
        stores = sorted({git for git, _ in self.blobs.values()})
        numbers = {git: number for number, git in enumerate(stores)}
        facts = {
            "base": base,
            "git": stores,
            "roots": [path for path in self.scan.listed if path not in self.scan.paths],
            "complete": self.scan.complete,
            "heads": self.heads,
        }
        rows = [json.dumps(facts)]
        for path in self.scan.paths if changed is None else changed:
            status = self.scan.paths.get(path)
            if status is None:
                rows.append(f"0 0 0 0 0 {_GONE} {path}")
                continue
            source = "-"
            if path in self.blobs:
                git, blob = self.blobs[path]
                source = f"{numbers[git]}:{blob}"
            elif path in self.kept:
                source = self.kept[path].digest or "-"
            elif path in self.scan.listed:
                source = "+"
            mode, size, changed_at, touched, inode = status
            rows.append(f"{mode} {size} {changed_at} {touched} {inode} {source} {path}")
        return "\0".join(rows).encode("utf-8", "surrogateescape")

    @classmethod
    def unpacked(cls, name: str, *, get: Callable[[str], bytes]) -> "Survey":
        """A survey that was kept under a name; `get` returns what is kept.

        Raises:
            ToolError, KeyError, ValueError: It is not kept any more, or damaged.
        """
        head, *rows = get(name).decode("utf-8", "surrogateescape").split("\0")
        facts = json.loads(head)
        base = facts.get("base")
        survey = cls.unpacked(base, get=get) if base else cls(scan=TreeScan(()), blobs={}, kept={}, heads={})
        scan, blobs, kept = survey.scan, dict(survey.blobs), dict(survey.kept)
        scan.complete, scan.listed = facts["complete"], (scan.listed & scan.paths.keys()) | set(facts["roots"])
        for row in rows:
            *numbers, source, path = row.split(" ", 6)
            for facts_of in (scan.paths, blobs, kept):
                facts_of.pop(path, None)
            if source == _GONE:
                scan.listed.discard(path)
                continue
            mode, size, changed, touched, inode = map(int, numbers)
            status = scan.paths[path] = mode, size, changed, touched, inode
            (scan.listed.add if source == "+" else scan.listed.discard)(path)
            if ":" in source:
                number, _, blob = source.partition(":")
                blobs[path] = facts["git"][int(number)], blob
            elif source not in {"-", "+"}:
                kept[path] = replace(state_by_status(status[0], status[1]), digest=source, kept=True)
        return cls(scan=scan, blobs=blobs, kept=kept, heads=facts.get("heads", {}))
