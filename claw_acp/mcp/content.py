"""The answers of servers as content parts of ours, limited so that one answer cannot fill a conversation."""

import json
from base64 import b64decode
from collections.abc import Iterable
from typing import assert_never

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from claw_acp.contracts.bounded import bounded_parts
from claw_acp.contracts.provider import IMAGE_TYPES
from claw_acp.contracts.tool import ToolResult
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import AudioPart, ContentPart, ImagePart, LinkPart, ResourcePart, TextPart
from claw_acp.core.picture import media_type

MOST_TEXT = 40_000  # characters of one answer
LONGEST_ADDRESS = 2000  # characters of a URI
LONGEST_NAME = 200  # of a link
LONGEST_ABOUT = 1000  # of a link's description
MOST_RAW = 64 * 1024  # characters of structured content, as JSON, that programs are given


def tool_result(result: CallToolResult) -> ToolResult:
    """The result of a call. Structured content alone becomes JSON text; beside other content it is for programs."""
    structured: JsonValue = result.structured_content
    parts = _bounded(map(content_part, result.content))
    written = "" if structured is None else json.dumps(structured, ensure_ascii=False)
    if not parts:
        parts = _bounded((TextPart(text=written or "It is done; the server said nothing."),))
    raw = structured if len(written) <= MOST_RAW else None
    return ToolResult(parts=parts, raw=raw, failed=bool(result.is_error))


def document_parts(result: ReadResourceResult) -> tuple[ContentPart, ...]:
    """The parts of a resource that was read."""
    return _bounded(map(_resource, result.contents)) or (TextPart(text="It is empty."),)


def prompt_parts(result: GetPromptResult) -> tuple[ContentPart, ...]:
    """The messages of a prompt as one; the roles are marked unless all are the user's."""
    parts: list[ContentPart] = []
    several = any(message.role == "assistant" for message in result.messages)
    for message in result.messages:
        part = content_part(message.content)
        speaker = "User" if message.role == "user" else "Assistant"
        if several and isinstance(part, TextPart):
            part = TextPart(text=f"{speaker}: {part.text}")
        parts.append(part)
    return _bounded(parts)


def content_part(block: ContentBlock) -> ContentPart:
    """One piece of content."""
    match block:
        case TextContent(text=text):
            return TextPart(text=text)
        case ImageContent(data=data, mime_type=mime_type):
            return _picture(data, mime_type)
        case AudioContent(data=data, mime_type=mime_type):
            return AudioPart(data=data, mime_type=mime_type)
        case EmbeddedResource(resource=resource):
            return _resource(resource)
        case ResourceLink():
            return _link(block)
        case _:
            assert_never(block)


def _link(link: ResourceLink) -> ContentPart:
    uri = str(link.uri)
    if len(uri) > LONGEST_ADDRESS:
        return TextPart(text=f"[a link whose address has {len(uri)} characters was left out]")
    return LinkPart(
        uri=uri,
        name=link.name[:LONGEST_NAME],
        mime_type=link.mime_type and link.mime_type[:LONGEST_NAME],
        title=link.title and link.title[:LONGEST_NAME],
        description=link.description and link.description[:LONGEST_ABOUT],
        size=link.size,
    )


def _picture(data: str, mime_type: str) -> ContentPart:
    """An image with its true type: vendors refuse a whole request for a wrong one."""
    kind = _media_type(data)
    if kind is None and mime_type in IMAGE_TYPES:
        return TextPart(text=f"[what should be a picture ({mime_type}) is none]")
    return ImagePart(data=data, mime_type=kind or mime_type)


def _resource(resource: TextResourceContents | BlobResourceContents) -> ContentPart:
    uri, mime_type = str(resource.uri)[:LONGEST_ADDRESS], resource.mime_type
    if isinstance(resource, TextResourceContents):
        return ResourcePart(uri=uri, mime_type=mime_type, text=resource.text)
    if mime_type in IMAGE_TYPES:
        mime_type = _media_type(resource.blob)
    return ResourcePart(uri=uri, mime_type=mime_type, blob=resource.blob)


def _media_type(data: str) -> str | None:
    """The media type of a base64 image."""
    try:
        return media_type(b64decode(data, validate=True))
    except ValueError:
        return None


def _bounded(parts: Iterable[ContentPart]) -> tuple[ContentPart, ...]:
    return bounded_parts(parts, most_text=MOST_TEXT)
