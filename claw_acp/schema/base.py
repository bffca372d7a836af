"""The base of every wire model, and the leniency the protocol asks for, as annotations.

Names are camelCase on the wire and snake_case here; unknown keys are ignored; types are strict (`"1"` is no integer,
`"yes"` is no boolean). Where the official schema says a malformed value counts as its default, or a bad array element
is left out, the field declares it with `Lenient`, `Flag`, `Part`, `Items` or `LenientItems`; everything else is
refused.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeAlias, TypeVar, cast, get_args

from claw_acp.core.value import REQUIRED, Value, field_default
from claw_acp.schema.reading import OMITTED, Build, Reader, Reading, failed, quoted

if TYPE_CHECKING:
    from claw_acp.core.json_value import JsonObject, JsonValue
else:  # readers need not look inside values that only pass through
    JsonValue = Any
    JsonObject = dict[str, Any]

T = TypeVar("T")


# ------------------------------------------------------------------ leniency


class OnError(Value):
    """A malformed value counts as `default`, which must be immutable (x-deserialize-default-on-error)."""

    default: object

    def around(self, inner: Reader, _source: object, _build: Build) -> Reader:
        """A reader that returns the default instead of a fault."""
        return _forgiving(inner, lambda: self.default)


class EmptyOnError(Value):
    """A malformed object counts as one of its class without any value (x-deserialize-default-on-error)."""

    def around(self, inner: Reader, source: Any, _build: Build) -> Reader:  # noqa: ANN401 - the annotated class
        """A reader that returns an empty value instead of a fault."""
        return _forgiving(inner, source)


class OmitOnError(Value):
    """A malformed element is left out of its array (x-deserialize-skip-invalid-items)."""

    def around(self, inner: Reader, _source: object, _build: Build) -> Reader:
        """A reader that omits a malformed value."""
        return _forgiving(inner, lambda: OMITTED)


def _forgiving(inner: Reader, default: Callable[[], object]) -> Reader:
    def read(value: object, reading: Reading) -> object:
        if reading.exact:
            return inner(value, reading)
        invalid, result = failed(inner, value, reading)
        return default() if invalid else result

    return read


class Instead(Value):
    """A value for which `counts_as` returns another one is read as that one."""

    counts_as: Callable[[Any], Any]

    def around(self, inner: Reader, _source: object, _build: Build) -> Reader:
        """A reader that replaces certain values first."""
        counts_as = self.counts_as
        return lambda value, reading: inner(value if reading.exact else counts_as(value), reading)


class Explained(Value):
    """Reports any failure below here once, as this sentence, which follows the name of the field."""

    text: str

    def around(self, inner: Reader, _source: object, _build: Build) -> Reader:
        """A reader with a single fault."""

        def read(value: object, reading: Reading) -> object:
            invalid, result = failed(inner, value, reading)
            return reading.fault(self.text) if invalid else result

        return read


def _empty_for_null(value: object) -> object:
    return () if value is None else value


def _empty_unless_array(value: object) -> object:
    return cast("object", value) if isinstance(value, list | tuple) else ()


Array: TypeAlias = tuple[T, ...]
"""An array; every element must be valid."""
NullableArray: TypeAlias = Annotated[tuple[T, ...], Instead(counts_as=_empty_for_null)]
"""An array where null means empty (x-deserialize-default-on-null)."""
Lenient: TypeAlias = Annotated[T | None, OnError(default=None)]
"""Optional; a malformed value counts as absent."""
Flag: TypeAlias = Annotated[bool, OnError(default=False)]
"""A capability: on only if it is exactly `true`."""
Part: TypeAlias = Annotated[T, EmptyOnError()]
"""An object of which nothing is required; a malformed one counts as empty."""
Items: TypeAlias = Annotated[tuple[Annotated[T, OmitOnError()], ...], Instead(counts_as=_empty_unless_array)]
"""An array whose bad elements are left out; anything but an array counts as empty."""
LenientItems: TypeAlias = Annotated[tuple[Annotated[T, OmitOnError()], ...] | None, OnError(default=None)]
"""Like `Items`, but None when absent, null, or not an array."""

# ------------------------------------------------------------------ values


class Known(Value):
    """Documents the values the protocol defines for an open enumeration; any other string is valid too."""

    values: tuple[str, ...]

    def around(self, inner: Reader, _source: object, _build: Build) -> Reader:
        """The same reader."""
        return inner


class Check(Value):
    """A value for which `fault` returns a sentence is refused with it."""

    fault: Callable[[Any], str]

    def around(self, inner: Reader, _source: object, _build: Build) -> Reader:
        """A reader that checks the result."""

        def read(value: object, reading: Reading) -> object:
            before = len(reading.faults)
            result = inner(value, reading)
            if len(reading.faults) == before and (text := self.fault(result)):
                return reading.fault(text)
            return result

        return read


def between(least: int, most: int) -> Check:
    """A check that a number lies within bounds."""

    def fault(number: int) -> str:
        if number < least:
            return f"must be at least {least}"
        return f"must be at most {most}" if number > most else ""

    return Check(fault=fault)


def _empty(text: str) -> str:
    return "" if text else "must have at least 1 character(s)"


NOT_EMPTY = Check(fault=_empty)


def _not_absolute(path: str) -> str:
    """The fault of a path that is absolute on no system: the editor's system need not be ours."""
    if "\0" in path:
        return "must not contain a NUL character"
    if any("\ud800" <= character <= "\udfff" for character in path):
        return "must be valid Unicode text"
    if not path.startswith("/") and not PureWindowsPath(path).is_absolute():
        return "must be an absolute path"
    return ""


