"""Reading the arguments that a model wrote for a tool call."""

import json

from claw_acp.core.errors import InvalidArguments
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ToolCall

DEEPEST = 64  # levels; no tool needs more, and what is sent on must fit everybody's JSON parser


def parse_arguments(call: ToolCall) -> JsonObject:
    """The arguments as an object, empty when there are none.

    Raises:
        InvalidArguments: They are no JSON object, or nested too deeply; the model is told instead of getting an empty
            object.
    """
    try:
        arguments: JsonValue = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise InvalidArguments(f"The arguments of {call.name} are not valid JSON: {error}. Send them again.") from error
    if not isinstance(arguments, dict):
        raise InvalidArguments(f"The arguments of {call.name} must be a JSON object.")
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
