"""The edits of several files that a language server proposes, as new texts."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from claw_acp.core.errors import ToolError
from claw_acp.core.file_uri import path_of
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.tools.code.positions import offset_of, starts_of


def edits_in(answer: JsonValue) -> Mapping[Path, Sequence[JsonObject]]:
    """The edits of a `WorkspaceEdit`, by file.

    Raises:
        ToolError: It also creates, moves or deletes files.
    """
    if not isinstance(answer, Mapping):
        return {}
    found: dict[Path, list[JsonObject]] = {}
    for uri, edits in _listed(answer):
        found.setdefault(Path(path_of(uri)), []).extend(edits)
    return {path: edits for path, edits in found.items() if edits}


def edited(text: str, edits: Sequence[JsonObject]) -> str:
    """The text with edits, all of which are about the text as it is.

    Raises:
        ToolError: They do not fit the text, or overlap.
    """
    starts = starts_of(text)
    spans = sorted(((*_span(edit, starts, text), _new_text(edit)) for edit in edits), key=lambda span: span[:2])
    pieces: list[str] = []
    done = 0
    for start, end, new in spans:
        if start < done or end < start:
            raise ToolError("The edits of the language server overlap; nothing was written.")
        pieces += [text[done:start], new]
        done = end
    return "".join([*pieces, text[done:]])


def _listed(answer: JsonObject) -> Iterator[tuple[str, Sequence[JsonObject]]]:
    changes = answer.get("documentChanges")
    if isinstance(changes, Sequence) and not isinstance(changes, str):
        for change in changes:
            document = change.get("textDocument") if isinstance(change, Mapping) else None
            uri = document.get("uri") if isinstance(document, Mapping) else None
            if not isinstance(change, Mapping) or not isinstance(uri, str):
                raise ToolError("The language server would also create, move or delete files; nothing was written.")
            yield uri, _objects(change.get("edits"))
        return
    changes = answer.get("changes")
    if isinstance(changes, Mapping):
        for uri, edits in changes.items():
            yield uri, _objects(edits)


def _objects(items: JsonValue) -> Sequence[JsonObject]:
    if not isinstance(items, Sequence) or isinstance(items, str):
        return ()
    return [item for item in items if isinstance(item, Mapping)]


def _span(edit: JsonObject, starts: Sequence[int], text: str) -> tuple[int, int]:
    span = edit.get("range")
    if not isinstance(span, Mapping):
        raise ToolError("The language server sent an edit without a place; nothing was written.")
    return offset_of(span.get("start"), starts, text), offset_of(span.get("end"), starts, text)


def _new_text(edit: JsonObject) -> str:
    new = edit.get("newText")
    if not isinstance(new, str):
        raise ToolError("The language server sent an edit without a text; nothing was written.")
    return new
