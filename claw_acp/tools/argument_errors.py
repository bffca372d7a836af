"""Descriptions of wrong arguments that a model can act on: the argument, the valid values, the value received."""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from claw_acp.core.json_value import JsonObject

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

MAX_PROBLEMS = 5
MAX_SHOWN_VALUE = 80  # characters of a wrong value that are repeated


def explain(error: "ValidationError", *, tool: str, schema: JsonObject) -> str:
    """One sentence that names every wrong argument, up to five. `schema` is the tool's, without references."""
    details = error.errors(include_url=False)
    problems = [_problem(detail, schema) for detail in details[:MAX_PROBLEMS]]
    if len(details) > MAX_PROBLEMS:
        problems.append(f"and {len(details) - MAX_PROBLEMS} more problems")
    return f"{tool} cannot be called like this: {'; '.join(problems)}."


def _problem(detail: "ErrorDetails", schema: JsonObject) -> str:
    location = detail["loc"]
    name = _name(location)
    match detail["type"]:
        case "missing":
            return f"{name} is missing, it must be {_expected(_node(schema, location))}"
        case "extra_forbidden":
            return _unknown(name, str(location[-1]), _node(schema, location[:-1]))
        case "value_error":
            return f"{name}: {detail['msg'].removeprefix('Value error, ')}"
        case "string_unicode":
            return f"{name} contains half a surrogate pair, which is not a character"
        case _:
            return f"{name} must be {_expected(_node(schema, location))}, got {_shown(detail['input'])}"


def _name(location: Sequence[int | str]) -> str:
    """`edits[0].old_text` in backquotes."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return f"`{steps.removeprefix('.')}`" if steps else "the arguments"


def _node(schema: JsonObject, location: Sequence[int | str]) -> JsonObject:
    node: JsonObject = schema
    for step in location:
        inner: object = node.get("items") if isinstance(step, int) else _properties(node).get(step)
        if not isinstance(inner, Mapping):
            return {}
        node = cast("JsonObject", inner)
    return node


def _properties(node: JsonObject) -> Mapping[str, JsonObject]:
    return cast("Mapping[str, JsonObject]", node.get("properties", {}))


def _unknown(name: str, wrong: str, parent: JsonObject) -> str:
    valid = list(_properties(parent))
    near = get_close_matches(wrong, valid, n=1, cutoff=0.5)
    if near:
        return f"{name} is not an argument, did you mean `{near[0]}`?"
    return f"{name} is not an argument, valid ones are {', '.join(f'`{item}`' for item in valid)}"


def _expected(node: JsonObject) -> str:
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
            return f"an object with {', '.join(f'`{name}`' for name in _properties(node))}"
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


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= MAX_SHOWN_VALUE else f"{text[:MAX_SHOWN_VALUE]}…"
