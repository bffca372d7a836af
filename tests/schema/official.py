"""Bridges between the official schema and our models, for the tests of this directory."""

import functools
import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, cast

import claw_acp.schema
from claw_acp.schema.base import Wire
from tests.schema.examples import EXAMPLES
from tests.support.judges.official_definitions import BY_TAG, OfficialSchema, Schema, applying


@functools.cache
def modules() -> tuple[ModuleType, ...]:
    """All modules of the package."""
    found = pkgutil.iter_modules(claw_acp.schema.__path__, "claw_acp.schema.")
    return tuple(import_module(module.name) for module in found)


def our(name: str) -> Any:
    """What we have under an official name (a class, or the alias of a union or an enumeration), or None."""
    return next((vars(module)[name] for module in modules() if name in vars(module)), None)


def our_model(name: str) -> type[Wire] | None:
    """The model of this name."""
    found = our(name)
    return found if isinstance(found, type) and issubclass(found, Wire) else None


@functools.cache
def harvest() -> dict[str, list[Any]]:
    """Every value in the golden examples, by the official definitions it is a value of."""
    schema = OfficialSchema.load(unstable=True)
    names = {id(definition): name for name, definition in schema.definitions.items()}
    found: dict[str, list[Any]] = defaultdict(list)
    todo: list[tuple[Schema, Any]] = [
        (schema.definitions[name], value) for name, values in EXAMPLES.items() for value in values
    ]
    while todo:
        node, value = todo.pop()
        name = names.get(id(node))
        if name is not None and value is not None:
            found[name].append(value)
        todo += inside(node, value)
    return dict(found)


def inside(node: Schema, value: Any) -> Iterator[tuple[Schema, Any]]:
    """The subschemas that apply to this value or to a part of it, each with what it applies to."""
    for part in applying(node, value):
        yield part, value
    if isinstance(value, dict):
        others = node.get("additionalProperties")
        for key, inner in cast("dict[str, Any]", value).items():
            schema = node.get("properties", {}).get(key, others)
            if isinstance(schema, dict):
                yield cast("Schema", schema), inner
    elif isinstance(value, list) and "items" in node:
        yield from ((node["items"], inner) for inner in cast("list[Any]", value))


def tags(schema: Schema) -> dict[str, Schema]:
    """Members of a union by their tag; empty if the definition is no such union."""
    return schema.get(BY_TAG, {}).get("members", {})
