"""The source files that the running turn has changed, with their text before it and now."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread

from claw_acp.codeintel.problem import Problem
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.errors import ToolError
from claw_acp.core.events import PathState
from claw_acp.core.value import Value, replace
from claw_acp.session.session import Session
from claw_acp.store.contents import ContentStore

MOST_FILES: Final = 30
"""Files of a turn that are looked at; a command may change thousands."""

_NOT_SOURCE: Final = frozenset({
    ".git", ".hg", ".venv", "venv", "node_modules", "site-packages", "__pycache__", "target", "dist", "build",
})  # fmt: skip


class ChangedFile(Value):
    """A file that exists now.

    Attributes:
        path: Its path.
        root: The root that it is in.
        before: Its text before the turn; None: it is new.
        after: Its text now.
        origin: Its path before the turn, if it was moved.
    """

    path: Path
    root: Path
    before: str | None
    after: str
    origin: Path | None = None


class DeletedFile(Value):
    """A file that existed before the turn with this text."""

    path: Path
    root: Path
    before: str


class Changes(Value):
    """The changed files, and the deleted ones."""

    files: tuple[ChangedFile, ...] = ()
    deleted: tuple[DeletedFile, ...] = ()


async def changes_of_turn(
    session: Session, *, workspace: Workspace, store: ContentStore, suffixes: frozenset[str]
) -> Changes:
    """The changes of the running turn in files with one of these suffixes, at most `MOST_FILES`."""
    pending = session.history.pending_files
    if pending.turn != session.history.turns.latest:
        return Changes()
    files: list[ChangedFile] = []
    deleted: list[DeletedFile] = []
    for name, state in tuple(pending.before.items()):
        if MOST_FILES in {len(files), len(deleted)}:
            break
        path = Path(name)
        root = root_of(path, workspace.roots)
        if path.suffix not in suffixes or root is None or state.kind not in {"file", "absent"}:
            continue
        if not await anyio.Path(path).exists():
            before = await _text_before(state, store)
            deleted += [] if before is None else [DeletedFile(path=path, root=root, before=before)]
        elif file := await _changed(path, state, root=root, workspace=workspace, store=store):
            files.append(file)
    return Changes(files=tuple(_with_origin(file, deleted) for file in files), deleted=tuple(deleted))


def _with_origin(file: ChangedFile, deleted: Sequence[DeletedFile]) -> ChangedFile:
    """A new file with the deleted one that it was moved from, if there is one: its problems are not new."""
    if file.before is not None:
        return file
    like = (other for other in deleted if other.before == file.after or other.path.name == file.path.name)
    origin = next((other for other in like if other.path.suffix == file.path.suffix), None)
    return file if origin is None else replace(file, before=origin.before, origin=origin.path)


def moved(problems: Iterable[Problem], files: Iterable[ChangedFile]) -> list[Problem]:
    """Problems in files as they were, at the paths that these have now."""
    paths = {file.origin: file.path for file in files if file.origin is not None}
    return [replace(problem, path=paths.get(problem.path, problem.path)) for problem in problems]


def root_of(path: Path, roots: Sequence[Path]) -> Path | None:
    """The innermost root of a source file."""
    holding = [root for root in roots if path.is_relative_to(root)]
    if not holding:
        return None
    root = max(holding, key=lambda each: len(each.parts))
    return None if _NOT_SOURCE.intersection(path.relative_to(root).parts) else root


async def _changed(
    path: Path, state: PathState, *, root: Path, workspace: Workspace, store: ContentStore
) -> ChangedFile | None:
    """The file with its texts; None when they are the same, or not both known."""
    try:
        if workspace.locate(str(path)) != path:
            return None  # a link by now, which may lead anywhere
        after = await workspace.read_text(path)
    except ToolError:
        return None
    before = await _text_before(state, store)
    if before is None and state.kind != "absent":
        return None
    return None if before == after else ChangedFile(path=path, root=root, before=before, after=after)


async def _text_before(state: PathState, store: ContentStore) -> str | None:
    """The text of a kept state; None if there was no file, or no text."""
    if not (state.unsaved or state.kept):
        return None
    try:
        return (await to_thread.run_sync(store.get, state.unsaved or state.digest)).decode("utf-8-sig")
    except (ToolError, UnicodeDecodeError):
        return None
