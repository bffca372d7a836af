"""Archives: listing, unpacking and making them."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

import anyio
from anyio import to_thread

from claw_acp.contracts.tool import CallDraft, CallView, Invocation, ReadsPath, ToolContext, ToolResult, WritesPath
from claw_acp.core.errors import ToolError
from claw_acp.core.events import Location, PartContent, ToolContent
from claw_acp.core.messages import TextPart
from claw_acp.registry.reference import Ref
from claw_acp.tools.data.archive_contents import ARCHIVE_LIMIT, ArchivedFile, listed, unpacked
from claw_acp.tools.display import amount, byte_size, fenced, printable, shown_path
from claw_acp.tools.files.unreadable import better_error, exists
from claw_acp.tools.parameters import Parameters, TypedTool, argument

MAX_LISTED: Final = 500
MAX_FILES: Final = 2_000
"""Files that are unpacked, or packed, at once: each is kept for undo."""
_SUFFIXES: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
_PACKED: Final[Ref[Callable[..., bytes]]] = Ref("claw_acp.tools.data.archive_packing:packed")
"""By name: the modules for all kinds of archives take 9 ms to load."""
_NOT_PACKED: Final = frozenset({".git"})


class ArchiveParameters(Parameters):
    """An action and its archive."""

    action: Literal["list", "extract", "create"] = argument(description="What to do.")
    path: str = argument(min_length=1, description="The archive: .zip, .tar, .tar.gz, .tgz, .tar.xz or .tar.bz2.")
    target: str | None = argument(
        default=None, min_length=1, description="For extract: a directory that is new or empty; it is made."
    )
    paths: list[str] = argument(
        default_factory=list, max_length=200, description="For create: files and directories to put in."
    )

    def conflict(self) -> str:
        """See `Parameters`."""
        if self.action == "extract" and not self.target:
            return "`target` is needed to extract"
        return "`paths` are needed to create an archive" if self.action == "create" and not self.paths else ""


class Archive(TypedTool[ArchiveParameters]):
    """Lists, unpacks and makes archives."""

    name = "archive"
    description = (
        "List a zip or tar archive, extract it into a new directory, or create one. Links and devices in it, and names "
        "that lead out of the directory, are left out; up to 2,000 files and 100 MB are unpacked. Unpacked programs "
        "are not executable."
    )
    draft = CallDraft(kind="other", verb="Archive", subject="path", is_path=True)
    parameters = ArchiveParameters
    on_demand = True

    def bind(self, parameters: ArchiveParameters, context: ToolContext) -> Invocation:
        """The invocation of one action."""
        path = context.workspace.locate(parameters.path)
        if parameters.action == "list":
            return _Listing(path, context)
        if parameters.action == "extract":
            return _Extracting(path, context.workspace.locate(parameters.target or ""), context)
        return _Creating(path, [context.workspace.locate(each) for each in parameters.paths], context)


class _Listing(Invocation):
    def __init__(self, path: Path, context: ToolContext) -> None:
        self._path = path
        self._context = context
        self._shown = shown_path(path, workspace=context.workspace)
        self.accesses = (ReadsPath(path=path),)
        self.view = CallView(title=f"List {self._shown}", kind="read", locations=(Location(path=str(path)),))

    async def run(self) -> ToolResult:
        files = await listed(await self.data(), shown=self._shown)
        text = f"{self._shown} holds {amount(len(files), 'file')}:\n{_rows(files)}"
        return ToolResult(parts=(TextPart(text=text),), content=(fenced(text),))

    async def data(self) -> bytes:
        """The archive's bytes."""
        workspace = self._context.workspace
        try:
            return await workspace.read_bytes(self._path, limit=ARCHIVE_LIMIT)
        except ToolError as error:
            raise await better_error(error, path=self._path, workspace=workspace) from error


