"""Conversions between content blocks and our content parts, shared by both protocol versions."""

from collections.abc import Sequence
from typing import Final, assert_never

from claw_acp.core.errors import InvalidRequest
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import AudioPart, ContentPart, ImagePart, LinkPart, ResourcePart, TextPart
from claw_acp.schema.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

META_STEER: Final = "claw-acp/steer"
"""In the `_meta` of a prompt: true makes it join the running turn, instead of waiting for its end."""


def wants_to_steer(meta: JsonObject | None) -> bool:
    """Return whether a client wants its prompt to join the running turn."""
    return meta is not None and meta.get(META_STEER) is True


def content_block(part: ContentPart) -> JsonObject:
    """A content part as a ContentBlock."""
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ImagePart(data=data, mime_type=mime_type, uri=uri):
            return {"type": "image", "data": data, "mimeType": mime_type} | _given(uri=uri)
        case AudioPart(data=data, mime_type=mime_type):
            return {"type": "audio", "data": data, "mimeType": mime_type}
        case ResourcePart():
            resource = _given(uri=part.uri, mimeType=part.mime_type, text=part.text, blob=part.blob)
            return {"type": "resource", "resource": resource}
        case LinkPart():
            return {"type": "resource_link"} | _given(
                uri=part.uri,
                name=part.name,
                mimeType=part.mime_type,
                title=part.title,
                description=part.description,
                size=part.size,
            )
        case _:
            assert_never(part)


def prompt_parts(blocks: Sequence[ContentBlock]) -> list[ContentPart]:
    """The content parts of a prompt.

    Raises:
        InvalidRequest: Nothing, or something that was not advertised.
    """
    if not blocks:
        raise InvalidRequest("session/prompt: `prompt` is empty")
    return [_part(block) for block in blocks]


def _part(block: ContentBlock) -> ContentPart:
    match block:
        case TextContent(text=text):
            return TextPart(text=text)
        case ImageContent(data=data, mime_type=mime_type, uri=uri):
            return ImagePart(data=data, mime_type=mime_type, uri=uri)
        case AudioContent(data=data, mime_type=mime_type):
            return AudioPart(data=data, mime_type=mime_type)
        case ResourceLink():
            return LinkPart(
                uri=block.uri,
                name=block.name,
                mime_type=block.mime_type,
                title=block.title,
                description=block.description,
                size=block.size,
            )
        case EmbeddedResource(resource=resource):
            text = resource.text if isinstance(resource, TextResourceContents) else None
            blob = None if isinstance(resource, TextResourceContents) else resource.blob
            return ResourcePart(uri=resource.uri, mime_type=resource.mime_type, text=text, blob=blob)
        case _:
            assert_never(block)


def _given(**fields: JsonValue) -> dict[str, JsonValue]:
    return {name: value for name, value in fields.items() if value is not None}
