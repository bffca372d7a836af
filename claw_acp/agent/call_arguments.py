"""Reading the arguments that a model wrote for a tool call."""

import json

from claw_acp.contracts.expected_arguments import expected_arguments
from claw_acp.core.errors import InvalidArguments
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ToolCall

DEEPEST = 64  # levels; no tool needs more, and what is sent on must fit everybody's JSON parser


def parse_arguments(call: ToolCall, *, schema: JsonObject | None = None) -> JsonObject:
    """The arguments as an object, empty when there are none.

    Args:
        call: The call.
        schema: The schema of its tool, which the model is told if it has to send them again.

    Raises:
        InvalidArguments: They are no JSON object, or nested too deeply, or their text could not be read as a call; the
            model is told instead of getting an empty object.
    """
    expectation = "" if schema is None else f" {call.name} takes {expected_arguments(schema)}."
    if call.problem:
        raise InvalidArguments(call.problem + expectation)
    try:
        arguments: JsonValue = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        problem = f"The arguments of {call.name} are not valid JSON: {error}. Send them again."
        raise InvalidArguments(problem + expectation) from error
    if not isinstance(arguments, dict):
        raise InvalidArguments(f"The arguments of {call.name} must be a JSON object.{expectation}")
    if _deeper_than(DEEPEST, arguments):
        raise InvalidArguments(f"The arguments of {call.name} are nested more than {DEEPEST} levels deep.")
    return arguments


def _deeper_than(limit: int, value: JsonValue) -> bool:
    level: list[JsonValue] = [value]
    for _ in range(limit):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return False
    return True


def _children(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list) else []
