"""Frozen values with named fields: what a frozen, slotted, keyword-only `dataclass` gives, at a tenth of its cost.

`dataclass` writes and compiles six methods for each class when its module is imported, about half a millisecond a
class; a hundred classes stand between an editor and its first session. Here a class costs almost nothing until its
first instance: only then its `__init__` is compiled. To readers and type checkers the two are the same:

    class Location(Value): path: str line: int | None = None
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, ClassVar, Final, Never, Self, TypeVar, cast, dataclass_transform, get_origin

_T = TypeVar("_T")
REQUIRED: Final = object()
_set = object.__setattr__


class _Factory:
    """Stands in a class body for a default that is created for each value."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


def made_by(*, default_factory: Callable[[], _T]) -> _T:
    """Give a field a default that is created for each value, as `dataclasses.field` does."""
    return cast("_T", _Factory(default_factory))


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(made_by,))
class _ValueType(type):
    """Turns the annotations of a class body into slots."""

    fields: tuple[str, ...]
    defaults: dict[str, object]
    held: "attrgetter[Any]"
    """Returns the contents of a value's fields, to compare and hash: of a single field itself, else a tuple."""

    # A metaclass, since `__slots__` must be there before the class is.
    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> "_ValueType":
        own = tuple(field for field, kind in _annotations(body).items() if not _is_class_variable(kind))
        defaults = {field: body.pop(field) for field in own if field in body}
        made = super().__new__(cls, name, bases, {"__slots__": own, "__init__": _first_init, **body})
        above = [base for base in reversed(made.__mro__[1:]) if isinstance(base, _ValueType)]
        made.fields = tuple(dict.fromkeys([*(field for base in above for field in base.fields), *own]))
        made.held = attrgetter(*made.fields or ("__class__",))
        made.defaults = {key: value for base in above for key, value in base.defaults.items()} | defaults
        return made


def _annotations(body: dict[str, Any]) -> dict[str, object]:
    """The annotations of a class body. From Python 3.14 on it holds a function that evaluates them (PEP 649).

    It is called at once, as older versions evaluate: forward references must be quoted on all versions.
    """
    evaluate: Callable[[int], dict[str, object]] | None = body.get("__annotate_func__")
    return body.get("__annotations__", {}) if evaluate is None else evaluate(1)  # 1: annotationlib.Format.VALUE


def _is_class_variable(kind: object) -> bool:
    return "ClassVar" in kind if isinstance(kind, str) else kind is ClassVar or get_origin(kind) is ClassVar


def _first_init(self: "Value", **given: object) -> None:
    """The `__init__` of a class until its first value is created; no subclass may inherit the one compiled for it."""
    kind = type(self)
    kind.__init__ = _compiled_init(kind)
    kind.__init__(self, **given)


class Value(metaclass=_ValueType):
    """The base of all values: immutable, compared and hashed by their fields, created with keyword arguments."""

    hidden: ClassVar[tuple[str, ...]] = ()
    """Fields that `repr` leaves out, because they hold secrets or too much."""

    def __setattr__(self, name: str, value: object) -> Never:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> Never:
        raise AttributeError(f"{type(self).__name__} is immutable: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return type(self).held(self) == type(self).held(other)

    def __hash__(self) -> int:
        return hash((type(self), type(self).held(self)))

    def __repr__(self) -> str:
        fields = (field for field in type(self).fields if field not in type(self).hidden)
        shown = ", ".join(f"{field}={getattr(self, field)!r}" for field in fields)
        return f"{type(self).__name__}({shown})"

    def __reduce__(self) -> tuple[object, ...]:
        kind = type(self)
        return _remade, (kind, tuple(getattr(self, field) for field in kind.fields))

    def __copy__(self) -> Self:
        return self


@dataclass_transform(kw_only_default=True, field_specifiers=(made_by,))
class _RecordType(_ValueType):
    """The same for records."""


class Record(metaclass=_RecordType):
    """The base of records: made like a value, but their fields can be set, and each is equal only to itself."""


_V = TypeVar("_V", bound=Value)


def replace(value: _V, **changes: object) -> _V:
    """A copy with other fields; the new fields are not checked against their types."""
    kind = type(value)
    new = object.__new__(kind)
    for field in kind.fields:
        _set(new, field, changes.pop(field) if field in changes else getattr(value, field))
    if changes:
        raise TypeError(f"{kind.__name__} has no field {next(iter(changes))}")
    return new


def field_names(kind: type[Value]) -> tuple[str, ...]:
    """The fields of a class of values, inherited ones first."""
    return kind.fields


def field_default(kind: type[Value], field: str) -> object:
    """The default of a field; REQUIRED when it has none."""
    default = kind.defaults.get(field, REQUIRED)
    return default.make() if isinstance(default, _Factory) else default


def as_dict(value: Value) -> dict[str, object]:
    """The fields and their contents; nested values, also those in tuples and lists, become dictionaries too."""
    return {field: _plain(getattr(value, field)) for field in type(value).fields}


def _plain(held: object) -> object:
    if isinstance(held, Value):
        return as_dict(held)
    if isinstance(held, tuple | list):
        return [_plain(item) for item in cast("Sequence[object]", held)]
    return held


def _remade(kind: type[_V], held: tuple[object, ...]) -> _V:
    return kind(**dict(zip(kind.fields, held, strict=True)))


def _compiled_init(kind: _ValueType) -> Callable[..., None]:
    """An `__init__` for these fields, the one method worth compiling, as values are created all the time."""
    parameters: list[str] = []
    lines: list[str] = []
    scope: dict[str, object] = {"_set": _set, "_defaults": kind.defaults}
    for field in kind.fields:
        default = kind.defaults.get(field, _set)
        if isinstance(default, _Factory):
            scope[f"_make_{field}"] = default.make
            parameters.append(f"{field}=_set")
            lines.append(f" _set(self, {field!r}, _make_{field}() if {field} is _set else {field})")
        else:
            parameters.append(field if default is _set else f"{field}=_defaults[{field!r}]")
            lines.append(f" _set(self, {field!r}, {field})")
    if hasattr(kind, "__post_init__"):
        lines.append(" self.__post_init__()")
    signature = ", ".join(["self", "*", *parameters]) if parameters else "self"
    exec("\n".join([f"def __init__({signature}):", *(lines or [" pass"])]), scope)  # noqa: S102 - field names only
    return cast("Callable[..., None]", scope["__init__"])