AbsolutePath: TypeAlias = Annotated[str, Check(fault=_not_absolute)]
"""A path that begins at a root, in POSIX (`/a`) or Windows form (`C:\\a`, `\\\\host\\share`)."""
ProtocolVersion: TypeAlias = Annotated[int, between(0, 0xFFFF)]
Uint32: TypeAlias = Annotated[int, between(0, 0xFFFF_FFFF)]
Int32: TypeAlias = Annotated[int, between(-0x8000_0000, 0x7FFF_FFFF)]
Uint64: TypeAlias = Annotated[int, between(0, 0xFFFF_FFFF_FFFF_FFFF)]
Int64: TypeAlias = Annotated[int, between(-0x8000_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF)]
RequestId: TypeAlias = Annotated[int | str | None, Explained(text="must be a string, an integer or null")]


# ------------------------------------------------------------------ models


class Wire(Value):
    """A value of the protocol.

    Attributes:
        meta: `_meta`, free for both sides to use; anything but an object counts as absent.
    """

    meta: Lenient[JsonObject] = None

    def to_wire(self) -> dict[str, JsonValue]:
        """The JSON object to send: camelCase names, nothing that is None.

        Lone surrogates stay as they are, for the writer of frames to escape or replace.
        """
        held = ((name, getattr(self, name)) for name in type(self).fields)
        return {wire_key(name): _json(value) for name, value in held if value is not None}

    def conflict(self) -> str:
        """A fault of the fields together, as a sentence without its subject; empty when there is none."""
        return ""


def wire_key(name: str) -> str:
    """The key of a field on the wire."""
    if name == "meta":
        return "_meta"
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _json(value: Any) -> JsonValue:  # noqa: ANN401 - what models hold
    if isinstance(value, Wire):
        return value.to_wire()
    if isinstance(value, dict):
        return {key: _json(inner) for key, inner in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_json(inner) for inner in cast("list[object]", value)]
    if isinstance(value, float) and not isfinite(value):
        return None  # JSON has no word for it
    return cast("JsonValue", value)


class Given(Wire):
    """A value that remembers which of its fields were given, since an absent field is not the same as None."""

    __slots__ = ("given",)
    given: ClassVar[frozenset[str]]  # each value has its own; the annotation only keeps it from being a field

    def __new__(cls, **given: object) -> Self:  # noqa: D102 - as of any class
        made = object.__new__(cls)
        object.__setattr__(made, "given", frozenset(given))
        return made


class Patch(Given):
    """A change in which null has a meaning: an absent field is "unchanged", an explicit None is "clear it"."""

    def to_wire(self) -> dict[str, JsonValue]:
        """The JSON object to send, with null for cleared fields."""
        given = [name for name in type(self).fields if name in self.given and name != "meta"]
        return super().to_wire() | {wire_key(name): None for name in given if getattr(self, name) is None}


class Marker(Wire):
    """A capability that is supported if present: `{}`. The protocol has one empty type for each of them."""


# ------------------------------------------------------------------ unions


class Variants(Value):
    """Selects the member of a union by a field that each declares as a `Literal`.

    Attributes:
        tag: The field's name in Python.
        otherwise: The member that has no tag. It is taken when the tag is absent, and also when the tag is unknown but
            the value has everything this member needs.
    """

    tag: str
    otherwise: type[Wire] | None = None

    def around(self, _inner: Reader, source: object, build: Build) -> Reader:
        """A reader for the union `source`."""
        key = wire_key(self.tag)
        members = [member for member in get_args(source) if member is not self.otherwise]
        readers = {name: build(member) for member in members for name in variant_names(member, tag=self.tag)}
        untagged, needed = None, ()
        if (other := self.otherwise) is not None:
            untagged = build(other)
            needed = tuple(wire_key(name) for name in other.fields if field_default(other, name) is REQUIRED)

        def read(value: object, reading: Reading) -> object:
            if not isinstance(value, Mapping):
                return reading.fault("must be an object")
            found = cast("Mapping[str, object]", value)
            name = found.get(key)
            chosen = readers.get(name) if isinstance(name, str) else None
            if chosen is None and (name is None or all(part in found for part in needed)):
                chosen = untagged
            if chosen is not None:
                return chosen(found, reading)
            known = f"{quoted(name)} is not one of {', '.join(readers)}"
            return reading.fault(known if key in found else "is missing", key)

        return read


def variant_names(member: type[Wire], *, tag: str) -> tuple[str, ...]:
    """The values of the `Literal` that is the type of the field `tag`."""
    annotations = next(base.__annotations__ for base in member.__mro__ if tag in base.__annotations__)
    return get_args(annotations[tag])
