"""Content blocks of protocol 2: those of protocol 1, and icons of linked resources."""

from typing import Annotated, TypeAlias

from claw_acp.schema import content
from claw_acp.schema.base import Known, Lenient, LenientItems, Uint64, Variants, Wire
from claw_acp.schema.content import AudioContent, EmbeddedResource, ImageContent, TextContent

IconTheme: TypeAlias = Annotated[str, Known(values=("light", "dark"))]


class Icon(Wire):
    """An icon of a resource; `sizes` are `48x48` or `any`."""

    src: str
    mime_type: Lenient[str] = None
    sizes: LenientItems[str] = None
    theme: Lenient[IconTheme] = None


class ResourceLink(content.ResourceLink):
    """A resource that the agent may read by itself."""

    size: Lenient[Uint64] = None
    icons: LenientItems[Icon] = None


ContentBlock: TypeAlias = Annotated[
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource,
    Variants(tag="type"),
]
"""A block of any other type is refused with -32602, as the draft wants it of prompts."""
