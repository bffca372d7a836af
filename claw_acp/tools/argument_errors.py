"""Descriptions of wrong arguments that a model can act on: the argument, the valid values, the value received."""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

from claw_acp.contracts.expected_arguments import expected, named_properties
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
            return f"{name} is missing, it must be {expected(_node(schema, location))}"
        case "extra_forbidden":
            return _unknown(name, str(location[-1]), _node(schema, location[:-1]))
        case "value_error":
            return f"{name}: {detail['msg'].removeprefix('Value error, ')}"
        case "string_unicode":
            return f"{name} contains half a surrogate pair, which is not a character"
        case _:
            return f"{name} must be {expected(_node(schema, location))}, got {_shown(detail['input'])}"


def _name(location: Sequence[int | str]) -> str:
    """`edits[0].old_text` in backquotes."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return f"`{steps.removeprefix('.')}`" if steps else "the arguments"


def _node(schema: JsonObject, location: Sequence[int | str]) -> JsonObject:
    node: JsonObject = schema
    for step in location:
        inner: object = node.get("items") if isinstance(step, int) else named_properties(node).get(step)
        if not isinstance(inner, Mapping):
            return {}
        node = cast("JsonObject", inner)
    return node


def _unknown(name: str, wrong: str, parent: JsonObject) -> str:
    valid = list(named_properties(parent))
    near = get_close_matches(wrong, valid, n=1, cutoff=0.5)
    if near:
        return f"{name} is not an argument, did you mean `{near[0]}`?"
    return f"{name} is not an argument, valid ones are {', '.join(f'`{item}`' for item in valid)}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= MAX_SHOWN_VALUE else f"{text[:MAX_SHOWN_VALUE]}…"
