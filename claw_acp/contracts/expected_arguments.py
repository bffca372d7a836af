"""A tool's schema in words: what its arguments must be."""

import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

from claw_acp.core.json_value import JsonObject

MOST_NAMED: Final = 24  # arguments; a model that needs more of them has the schema itself


def expected_arguments(schema: JsonObject) -> str:
    """The arguments that a tool takes, in a sentence without its end."""
    properties = named_properties(schema)
    required = schema.get("required")
    needed = required if isinstance(required, Sequence) else ()
    words = [
        f"`{name}` ({expected(node)}{'' if name in needed else ', optional'})"
        for name, node in list(properties.items())[:MOST_NAMED]
        if isinstance(cast("object", node), Mapping)
    ]
    return f"an object with {', '.join(words)}" if words else "an object"


def named_properties(node: JsonObject) -> Mapping[str, JsonObject]:
    """The members that a schema names."""
    properties = node.get("properties")
    return cast("Mapping[str, JsonObject]", properties) if isinstance(properties, Mapping) else {}


def expected(node: JsonObject) -> str:
    """The value that a schema without references describes."""
    choices = node.get("enum")
    if isinstance(choices, Sequence):
        return f"one of {', '.join(json.dumps(choice) for choice in choices)}"
    match node.get("type"):
        case "integer":
            return "a whole number" + _range(node.get("minimum"), node.get("maximum"))
        case "number":
            return "a number" + _range(node.get("minimum"), node.get("maximum"))
        case "boolean":
            return "true or false"
        case "string":
            return _length("text", "character", node.get("minLength"), node.get("maxLength"))
        case "array":
            return _length("a list", "entry", node.get("minItems"), node.get("maxItems"))
        case "object":
            return f"an object with {', '.join(f'`{name}`' for name in named_properties(node))}"
        case _:
            return "something else"


def _range(least: object, most: object) -> str:
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f" >= {least}"
    return f" <= {most}" if most is not None else ""


def _length(what: str, unit: str, least: object, most: object) -> str:
    units = "entries" if unit == "entry" else f"{unit}s"
    bounds = [f"at least {least} {unit if least == 1 else units}"] if least else []
    if most is not None:
        bounds.append(f"at most {most} {units}")
    return f"{what} of {' and '.join(bounds)}" if bounds else what
