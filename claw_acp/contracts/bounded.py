"""Limits on content parts: no single result fills a conversation, a frame or the journal."""

from collections.abc import Iterable
from typing import Final

from claw_acp.core.messages import AudioPart, ContentPart, ImagePart, LinkPart, ResourcePart, TextPart
from claw_acp.core.value import replace

MOST_TEXT: Final = 120_000
"""Characters of one tool result, all parts together; our own tools stay below it."""

MOST_DATA: Final = 7_000_000  # characters of one picture or recording as base64; vendors stop at 5 MB of bytes
MOST_DATA_IN_ALL: Final = 21_000_000  # vendors stop at requests of 32 MB
MOST_PARTS: Final = 50

_HEAD: Final = 2 / 3  # of the room: what comes first says what it is, the end says how it went
_SEAM: Final = 200  # characters within which a cut looks for a blank, so that no word or key is cut in two


def bounded_parts(parts: Iterable[ContentPart], *, most_text: int = MOST_TEXT) -> tuple[ContentPart, ...]:
    """The parts that fit, a long text by its beginning and its end; omissions are marked."""
    kept: list[ContentPart] = []
    text_room, data_room = most_text, MOST_DATA_IN_ALL
    given = list(parts)
    for part in given[:MOST_PARTS]:
        size = _text_size(part)
        if text_room <= 0 and size:
            break
        if size > text_room:
            cut = _shortened(part, room=text_room)
            if cut is None:
                break
            kept.append(cut)
            text_room = 0
            continue
        data = len(_data(part))
        kept.append(part if data <= min(MOST_DATA, data_room) else _left_out(part))
        text_room, data_room = text_room - size, data_room - (data if kept[-1] is part else 0)
    left = len(given) - len(kept)
    return (*kept, TextPart(text=f"[{left} more parts were left out]")) if left else tuple(kept)


def shortened(text: str, *, room: int) -> str:
    """A text longer than `room` characters without its middle, with a mark of how much was cut."""
    head, tail = int(room * _HEAD), room - int(room * _HEAD)
    start, end = text[:head], text[len(text) - tail :]
    start = start[: _seam(start[::-1], len(start))]
    end = end[len(end) - _seam(end, len(end)) :]
    left = len(text) - len(start) - len(end)
    return f"{start}\n[... {left:,} of {len(text):,} characters were left out here ...]\n{end}"


def _seam(text: str, length: int) -> int:
    """Return how many of `length` characters stay when the word at the cut, where `text` begins, is dropped."""
    word = next((number for number, mark in enumerate(text[:_SEAM]) if mark.isspace()), 0)
    return length - word


def _text_size(part: ContentPart) -> int:
    match part:
        case TextPart(text=text) | ResourcePart(text=str(text)):
            return len(text)
        case LinkPart():
            return sum(map(len, (part.uri, part.name, part.title or "", part.description or "")))
        case _:
            return 0


def _shortened(part: ContentPart, *, room: int) -> ContentPart | None:
    """A part that is too long, cut to the available room; None if it cannot be cut."""
    match part:
        case TextPart(text=text) | ResourcePart(text=str(text)):
            return replace(part, text=shortened(text, room=room))
        case _:
            return None


def _data(part: ContentPart) -> str:
    match part:
        case ImagePart(data=data) | AudioPart(data=data) | ResourcePart(blob=str(data)):
            return data
        case _:
            return ""


def _left_out(part: ContentPart) -> ContentPart:
    kind = part.uri if isinstance(part, ResourcePart) else getattr(part, "mime_type", "")
    return TextPart(text=f"[{kind} of {len(_data(part)) * 3 // 4:,} bytes was left out: it is too large]")
