"""Shared by all wire families: the parts of a message for a model, and safe access to received JSON."""

import json
from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from claw_acp.contracts.provider import AUDIO_TYPES, IMAGE_TYPES
from claw_acp.core.errors import MalformedReply, RequestRejected
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import AudioPart, ContentPart, ImagePart, LinkPart, ResourcePart, TextPart

LARGEST_COUNT = 2**53  # up to here every reader of JSON has the same number; no count of tokens comes near

_NO_OBJECT: JsonObject = {}
_FENCE_ESCAPE = str.maketrans({'"': "&quot;", "<": "&lt;", ">": "&gt;", "\n": " "})


Media: TypeAlias = ImagePart | AudioPart
"""Parts of a request other than text."""


def text_or_media(part: ContentPart, *, provider: str) -> str | Media:
    """A part as text, or an image or sound of a type that every family with such media accepts.

    Raises:
        RequestRejected: It is of another type.
    """
    match part:
        case TextPart(text=text):
            return text
        case ImagePart(mime_type=mime_type):
            if mime_type in IMAGE_TYPES:
                return part
            raise RequestRejected(
                f"{provider} cannot see images of type {mime_type}. Attach a PNG, JPEG, GIF or WebP image.",
                provider=provider,
            )
        case AudioPart(mime_type=mime_type):
            if mime_type in AUDIO_TYPES:
                return part
            raise RequestRejected(
                f"{provider} cannot listen to audio of type {mime_type}. Attach WAV or MP3.", provider=provider
            )
        case LinkPart():
            return _link(part)
        case ResourcePart():
            return _resource(part, provider=provider)


def texts_and_images(parts: Sequence[ContentPart], *, provider: str) -> list[str | ImagePart]:
    """See `texts_and_media`; for families that carry no sound.

    Raises:
        RequestRejected: There is sound.
    """
    items: list[str | ImagePart] = []
    for item in texts_and_media(parts, provider=provider):
        if isinstance(item, AudioPart):
            raise RequestRejected(
                f"{provider} cannot listen to audio here. Attach a transcript as text instead.", provider=provider
            )
        items.append(item)
    return items


def texts_and_media(parts: Sequence[ContentPart], *, provider: str) -> list[str | Media]:
    """Parts in order, adjacent texts joined: a document is on lines of its own, a link within the sentence."""
    merged: list[str | Media] = []
    for part in parts:
        item = text_or_media(part, provider=provider)
        if not isinstance(item, str) or not merged or not isinstance(merged[-1], str):
            merged.append(item)
        else:
            apart = isinstance(part, ResourcePart) and not merged[-1].endswith("\n")
            merged[-1] += f"\n{item}" if apart else item
    return merged


def _link(part: LinkPart) -> str:
    about = f" ({part.description})" if part.description else ""
    return f"[{part.title or part.name}]({part.uri}){about}"


def _resource(part: ResourcePart, *, provider: str) -> str | ImagePart:
    if part.text is not None:
        return f'<resource uri="{part.uri.translate(_FENCE_ESCAPE)}">\n{part.text}\n</resource>\n'
    mime_type = part.mime_type or "application/octet-stream"
    if part.blob is not None and mime_type in IMAGE_TYPES:
        return ImagePart(data=part.blob, mime_type=mime_type, uri=part.uri)
    raise RequestRejected(
        f"{provider} cannot read the attached {part.uri} ({mime_type}). Attach it as text or as an image.",
        provider=provider,
    )


# ------------------------------------------------------------------ JSON that came in

_scan: Callable[[str], tuple[JsonValue, int]] = json.JSONDecoder().raw_decode  # what loads does, without its detours


def parsed(data: str, *, provider: str) -> JsonObject:
    """The JSON object of one event.

    Raises:
        MalformedReply: It is something else.
    """
    text = data.strip()
    try:
        value, end = _scan(text)
    except (ValueError, RecursionError) as error:
        raise malformed(f"an event that is not JSON ({data[:80]!r})", provider=provider) from error
    if not isinstance(value, dict) or end != len(text):
        raise malformed(f"an event that is not a JSON object ({data[:80]!r})", provider=provider)
    return value


def malformed(what: str, *, provider: str) -> MalformedReply:
    """The error for a reply its own API does not describe."""
    return MalformedReply(
        f"{provider} sent {what}; the answer cannot be read. Try again, and check base_url if it stays.",
        provider=provider,
    )


def object_at(value: JsonObject, key: str) -> JsonObject:
    """The object at `key`; an empty one for anything else."""
    found = value.get(key)
    if isinstance(found, dict):  # a Mapping test would cost more than the rest of this function, for every chunk
        return cast("JsonObject", found)
    return _NO_OBJECT


def text_at(value: JsonObject, key: str) -> str:
    """The text at `key`; empty for anything else."""
    found = value.get(key)
    return found if isinstance(found, str) else ""


def number_at(value: JsonObject, key: str) -> int:
    """The count at `key`; 0 for anything else, see `counted`."""
    return counted(value.get(key))


def counted(value: JsonValue) -> int:
    """A whole number from 0 to `LARGEST_COUNT`, also where it is written as `10.0`; 0 for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 <= value <= LARGEST_COUNT else 0


def items_at(value: JsonObject, key: str) -> Sequence[JsonValue]:
    """The array at `key`; an empty one for anything else."""
    found = value.get(key)
    return found if isinstance(found, list) else ()


def arguments_object(arguments: str) -> JsonObject:
    """A call's arguments as an object; an empty one when the model wrote something else."""
    try:
        value: JsonValue = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