class _Extracting(_Listing):
    def __init__(self, path: Path, target: Path, context: ToolContext) -> None:
        super().__init__(path, context)
        self._target = target
        self._into = shown_path(target, workspace=context.workspace)
        caution = f"it unpacks all files of {self._shown} into {self._into}"  # their names are known only then
        self.accesses = (ReadsPath(path=path), WritesPath(path=target, caution=caution))
        self.view = CallView(
            title=f"Extract {self._shown} into {self._into}", kind="edit", locations=(Location(path=str(target)),)
        )

    async def preview(self) -> tuple[ToolContent, ...]:
        """The files that will be there."""
        await to_thread.run_sync(_require_new, self._target, self._into)
        return (fenced(_rows(await listed(await self.data(), shown=self._shown, into=self._target.name))),)

    async def run(self) -> ToolResult:
        """Write the files one by one; one that cannot be written ends it, and what was written stays."""
        found = await unpacked(await self.data(), shown=self._shown, into=self._target.name)
        files = [(file, content) for file, content in found if not file.refused]
        if len(files) > MAX_FILES:
            raise ToolError(f"{self._shown} has {len(files):,} files; at most {MAX_FILES:,} are unpacked at once.")
        await to_thread.run_sync(_require_new, self._target, self._into)
        for file, content in files:
            await self._context.workspace.write_bytes(self._target / file.name, content)
        text = f"Unpacked {amount(len(files), 'file')} into {self._into} ({byte_size(sum(len(c) for _, c in files))})."
        left = [file for file, _ in found if file.refused]
        if left:
            text += f"\nLeft out:\n{_rows(left)}"
        return ToolResult(parts=(TextPart(text=text),), raw={"files": len(files), "leftOut": len(left)})


class _Creating(Invocation):
    def __init__(self, path: Path, sources: Sequence[Path], context: ToolContext) -> None:
        self._path = path
        self._sources = sources
        self._context = context
        self._shown = shown_path(path, workspace=context.workspace)
        self._base = context.workspace.roots[0]
        self._suffix = next((each for each in _SUFFIXES if path.name.lower().endswith(each)), "")
        if not self._suffix:
            raise ToolError(f"The name of {self._shown} must end in {', '.join(_SUFFIXES)}.")
        self.accesses = (*(ReadsPath(path=source) for source in sources), WritesPath(path=path))
        self.view = CallView(title=f"Create {self._shown}", kind="edit", locations=(Location(path=str(path)),))

    async def preview(self) -> tuple[ToolContent, ...]:
        """The files and directories that go in."""
        shown = "\n".join(shown_path(source, workspace=self._context.workspace) for source in self._sources)
        return (PartContent(part=TextPart(text=shown)),)

    async def run(self) -> ToolResult:
        """Read the files, and write the archive as a whole."""
        if await exists(self._path):
            raise ToolError(f"{self._shown} exists already; choose another name, or delete it first.")
        paths = await to_thread.run_sync(self._files)
        if not paths or len(paths) > MAX_FILES:
            raise ToolError(f"There are {amount(len(paths), 'file')} to put in; from 1 to {MAX_FILES:,} are possible.")
        contents: list[tuple[str, int, bytes]] = []
        room = ARCHIVE_LIMIT
        for path, name in paths:
            content = await self._context.workspace.read_bytes(path, limit=room)
            room -= len(content)
            mode = (await anyio.Path(path).stat()).st_mode & 0o777
            contents.append((name, mode, content))
        data = await to_thread.run_sync(lambda: _PACKED.load()(contents, suffix=self._suffix))
        await self._context.workspace.write_bytes(self._path, data)
        text = f"Created {self._shown} with {amount(len(contents), 'file')} ({byte_size(len(data))})."
        return ToolResult(parts=(TextPart(text=text),), raw={"files": len(contents), "bytes": len(data)})

    def _files(self) -> list[tuple[Path, str]]:
        """The files to put in, with their names there: from the session's directory, or from above a source."""
        return [
            (path, str(path.relative_to(self._base if path.is_relative_to(self._base) else source.parent)))
            for source in self._sources
            for path in _below(source, may_read=self._context.may_read)
        ]


def _rows(files: Sequence[ArchivedFile]) -> str:
    rows = [
        f"{printable(file.name)} ({f'left out: {file.refused}' if file.refused else byte_size(file.size)})"
        for file in files[:MAX_LISTED]
    ]
    more = len(files) - MAX_LISTED
    return "\n".join([*rows, f"... and {amount(more, 'more file')}"] if more > 0 else rows)


def _require_new(target: Path, shown: str) -> None:
    if os.path.lexists(target) and not (target.is_dir() and not any(target.iterdir())):
        raise ToolError(f"{shown} exists and is not an empty directory. Extract into a new one.")


def _below(source: Path, *, may_read: Callable[[Path], bool]) -> Iterator[Path]:
    """The plain files at or below a path, without links, repositories, and what may not be read."""
    if source.is_file():
        yield source
        return
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(set(folders) - _NOT_PACKED)
        paths = (Path(folder, name) for name in sorted(names))
        yield from (path for path in paths if path.is_file() and not path.is_symlink() and may_read(path))
