"""Tool calls in text: one JSON object between two markers, parsed from a model's answer and written back to it.

An unreadable call is a call too, with its apparent name and the model's own text as its arguments: the tool runner
reports that these are no JSON object, and the model can correct it. Nothing is ever guessed.
"""

import json
import re
from collections.abc import Callable, Iterator

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ContentPart, Message, TextPart, ToolCall

OPEN = "<tool_call>"
CLOSE = "</tool_call>"
UNNAMED = "unnamed_call"
LONGEST_NAME = 128  # characters; vendors take 64

_NAME = re.compile(r'"name"\s*:\s*"([^"\\]*)"')
_BETWEEN = re.compile(r"[\s,]*")


def read_calls(text: str, *, new_id: Callable[[], str]) -> list[ToolCall]:
    """The calls in the text between two markers: one for each object, or one for an unreadable text.

    Args:
        text: One JSON object with `name` and `arguments`; some models write several, one after the other.
        new_id: Returns the id of a call.
    """
    try:
        return [_call(value, new_id=new_id) for value in _objects(text)]
    except (ValueError, RecursionError):
        name = _NAME.search(text)
        arguments = _dumped(text) if _is_object(text) else text
        return [ToolCall(id=new_id(), name=_usable(name and name[1]) or UNNAMED, arguments=arguments)]


def written_call(call: ToolCall) -> str:
    """A call in the form a model writes it. Arguments that are no JSON become a string."""
    try:
        arguments: JsonValue = _strict(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = call.arguments
    return f'{OPEN}\n{{"name": {_dumped(call.name)}, "arguments": {_dumped(arguments)}}}\n{CLOSE}'


def written_result(message: Message) -> list[ContentPart]:
    """The result of a call between markers; images stay separate.

    A file or page could hold the closing marker to pass for a user message, so there it is altered.
    """
    status = "error" if message.failed else "ok"
    inner = [
        TextPart(text=part.text.replace("</tool_result", "<\\/tool_result")) if isinstance(part, TextPart) else part
        for part in message.parts
    ]
    opening = f"<tool_result name={_dumped(message.tool_name or '')} status={_dumped(status)}>\n"
    return [TextPart(text=opening), *inner, TextPart(text="\n</tool_result>\n")]


def _objects(text: str) -> Iterator[JsonObject]:
    decoder = json.JSONDecoder(strict=False, parse_constant=_no_number)  # line breaks in strings are a common slip
    start = _end_of_gap(text, 0)
    while start < len(text):
        value, end = decoder.raw_decode(text, start)
        if not isinstance(value, dict):
            raise ValueError("not an object")  # noqa: TRY004 - the text is wrong, not our types
        yield value  # pyright: ignore[reportUnknownVariableType]
        start = _end_of_gap(text, end)


def _end_of_gap(text: str, start: int) -> int:
    gap = _BETWEEN.match(text, start)
    return gap.end() if gap else start


def _call(value: JsonObject, *, new_id: Callable[[], str]) -> ToolCall:
    """The call of one object; its arguments are named as requested, or as Llama models learnt it.

    Raises:
        ValueError: Its members are ambiguous.
    """
    key = next((key for key in ("arguments", "parameters") if key in value), None)
    if key is None and len(value) > 1:
        raise ValueError("arguments outside of `arguments`")
    arguments = value[key] if key else None
    name = value.get("name")
    return ToolCall(
        id=new_id(),
        name=_usable(name if isinstance(name, str) else None) or UNNAMED,
        arguments=arguments if isinstance(arguments, str) else _dumped({} if arguments is None else arguments),
    )


def _usable(name: str | None) -> str:
    name = (name or "").strip()
    return name if len(name) <= LONGEST_NAME and name.isprintable() else ""


def _is_object(text: str) -> bool:
    """True if the text could be the arguments of a tool."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _strict(text: str) -> JsonValue:
    return json.loads(text, parse_constant=_no_number)


def _no_number(word: str) -> JsonValue:
    raise ValueError(f"{word} is no JSON")


def _dumped(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can carry
        return json.dumps(value)
    return text
