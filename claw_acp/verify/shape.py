"""Whether a value has exactly the shape the protocol gives it: our wire models without their leniency.

The models forgive what the protocol asks a reader to forgive (a malformed optional value counts as absent, a bad array
element is left out). A checker must see just these faults, so each model gets a twin in which nothing is forgiven and
unknown keys are kept, to be named.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from claw_acp.schema.base import EmptyOnError, OmitOnError, OnError, Variants, Wire
from claw_acp.schema.invalid import describe_invalid

_FORGIVING = (OnError, EmptyOnError, OmitOnError, BeforeValidator)
_CONTAINERS: frozenset[Any] = frozenset({tuple, dict})
_CHOSEN = 2  # pydantic's mark of a name that was given, not generated


def problems(model: type[Wire], value: object, *, what: str) -> str:
    """What is wrong with a value that should be of this model, in one sentence; empty when nothing is."""
    try:
        strict_twin(model).model_validate(value)
    except ValidationError as error:
        return describe_invalid(error, what)
    return ""


def unknown_keys(model: type[Wire], value: object) -> list[str]:
    """Paths of the keys that the protocol does not define, in a value without other problems."""
    try:
        parsed = strict_twin(model).model_validate(value)
    except ValidationError:
        return []
    return list(_extras(parsed, ""))


@functools.cache
def strict_twin(model: type[Wire]) -> type[Wire]:
    """The same model with nothing forgiven; it keeps unknown keys."""
    hints = get_type_hints(model, include_extras=True)
    body: dict[str, Any] = {
        "__module__": model.__module__,
        "__annotations__": {name: _strict(hint) for name, hint in hints.items() if name in model.model_fields},
        "model_config": ConfigDict(extra="allow"),
        **{name: _default(field) for name, field in model.model_fields.items() if not field.is_required()},
    }
    kind: Any = type(model)
    return kind(model.__name__, (model,), body)


def _default(field: FieldInfo) -> object:
    """The same default, under the same name on the wire."""
    named: dict[str, Any] = {}
    if field.alias_priority == _CHOSEN:
        named = {"validation_alias": field.validation_alias, "serialization_alias": field.serialization_alias}
    if field.default_factory is not None:
        return Field(default_factory=cast("Callable[[], object]", field.default_factory), **named)
    return Field(default=field.default, **named)


def _strict(hint: object) -> object:
    """An annotation with its leniency taken off, and strict twins for models."""
    if isinstance(hint, type):
        return strict_twin(hint) if issubclass(hint, Wire) else cast("object", hint)
    origin: Any = get_origin(hint)
    arguments: tuple[Any, ...] = get_args(hint)
    if origin is Annotated:
        kept = [_strict_mark(mark) for mark in arguments[1:] if not isinstance(mark, _FORGIVING)]
        inner = _strict(arguments[0])
        return Annotated[inner, *kept] if kept else inner
    if origin in {Union, UnionType}:
        return Union[tuple(_strict(argument) for argument in arguments)]  # noqa: UP007 - the members are not known here
    if origin in _CONTAINERS and arguments:
        return origin[tuple(argument if argument is Ellipsis else _strict(argument) for argument in arguments)]
    return hint


def _strict_mark(mark: object) -> object:
    if isinstance(mark, Variants) and mark.otherwise is not None:
        return Variants(mark.tag, otherwise=strict_twin(mark.otherwise))
    return mark


def _extras(value: object, path: str) -> Iterator[str]:
    if isinstance(value, Wire):
        for key in value.model_extra or {}:
            yield f"{path}.{key}" if path else key
        fields = type(value).model_fields
        for name in fields:
            inner = f"{path}.{fields[name].alias or name}" if path else fields[name].alias or name
            yield from _extras(getattr(value, name), inner)
    elif isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, object]", value).items():
            yield from _extras(inner, f"{path}.{key}")
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for index, inner in enumerate(cast("Sequence[object]", value)):
            yield from _extras(inner, f"{path}[{index}]")
