"""The common parts of protocol 2: open unions, base64, content blocks."""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, TypeAlias, cast

from claw_acp.schema.base import Check, Wire
from claw_acp.schema.content import AudioContent, EmbeddedResource, ImageContent, TextContent
from claw_acp.schema.invalid import describe_invalid
from claw_acp.schema.reading import Build, Reader, Reading
from claw_acp.schema.v2.content import ResourceLink


class Open(NamedTuple):
    """A union selected by a field; a member of unknown kind may hold anything."""

    tag: str
    members: tuple[tuple[str, type[Wire]], ...]

    def around(self, _inner: Reader, _source: object, build: Build) -> Reader:
        """A reader that reports the kind for which the value is invalid."""
        readers = {name: build(member) for name, member in self.members}

        def read(value: object, reading: Reading) -> object:
            found: Mapping[str, object] = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
            kind = found.get(self.tag)
            if not isinstance(kind, str):
                return reading.fault(f"must be an object with `{self.tag}`")
            if kind not in readers:
                return found
            inner = Reading(exact=True)
            made = readers[kind](found, inner)
            reading.unknown += [(*reading.path, *path) for path in inner.unknown]
            return reading.fault(f"is no {describe_invalid(inner.faults, kind)}") if inner.faults else made

        return read


def _not_base64(text: str) -> str:
    try:
        b64decode(text, validate=True)
    except (NotBase64, ValueError):
        return "must be base64"
    return ""


Base64: TypeAlias = Annotated[str, Check(fault=_not_base64)]
ContentBlock: TypeAlias = Annotated[
    Any,
    Open(
        "type",
        (
            ("text", TextContent),
            ("image", ImageContent),
            ("audio", AudioContent),
            ("resource_link", ResourceLink),
            ("resource", EmbeddedResource),
        ),
    ),
]
