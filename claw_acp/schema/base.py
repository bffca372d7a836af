"""The base of every wire model, and the leniency the protocol asks for, as annotations.

Names are camelCase on the wire and snake_case here; unknown keys are ignored; types are strict (`"1"` is no integer,
`"yes"` is no boolean). Where the official schema says a malformed value counts as its default, or a bad array element
is left out, the field says so with `Lenient`, `Flag`, `Part`, `Items` or `LenientItems`; everything else is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, cast, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    Strict,
    model_serializer,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError, core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

    from claw_acp.core.json_value import JsonObject, JsonValue
else:  # pydantic need not look inside values that only pass through
    JsonValue = Any
    JsonObject = dict[str, Any]

T = TypeVar("T")

EXPLAINED = "explained"  # error type whose message is ours and is shown as it is
UNKNOWN_VARIANT = "unknown_variant"


# ------------------------------------------------------------------ leniency


@dataclass(frozen=True, slots=True)
class OnError:
    """A malformed value counts as `default`, which must be immutable (x-deserialize-default-on-error)."""

    default: object

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> core_schema.CoreSchema:
        return core_schema.with_default_schema(handler(source), default=self.default, on_error="default")


@dataclass(frozen=True, slots=True)
class EmptyOnError:
    """A malformed object counts as one of its class without any value (x-deserialize-default-on-error)."""

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> core_schema.CoreSchema:
        return core_schema.with_default_schema(
            handler(source), default_factory=cast("type[object]", source), on_error="default"
        )


@dataclass(frozen=True, slots=True)
class OmitOnError:
    """A malformed element is left out of its array (x-deserialize-skip-invalid-items)."""

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> core_schema.CoreSchema:
        return core_schema.with_default_schema(handler(source), on_error="omit")


@dataclass(frozen=True, slots=True)
class Explained:
    """Any failure below here is reported once, in these words, which follow the name of the field."""

    text: str

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> core_schema.CoreSchema:
        return core_schema.custom_error_schema(handler(source), EXPLAINED, custom_error_message=self.text)


def _empty_for_null(value: object) -> object:
    return () if value is None else value


def _empty_unless_array(value: object) -> object:
    return cast("object", value) if isinstance(value, list | tuple) else ()


Array: TypeAlias = Annotated[tuple[T, ...], Strict(strict=False)]
"""An array; every element must be valid. (Not strict, since parsed JSON holds lists.)"""
NullableArray: TypeAlias = Annotated[tuple[T, ...], Strict(strict=False), BeforeValidator(_empty_for_null)]
"""An array where null means empty (x-deserialize-default-on-null)."""
Lenient: TypeAlias = Annotated[T | None, OnError(None)]
"""Optional; a malformed value counts as absent."""
Flag: TypeAlias = Annotated[bool, OnError(default=False)]
"""A capability: on only if it is exactly `true`."""
Part: TypeAlias = Annotated[T, EmptyOnError()]
"""An object of which nothing is required; a malformed one counts as empty."""
Items: TypeAlias = Annotated[
    tuple[Annotated[T, OmitOnError()], ...], Strict(strict=False), BeforeValidator(_empty_unless_array)
]
"""An array whose bad elements are left out; anything but an array counts as empty."""
LenientItems: TypeAlias = Annotated[
    Annotated[tuple[Annotated[T, OmitOnError()], ...], Strict(strict=False)] | None, OnError(None)
]
"""Like `Items`, but None when absent, null, or not an array."""

# ------------------------------------------------------------------ values


@dataclass(frozen=True, slots=True)
class Known:
    """Documents the values the protocol defines for an open enumeration; any other string is accepted too."""

    values: tuple[str, ...]


def _absolute(path: str) -> str:
    """Accept the absolute paths of every system: the editor's need not be ours."""
    if "\0" in path:
        raise PydanticCustomError(EXPLAINED, "must not contain a NUL character")
    if any("\ud800" <= character <= "\udfff" for character in path):
        raise PydanticCustomError(EXPLAINED, "must be valid Unicode text")
    if not path.startswith("/") and not PureWindowsPath(path).is_absolute():
        raise PydanticCustomError(EXPLAINED, "must be an absolute path")
    return path


