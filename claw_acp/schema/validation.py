"""Wire models from JSON values: the readers of a model are derived from its annotations when it is first read."""

from collections.abc import Iterator, Mapping
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin

from claw_acp.core.value import REQUIRED, Value, field_default
from claw_acp.schema.base import Wire, wire_key
from claw_acp.schema.reading import INVALID, OMITTED, Fault, Reader, Reading, failed, quoted

W = TypeVar("W", bound=Wire)


class ValidationError(ValueError):
    """A value does not fit its model."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(faults)
        self.faults = faults


def validate(model: type[W], value: object) -> W:
    """The model made of `value`.

    Raises:
        ValidationError: The value does not fit; it holds all faults.
    """
    reading = Reading()
    made = reader(model)(value, reading)
    if reading.faults:
        raise ValidationError(reading.faults)
    return made


class Field(Value):
    """A field of a model: its name here, its key on the wire, its annotation."""

    name: str
    key: str
    annotation: Any
    required: bool


@cache
def wire_fields(model: type[Wire]) -> tuple[Field, ...]:
    """The fields of a model, inherited ones first."""
    annotations: dict[str, Any] = {}
    for base in reversed(model.__mro__):
        annotations |= base.__annotations__ if base is not object else {}
    return tuple(
        Field(
            name=name,
            key=wire_key(name),
            annotation=annotations[name],
            required=field_default(model, name) is REQUIRED,
        )
        for name in model.fields
    )


# ------------------------------------------------------------------ annotations


def reader(annotation: Any) -> Reader:  # noqa: ANN401 - any annotation of a field
    """The reader for values of this type."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Wire):
        return _object(annotation)
    arguments = get_args(annotation)
    match get_origin(annotation):
        case origin if origin is Annotated:
            source, *marks = arguments
            made = reader(source)
            for mark in marks:
                made = mark.around(made, source, reader)
            return made
        case origin if origin is Union or origin is UnionType:
            return _union([member for member in arguments if member is not NoneType], nullable=NoneType in arguments)
        case origin if origin is tuple:
            return _array(reader(arguments[0]))
        case origin if origin is dict or origin is Mapping:
            return _mapping(reader(arguments[1]))
        case origin if origin is Literal:
            return _one_of(arguments)
        case _:
            raise TypeError(f"no reader for {annotation!r}")


def _exactly(kind: type, text: str) -> Reader:
    def read(value: object, reading: Reading) -> object:
        return value if type(value) is kind else reading.fault(text)

    return read


def _number(value: object, reading: Reading) -> object:
    if type(value) is not int and type(value) is not float:
        return reading.fault("must be a number")
    try:
        number = float(value)
    except OverflowError:
        return reading.fault("must be a finite number")
    return number if isfinite(number) else reading.fault("must be a finite number")


_PLAIN: Final[Mapping[Any, Reader]] = {
    Any: lambda value, _: value,
    str: _exactly(str, "must be a string"),
    bool: _exactly(bool, "must be true or false"),
    int: _exactly(int, "must be an integer"),
    float: _number,
}


def _one_of(values: tuple[str, ...]) -> Reader:
    known = ", ".join(values)

    def read(value: object, reading: Reading) -> object:
        if isinstance(value, str) and value in values:
            return value
        return reading.fault(f"{quoted(value)} is not one of {known}")

    return read


def _union(members: list[Any], *, nullable: bool) -> Reader:
    """The first member that fits; when none does, the faults are those of the first."""
    first, *others = map(reader, members)

    def read(value: object, reading: Reading) -> object:
        if value is None and nullable:
            return None
        for other in (first, *others) if others else ():
            invalid, result = failed(other, value, reading)
            if not invalid:
                return result
        return first(value, reading)

    return read


def _array(element: Reader) -> Reader:
    def read(value: object, reading: Reading) -> object:
        if not isinstance(value, list | tuple):
            return reading.fault("must be an array")
        found: list[object] = []
        for index, item in enumerate(cast("list[object]", value)):
            reading.path.append(index)
            result = element(item, reading)
            reading.path.pop()
            if result is not OMITTED:
                found.append(result)
        return tuple(found)

    return read


def _mapping(inner: Reader) -> Reader:
    def read(value: object, reading: Reading) -> object:
        if not isinstance(value, dict):
            return reading.fault("must be an object")
        found: dict[str, object] = {}
        for key, item in cast("dict[str, object]", value).items():
            reading.path.append(key)
            found[key] = inner(item, reading)
            reading.path.pop()
        return found

    return read


@cache
def _object(model: type[Wire]) -> Reader:
    fields: list[tuple[Field, Reader]] = []  # filled at first use, since most nested models are never met

    def read(value: object, reading: Reading) -> object:
        if not isinstance(value, Mapping):
            return reading.fault("must be an object")
        if not fields:
            fields.extend((field, reader(field.annotation)) for field in wire_fields(model))
        given = cast("Mapping[str, object]", value)
        before = len(reading.faults)
        found: dict[str, Any] = dict(_held(fields, given, reading))
        if reading.exact:
            known = {field.key for field, _ in fields} | {field.name for field, _ in fields}
            reading.unknown += [(*reading.path, key) for key in given if key not in known]
        if len(reading.faults) > before:
            return INVALID
        made = model(**found)
        conflict = made.conflict()
        return reading.fault(conflict) if conflict else made

    return read


def _held(
    fields: list[tuple[Field, Reader]], given: Mapping[str, object], reading: Reading
) -> Iterator[tuple[str, object]]:
    for field, read in fields:
        key = field.key if field.key in given else field.name
        if key in given:
            reading.path.append(field.key)
            yield field.name, read(given[key], reading)
            reading.path.pop()
        elif field.required:
            reading.fault("is missing", field.key)
