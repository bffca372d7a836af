"""Content blocks: the parts of prompts, messages and tool results. Their shapes are those of MCP."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.schema.base import Explained, Int64, Lenient, LenientItems, Variants, Wire

Role = Literal["assistant", "user"]


class Annotations(Wire):
    """Hints about a block: its audience, the time of its last change (ISO 8601), its priority (0 to 1)."""

    audience: LenientItems[Role] = None
    last_modified: Lenient[str] = None
    priority: Lenient[float] = None


class TextContent(Wire):
    """Plain text or Markdown."""

    type: Literal["text"] = "text"
    text: str
    annotations: Lenient[Annotations] = None


class ImageContent(Wire):
    """An image; `data` is base64."""

    type: Literal["image"] = "image"
    data: str
    mime_type: str
    uri: Lenient[str] = None
    annotations: Lenient[Annotations] = None


class AudioContent(Wire):
    """Audio; `data` is base64."""

    type: Literal["audio"] = "audio"
    data: str
    mime_type: str
    annotations: Lenient[Annotations] = None


class ResourceLink(Wire):
    """A resource that the agent may read by itself; `size` is in bytes."""

    type: Literal["resource_link"] = "resource_link"
    uri: str
    name: str
    title: Lenient[str] = None
    description: Lenient[str] = None
    mime_type: Lenient[str] = None
    size: Lenient[Int64] = None
    annotations: Lenient[Annotations] = None


class TextResourceContents(Wire):
    """A resource that is text."""

    uri: str
    text: str
    mime_type: Lenient[str] = None


class BlobResourceContents(Wire):
    """A resource that is bytes; `blob` is base64."""

    uri: str
    blob: str
    mime_type: Lenient[str] = None


EmbeddedResourceResource: TypeAlias = Annotated[
    TextResourceContents | BlobResourceContents,
    Explained(text="must be an object with `uri` and either `text` or `blob`"),
]


class EmbeddedResource(Wire):
    """A resource embedded in the message."""

    type: Literal["resource"] = "resource"
    resource: EmbeddedResourceResource
    annotations: Lenient[Annotations] = None


ContentBlock: TypeAlias = Annotated[
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource,
    Variants(tag="type"),
]
