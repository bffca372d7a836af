"""Tool calls without credentials, for the model, the client and the journal.

Long texts are searched in a worker thread, so that no other session waits. A text that takes too long is withheld.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias, TypeVar, cast

import anyio
from anyio import to_thread

from claw_acp.core.events import CommandContent, PartContent, ToolContent
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import ContentPart, TextPart
from claw_acp.core.redaction import Redactor
from claw_acp.core.screen_text import appearances
from claw_acp.core.value import replace

log = logging.getLogger(__name__)

INLINE: Final = 32 * 1024  # characters; up to here a thread costs more than it saves
TIME_LIMIT: Final = 10.0  # seconds; enough for tens of millions of ordinary characters
WITHHELD: Final = f"[withheld: this text could not be searched for credentials within {TIME_LIMIT:g} s]"

_SHORT: Final = 256  # characters of a text that is searched at once even after the limit

Clean: TypeAlias = Callable[[str], str]
_V_contra = TypeVar("_V_contra", contravariant=True)
_R_co = TypeVar("_R_co", covariant=True)


class _Cleaning(Protocol[_V_contra, _R_co]):
    def __call__(self, value: _V_contra, /, *, redactor: Clean) -> _R_co: ...


async def cleaned(
    cleaning: _Cleaning[_V_contra, _R_co], value: _V_contra, /, *, redactor: Redactor, within: float = TIME_LIMIT
) -> _R_co:
    """`cleaning(value)` by one of the functions below, in a worker thread when the value is large.

    After `within` seconds its long texts are withheld.
    """
    if _size(value) <= INLINE:
        return cleaning(value, redactor=redactor)
    with anyio.move_on_after(within):
        return await to_thread.run_sync(lambda: cleaning(value, redactor=redactor), abandon_on_cancel=True)
    log.warning("text withheld", extra={"characters": _size(value), "seconds": within})
    return cleaning(value, redactor=lambda text: redactor(text) if len(text) <= _SHORT else WITHHELD)


def redacted_parts(parts: Sequence[ContentPart], *, redactor: Clean) -> tuple[ContentPart, ...]:
    """Content parts with their text cleaned."""
    return tuple(replace(part, text=redactor(part.text)) if isinstance(part, TextPart) else part for part in parts)


def redacted_content(content: Sequence[ToolContent], *, redactor: Clean) -> tuple[ToolContent, ...]:
    """The content of a tool call, cleaned. A diff stays as it is: people must see exactly what will be written."""
    return tuple(_redacted(item, redactor=redactor) for item in content)


def _redacted(item: ToolContent, *, redactor: Clean) -> ToolContent:
    match item:
        case PartContent(part=part):
            return PartContent(part=redacted_parts((part,), redactor=redactor)[0])
        case CommandContent():
            return redacted_command(item, redactor=redactor)
        case _:
            return item


def redacted_command(picture: CommandContent, *, redactor: Clean) -> CommandContent:
    """A snapshot of a program, cleaned; while it runs, its last word may be the beginning of a secret.

    Bytes that contain one are left out altogether: the text stands for them.
    """
    clean = redactor.unfinished if picture.running and isinstance(redactor, Redactor) else redactor
    raw = picture.raw
    if raw is not None and any(clean(text) != text for text in appearances(raw)):
        raw = None
    return replace(picture, line=redactor(picture.line), text=clean(picture.text), raw=raw)


def redacted_json(value: JsonValue, *, redactor: Clean) -> JsonValue:
    """A JSON value with all its texts cleaned; keys stay."""
    if isinstance(value, str):
        return redactor(value)
    if isinstance(value, Mapping):
        return {key: redacted_json(item, redactor=redactor) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [redacted_json(item, redactor=redactor) for item in value]
    return value


def _size(value: object) -> int:
    """The number of characters to search."""
    match value:
        case str():
            return len(value)
        case TextPart():
            return len(value.text)
        case PartContent():
            return _size(value.part)
        case CommandContent():
            return len(value.line) + len(value.text) + len(value.raw or b"")
        case Mapping():
            return sum(map(_size, cast("Mapping[str, object]", value).values()))
        case Sequence():
            return sum(map(_size, cast("Sequence[object]", value)))
        case _:
            return 0
