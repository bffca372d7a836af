"""Places in code that a language server names, shown with their lines as far as they may be read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.contracts.tool import ToolContext, ToolResult
from claw_acp.core.errors import ToolError
from claw_acp.core.events import Location
from claw_acp.core.file_uri import path_of
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import printable
from claw_acp.core.value import Value
from claw_acp.security.untrusted_text import PACKAGES
from claw_acp.tools.code.positions import lines_of, point
from claw_acp.tools.display import amount, fenced, shown_path

MOST_PLACES: Final = 200
LONGEST_LINE: Final = 200  # characters of a line that is shown


class Place(Value):
    """A place in a file; the line counts from 1."""

    path: Path
    line: int


def places_in(answer: JsonValue) -> list[Place]:
    """The places of a `Location`, of several, or of links to them; each once, in the server's order."""
    items = answer if isinstance(answer, Sequence) and not isinstance(answer, str) else [answer]
    return list(dict.fromkeys(place for item in items if (place := _place(item)) is not None))


def _place(item: JsonValue) -> Place | None:
    if not isinstance(item, Mapping):
        return None
    uri = item.get("uri", item.get("targetUri"))
    span = item.get("range", item.get("targetSelectionRange"))
    line, _ = point(span.get("start") if isinstance(span, Mapping) else None)
    if not isinstance(uri, str) or not uri.startswith("file:") or line < 0:
        return None
    return Place(path=Path(path_of(uri)), line=line + 1)


def is_own(path: Path, *, context: ToolContext) -> bool:
    """Return whether a file is the project's own: below a root, and none of its packages."""
    root = next((root for root in context.workspace.roots if path.is_relative_to(root)), None)
    return root is not None and not PACKAGES.intersection(path.relative_to(root).parts)


async def shown_places(places: Sequence[Place], *, context: ToolContext, nothing: str, note: str = "") -> ToolResult:
    """The places as a result: `path:line: text`. Of files that are not the project's own only the path is told."""
    shown = places[:MOST_PLACES]
    texts: dict[Path, list[str]] = {}
    lines: list[str] = []
    for place in shown:
        if place.path not in texts:
            texts[place.path] = await _lines(place.path, context=context)
        lines.append(_row(place, texts[place.path], context=context))
    if len(places) > len(shown):
        lines.append(f"and {amount(len(places) - len(shown), 'more place')}")
    text = "\n".join(lines) or nothing
    return ToolResult(
        parts=(TextPart(text="\n".join(filter(None, (text, note)))),),
        content=(fenced(text),),
        raw={"places": [{"path": str(place.path), "line": place.line} for place in shown]},
    )


def locations(places: Sequence[Place]) -> tuple[Location, ...]:
    """The places for the client."""
    return tuple(Location(path=str(place.path), line=place.line) for place in places[:MOST_PLACES])


async def _lines(path: Path, *, context: ToolContext) -> list[str]:
    if not is_own(path, context=context) or not context.may_read(path):
        return []
    try:
        if context.workspace.locate(str(path)) != path:
            return []  # a link, which may lead anywhere
        return lines_of(await context.workspace.read_text(path))
    except ToolError:
        return []


def _row(place: Place, lines: Sequence[str], *, context: ToolContext) -> str:
    where = f"{shown_path(place.path, workspace=context.workspace)}:{place.line}"
    text = lines[place.line - 1].strip() if place.line <= len(lines) else ""
    return f"{where}: {printable(text[:LONGEST_LINE])}" if text else where
