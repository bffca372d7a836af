"""Reading a file: numbered lines of a text, or an image."""

from base64 import b64encode
from pathlib import Path

from claw_acp.contracts.tool import CallDraft, CallView, Invocation, ReadsPath, ToolContext, ToolResult
from claw_acp.core.errors import ToolError
from claw_acp.core.events import Location, PartContent
from claw_acp.core.messages import ImagePart, TextPart
from claw_acp.core.picture import media_type
from claw_acp.core.value import replace
from claw_acp.tools.display import amount, byte_size, fenced, shown_path
from claw_acp.tools.files.line_window import LineWindow, window
from claw_acp.tools.files.pdf_text import PDF_LIMIT, is_pdf, pdf_text
from claw_acp.tools.files.seen_files import Stamps
from claw_acp.tools.files.unreadable import better_error
from claw_acp.tools.parameters import Parameters, TypedTool, argument
from claw_acp.workspace.entered_folders import EnteredFolders

PICTURE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
PICTURE_LIMIT = 5_000_000  # bytes


class ReadParameters(Parameters):
    """A file, and the first line."""

    path: str = argument(min_length=1, description="File to read, absolute or relative to the session's directory.")
    line: int = argument(default=1, ge=1, description="First line to read, counted from 1.")
    limit: int | None = argument(default=None, ge=1, description="How many lines to read; at most 2,000 come at once.")


class ReadFile(TypedTool[ReadParameters]):
    """Shows a file to the model with the person's unsaved changes."""

    name = "read_file"
    draft = CallDraft(kind="read", verb="Read", subject="path", is_path=True)
    description = (
        "Read a text file, unsaved editor changes included, a PDF's text, or a PNG, JPEG, GIF or WebP image to 5 MB. "
        "Each line comes as `   12→text`: the number and the arrow are not part of the file. "
        "At most 2,000 lines or 100 KB at once; a note says how to get the rest. Read a file before you change it."
    )
    parameters = ReadParameters
    essential = True
    parallel = True

    def bind(self, parameters: ReadParameters, context: ToolContext) -> Invocation:
        """The invocation of one read."""
        return _Reading(parameters, path=context.workspace.locate(parameters.path), context=context)


class _Reading(Invocation):
    def __init__(self, parameters: ReadParameters, *, path: Path, context: ToolContext) -> None:
        self._parameters = parameters
        self._path = path
        self._context = context
        self._shown = shown_path(path, workspace=context.workspace)
        line = parameters.line if "line" in parameters.given else None
        self.view = CallView(
            title=f"Read {self._shown}{_span(parameters)}",
            kind="read",
            locations=(Location(path=str(path), line=line),),
        )
        self.accesses = (ReadsPath(path=path),)

    async def run(self) -> ToolResult:
        workspace = self._context.workspace
        try:
            if self._path.suffix.lower() in PICTURE_SUFFIXES:
                data = await workspace.read_bytes(self._path, limit=PICTURE_LIMIT)
                if (kind := media_type(data)) is not None:
                    return self._image(data, kind)
            elif self._path.suffix.lower() == ".pdf":
                data = await workspace.read_bytes(self._path, limit=PDF_LIMIT)
                if is_pdf(data):
                    return self._lines(await pdf_text(data, shown=self._shown))
            text = await workspace.read_text(self._path)
        except ToolError as error:
            raise await better_error(error, path=self._path, workspace=workspace) from error
        Stamps.on(self._context.state).saw(self._path, text)
        result = self._lines(text)
        told = await EnteredFolders.on(self._context.state).instructions(
            self._path, roots=workspace.roots, may_read=self._context.may_read
        )
        return replace(result, parts=(*result.parts, TextPart(text=told))) if told else result

    def _image(self, data: bytes, kind: str) -> ToolResult:
        image = ImagePart(data=b64encode(data).decode("ascii"), mime_type=kind, uri=self._path.as_uri())
        caption = TextPart(text=f"{self._shown}: {kind}, {byte_size(len(data))}")
        return ToolResult(parts=(caption, image), content=(PartContent(part=image),))

    def _lines(self, text: str) -> ToolResult:
        part = window(text.removeprefix("\ufeff"), first=self._parameters.line, limit=self._parameters.limit)
        if not part.total:
            note = f"{self._shown} is empty (0 lines)."
            return ToolResult(parts=(TextPart(text=note),))
        if part.first > part.total:
            raise ToolError(f"{self._shown} has only {amount(part.total, 'line')}; there is no line {part.first}.")
        notes = _notes(text, part)
        return ToolResult(
            parts=(TextPart(text="\n\n".join((part.text, *notes))),),
            content=(fenced(part.text), *(PartContent(part=TextPart(text=note)) for note in notes)),
            raw={"path": str(self._path), "firstLine": part.first, "lastLine": part.last, "totalLines": part.total},
        )


def _span(parameters: ReadParameters) -> str:
    if parameters.limit is not None:
        last = parameters.line + parameters.limit - 1
        return f" (line {last})" if parameters.limit == 1 else f" (lines {parameters.line}-{last})"
    return f" (from line {parameters.line})" if parameters.line > 1 else ""


def _notes(text: str, part: LineWindow) -> list[str]:
    notes: list[str] = []
    if "\r\n" in text:
        notes.append("[The lines end in CRLF; write them with plain line feeds, they are kept as CRLF.]")
    if part.remaining > 0:
        more = f"{amount(part.remaining, 'more line')} of {part.total:,}"
        notes.append(f"[{more}; call again with line={part.last + 1} to go on.]")
    return notes
