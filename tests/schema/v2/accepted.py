"""What we accept of protocol 2: our models by their official names, and the values of the golden examples."""

import functools
import pkgutil
from collections import defaultdict
from importlib import import_module
from typing import Any

import claw_acp.schema
import claw_acp.schema.v2
from claw_acp.schema.base import Wire
from tests.schema.official import inside
from tests.schema.v2.examples import EXAMPLES
from tests.support.judges.official_definitions import OfficialSchema, Schema

OTHER_NAMES = {"CancelledPermissionOutcome": "OtherPermissionOutcome"}
"""Ours, where one model stands for several official ones."""


def schema() -> OfficialSchema:
    """The measure: the unstable schema holds all of the stable one."""
    return OfficialSchema.load(2, unstable=True)


@functools.cache
def our_model(name: str) -> type[Wire] | None:
    """The model of an official name: that of protocol 2 if it has one of its own, else that of protocol 1."""
    name = OTHER_NAMES.get(name, name)
    for package in (claw_acp.schema.v2, claw_acp.schema):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            found = vars(import_module(module.name)).get(name)
            if isinstance(found, type) and issubclass(found, Wire):
                return found
    return None


@functools.cache
def harvest() -> dict[str, list[Any]]:
    """Every value in the examples, by the official definitions it is a value of."""
    names = {id(definition): name for name, definition in schema().definitions.items()}
    found: dict[str, list[Any]] = defaultdict(list)
    todo: list[tuple[Schema, Any]] = [
        (schema().definitions[name], value) for name, values in EXAMPLES.items() for value in values
    ]
    while todo:
        node, value = todo.pop()
        name = names.get(id(node))
        if name is not None and value is not None:
            found[name].append(value)
        todo += inside(node, value)
    return dict(found)
