"""Renaming a name wherever it is used."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from anyio import to_thread

from claw_acp.contracts.tool import Invocation, ReadsPath, ToolContext, ToolResult
from claw_acp.core.errors import FileConflict, ToolError
from claw_acp.core.events import DiffContent, ToolContent
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart
from claw_acp.core.value import Value
from claw_acp.tools.code.candidates import files_with
from claw_acp.tools.code.edits import edited, edits_in
from claw_acp.tools.code.places import is_own
from claw_acp.tools.code.positions import lines_of, position_of
from claw_acp.tools.code.question import NameParameters, NameQuestion
from claw_acp.tools.display import amount, shown_path
from claw_acp.tools.files.seen_files import Stamps
from claw_acp.tools.files.unsaved import require_saved, writing
from claw_acp.tools.parameters import TypedTool, argument

MOST_FILES: Final = 100
MOST_LEFT: Final = 20
_ROUNDS: Final = 4  # times the server is asked, with the present text of each file that it named before


class Renamed(Value):
    """A file before and after."""

    path: Path
    old: str
    new: str


class RenameParameters(NameParameters):
    """A name and its new one."""

    new_name: str = argument(min_length=1, max_length=500, description="The name that it gets.")


class RenameSymbol(TypedTool[RenameParameters]):
    """Renames a name in all files that use it."""

    name = "rename_symbol"
    description = (
        "Rename a function, class, variable or other name in source code and all its uses across the project, by the "
        "language server of this machine. All files are changed or none."
    )
    parameters = RenameParameters
    on_demand = True

    def bind(self, parameters: RenameParameters, context: ToolContext) -> Invocation:
        """The invocation of one change."""
        return _Renaming(parameters, context=context)


class _Renaming(NameQuestion):
    verb = "Rename"
    kind = "edit"

    def __init__(self, parameters: RenameParameters, *, context: ToolContext) -> None:
        super().__init__(parameters, context=context)
        self._new_name = parameters.new_name
        self._planned: Sequence[Renamed] = ()
        self._left: Sequence[str] = ()  # where the name stands all the same

    async def explore(self) -> None:
        """Find out which files it changes; with a server that needs permission this waits for the permission."""
        if self.server.runs_code or not self.context.may_read(self.path):
            return
        self._planned = await self._changes()
        touched = [
            access
            for file in self._planned
            for access in (
                ReadsPath(path=file.path),
                writing(file.path, shown=self._shown(file.path), context=self.context),
            )
        ]
        self.accesses = (*self.accesses, *touched)

    async def preview(self) -> tuple[ToolContent, ...]:
        """The change of each file, or the reason why starting the server is asked about."""
        return (*await super().preview(), *self._diffs())

    async def run(self) -> ToolResult:
        """Write all files, if each still has the text that the change was made for."""
        if self.server.runs_code:
            return await self._only_started()
        for file in self._planned:
            now = await self.context.workspace.read_text(file.path)
            await require_saved(file.path, now, shown=self._shown(file.path), context=self.context)
            if now != file.old:
                raise FileConflict(
                    f"{self._shown(file.path)} changed since the change was made. Nothing was written. "
                    "Call rename_symbol again."
                )
        written: list[str] = []
        for file in self._planned:
            try:
                await self._write(file)
            except ToolError as error:
                done = f"These were changed before: {', '.join(written)}." if written else "No file was changed."
                raise ToolError(f"{self._shown(file.path)} could not be written: {error.message} {done}") from error
            written.append(self._shown(file.path))
        text = f"Renamed `{self.name}` to `{self._new_name}` in {amount(len(written), 'file')}: {', '.join(written)}."
        if self._left:
            text += f"\nIt still stands in {', '.join(self._left)}: see whether that is something else of this name."
        return ToolResult(
            parts=(TextPart(text=text),),
            content=self._diffs(),
            raw={"paths": [str(each.path) for each in self._planned]},
        )

    async def _write(self, file: Renamed) -> None:
        workspace = self.context.workspace
        known = not Stamps.on(self.context.state).differs(file.path, file.old)
        await workspace.write_text(file.path, file.new)
        if known:  # of others the model has not seen the rest
            Stamps.on(self.context.state).saw(file.path, await workspace.read_text(file.path))

    async def _only_started(self) -> ToolResult:
        files = ", ".join(self._shown(file.path) for file in await self._changes())
        text = f"{self.server.name} runs now. This would change {files}; call rename_symbol again to do it."
        return ToolResult(parts=(TextPart(text=text),), failed=True)

    async def _changes(self) -> Sequence[Renamed]:
        """The files with their present texts, which the server has seen, and their new ones."""
        workspace = self.context.workspace
        others = await files_with(self.name, server=self.server, context=self.context)
        if not others.complete:
            raise ToolError(
                f"`{self.name}` stands in more files than can be looked at together, so uses might be missed. "
                "Nothing was changed; use find_references, grep and edit_file."
            )
        texts: dict[Path, str] = {self.path: await self.text(), **others.texts}
        position = position_of(self.name, line=self.line, text=texts[self.path], shown=self.shown)
        asked: JsonObject = {"position": position, "newName": self._new_name}
        for _ in range(_ROUNDS):
            found = edits_in(await self.asked("textDocument/rename", asked, texts=texts))
            self._check(found)
            new = [path for path in found if path not in texts]
            if not new:
                files = await to_thread.run_sync(_renamed, found, texts)
                after = texts | {file.path: file.new for file in files}
                places = await to_thread.run_sync(_places_of, self.name, after)
                self._left = [f"{self._shown(path)}:{line}" for path, line in places]
                return files
            texts |= {path: await workspace.read_text(path) for path in new}
        raise ToolError(f"{self.server.name} names other files each time it is asked; nothing was changed.")

    def _check(self, found: Mapping[Path, Sequence[JsonObject]]) -> None:
        if not found:
            raise ToolError(f"{self.server.name} cannot rename `{self.name}`.")
        if len(found) > MOST_FILES:
            raise ToolError(f"This would change {len(found)} files, more than {MOST_FILES}; nothing was changed.")
        for path in found:
            is_link = self.context.workspace.locate(str(path)) != path
            if is_link or not is_own(path, context=self.context):
                raise ToolError(f"This would change {path}, which is not the project's own; nothing was changed.")

    def _diffs(self) -> tuple[ToolContent, ...]:
        return tuple(DiffContent(path=str(file.path), old_text=file.old, new_text=file.new) for file in self._planned)

    def _shown(self, path: Path) -> str:
        return shown_path(path, workspace=self.context.workspace)


def _renamed(found: Mapping[Path, Sequence[JsonObject]], texts: Mapping[Path, str]) -> Sequence[Renamed]:
    files = [Renamed(path=path, old=texts[path], new=edited(texts[path], edits)) for path, edits in found.items()]
    return sorted((file for file in files if file.old != file.new), key=lambda file: file.path)


def _places_of(name: str, texts: Mapping[Path, str]) -> Sequence[tuple[Path, int]]:
    """The lines in which a name stands as a word, at most `MOST_LEFT`."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    found = (
        (path, number)
        for path, text in sorted(texts.items())
        for number, line in enumerate(lines_of(text), start=1)
        if word.search(line)
    )
    return list(islice(found, MOST_LEFT))
