"""The pieces that everything in protocol 2 is made of: open unions, base64, content blocks."""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, cast

from pydantic import AfterValidator, ValidationError
from pydantic_core import PydanticCustomError, core_schema

from claw_acp.schema.base import EXPLAINED, Wire
from claw_acp.schema.content import AudioContent, EmbeddedResource, ImageContent, TextContent
from claw_acp.schema.invalid import describe_invalid
from claw_acp.schema.v2.content import ResourceLink
from claw_acp.verify.shape import strict_twin


@dataclass(frozen=True, slots=True)
class Open:
    """An object that a field tells apart; one of an unknown kind may hold anything."""

    tag: str
    members: tuple[tuple[str, type[Wire]], ...]

    def __get_pydantic_core_schema__(self, _source: object, _handler: object) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self._checked)

    def _checked(self, value: object) -> object:
        found = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None
        kind = found.get(self.tag) if found is not None else None
        if not isinstance(kind, str):
            raise PydanticCustomError(EXPLAINED, f"must be an object with `{self.tag}`")  # pyright: ignore[reportArgumentType]
        model = dict(self.members).get(kind)
        if model is None:
            return found
        try:
            return strict_twin(model).model_validate(found)
        except ValidationError as error:
            reason = describe_invalid(error, kind).replace("{", "(").replace("}", ")")
            raise PydanticCustomError(EXPLAINED, f"is no {reason}") from error  # pyright: ignore[reportArgumentType]


def _base64(text: str) -> str:
    try:
        b64decode(text, validate=True)
    except (NotBase64, ValueError):
        raise PydanticCustomError(EXPLAINED, "must be base64") from None
    return text


Base64: TypeAlias = Annotated[str, AfterValidator(_base64)]
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