AbsolutePath: TypeAlias = Annotated[str, AfterValidator(_absolute)]
"""A path that begins at a root, in POSIX (`/a`) or Windows form (`C:\\a`, `\\\\host\\share`)."""
ProtocolVersion: TypeAlias = Annotated[int, Field(ge=0, le=0xFFFF)]
Uint32: TypeAlias = Annotated[int, Field(ge=0, le=0xFFFF_FFFF)]
Uint64: TypeAlias = Annotated[int, Field(ge=0, le=0xFFFF_FFFF_FFFF_FFFF)]
Int64: TypeAlias = Annotated[int, Field(ge=-0x8000_0000_0000_0000, le=0x7FFF_FFFF_FFFF_FFFF)]
RequestId: TypeAlias = Annotated[int | str | None, Explained("must be a string, an integer or null")]


# ------------------------------------------------------------------ models


class Wire(BaseModel):
    """A value of the protocol.

    Attributes:
        meta: `_meta`, free for both sides to use; anything but an object counts as absent.
    """

    # Built at first use: a session needs a handful of the classes, and an unused schema costs about half a millisecond.
    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="ignore",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        defer_build=True,
    )

    meta: Lenient[JsonObject] = Field(default=None, validation_alias="_meta", serialization_alias="_meta")

    def to_wire(self) -> dict[str, JsonValue]:
        """The JSON object to send: camelCase names, nothing that is None.

        Lone surrogates stay as they are, for the writer of frames to escape or replace.
        """
        try:
            return self.model_dump(mode="json", by_alias=True, exclude_none=True)
        except UnicodeEncodeError:  # pydantic cannot render a key that has a lone surrogate
            return {key: _listed(value) for key, value in self.model_dump(by_alias=True, exclude_none=True).items()}


def _listed(value: object) -> JsonValue:
    """The same JSON value with lists for tuples."""
    if isinstance(value, dict):
        return {key: _listed(inner) for key, inner in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_listed(inner) for inner in cast("list[object]", value)]
    return cast("JsonValue", value)


class Patch(Wire):
    """A change where null has a meaning of its own: absent is "unchanged", None given by name is "clear it"."""

    @model_serializer(mode="wrap")
    def _keep_given_nulls(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        wire: dict[str, Any] = serialize(self)
        fields = type(self).model_fields
        for name in self.model_fields_set - {"meta"}:
            if getattr(self, name) is None:
                wire[fields[name].serialization_alias or name] = None
        return wire


class Marker(Wire):
    """A capability that is supported by being there: `{}`. The protocol has one empty type for each of them."""


# ------------------------------------------------------------------ unions


def is_variant_tag(part: str) -> bool:
    """Whether a part of an error's location names a variant (`<text>`) and not a key of the JSON."""
    return part.startswith("<") and part.endswith(">")


@dataclass(frozen=True, slots=True)
class Variants:
    """Tells the members of a union apart by a field that each declares as a `Literal`.

    Attributes:
        tag: The field's name in Python.
        otherwise: The member that has no tag. It is taken when the tag is absent, and also when the tag is unknown but
            the value has everything this member needs.
    """

    tag: str
    otherwise: type[Wire] | None = None

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> core_schema.CoreSchema:
        choices: dict[Any, core_schema.CoreSchema] = {}
        for member in get_args(source):
            schema = handler.generate_schema(member)
            names = ("",) if member is self.otherwise else variant_names(member, tag=self.tag)
            choices.update({f"<{name}>": schema for name in names})
        key = to_camel(self.tag)
        known = [tag[1:-1] for tag in choices if tag != "<>"]
        return core_schema.tagged_union_schema(
            choices,
            self._chooser(frozenset(known)),
            custom_error_type=UNKNOWN_VARIANT,
            custom_error_message="unknown variant",
            custom_error_context={"tag": key, "known": ", ".join(known)},
        )

    def _chooser(self, known: frozenset[str]) -> Callable[[object], str | None]:
        key = to_camel(self.tag)
        fields = self.otherwise.model_fields if self.otherwise else {}
        needed = [to_camel(name) for name, field in fields.items() if field.is_required()]

        def choose(value: object) -> str | None:
            if isinstance(value, Wire):
                name, untagged = getattr(value, self.tag, None), self.otherwise is not None
            elif isinstance(value, dict):
                found = cast("dict[str, object]", value)
                name = found.get(key)
                untagged = self.otherwise is not None and (name is None or all(part in found for part in needed))
            else:
                return None
            if isinstance(name, str) and name in known:
                return f"<{name}>"
            return "<>" if untagged else None

        return choose


def variant_names(member: type[Wire], *, tag: str) -> tuple[str, ...]:
    """The values of the `Literal` that is the type of the field `tag`."""
    return get_args(member.model_fields[tag].annotation)
