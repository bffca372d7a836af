"""The changes that an attempt made, as changes to the project. Everything here blocks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from claw_acp.attempts.repositories import project_repositories
from claw_acp.attempts.worktrees import stamp_of
from claw_acp.core.errors import ToolError
from claw_acp.core.events import PathChange, PathState
from claw_acp.core.value import Value
from claw_acp.store.contents import ContentStore
from claw_acp.workspace.path_states import state_of


class LineCounts(Value):
    """The lines added and removed by changes of text files."""

    added: int = 0
    removed: int = 0


def changes_of(
    copy: Path, *, base: Path, project: Path, stamps: Mapping[str, tuple[int, ...]], store: ContentStore
) -> Sequence[PathChange]:
    """The changes in a copy since it was made; their contents are stored.

    Args:
        copy: The worktree.
        base: The files as they were.
        project: The folder that both are copies of.
        stamps: The status of the files in the copy when it was made.
        store: Stores contents.

    Raises:
        ToolError: The copy is no worktree any more, or a content cannot be stored.
    """
    if not (copy / ".git").is_file():
        raise ToolError("it removed the git data of its copy, so what it changed cannot be told")
    present = [path for repository in project_repositories(copy) for path in repository.paths()]
    changes: list[PathChange] = []
    for path in sorted({*stamps, *present}):
        if stamp_of(copy / path) == stamps.get(path):
            continue
        before, after = state_of(base / path, store=store), state_of(copy / path, store=store)
        if not before.same_as(after):
            changes.append(PathChange(path=str(project / path), before=before, after=after))
    return changes


def line_counts(changes: Sequence[PathChange], *, store: ContentStore) -> LineCounts:
    """The lines that changes add and remove; a line that was moved counts as neither."""
    added = removed = 0
    for change in changes:
        old, new = (Counter(_lines(state, store)) for state in (change.before, change.after or PathState()))
        added += (new - old).total()
        removed += (old - new).total()
    return LineCounts(added=added, removed=removed)


def _lines(state: PathState, store: ContentStore) -> Iterator[bytes]:
    if state.kind != "file" or not state.kept:
        return
    try:
        content = store.get(state.digest)
    except ToolError:
        return
    if b"\0" not in content:
        yield from content.splitlines()
