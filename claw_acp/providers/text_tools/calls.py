"""Tool calls and their results as text, for models without native tools: one JSON object between two markers."""

import json

from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import ContentPart, Message, TextPart, ToolCall

OPEN = "<tool_call>"
CLOSE = "</tool_call>"


def written_call(call: ToolCall) -> str:
    """A call in the form a model writes it. Arguments that are no JSON become a string."""
    try:
        arguments: JsonValue = _strict(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = call.arguments
    return f'{OPEN}\n{{"name": {dumped(call.name)}, "arguments": {dumped(arguments)}}}\n{CLOSE}'


def written_result(message: Message) -> list[ContentPart]:
    """The result of a call between markers; images stay separate.

    A file or page could hold the closing marker to pass for a user message, so there it is altered.
    """
    status = "error" if message.failed else "ok"
    inner = [
        TextPart(text=part.text.replace("</tool_result", "<\\/tool_result")) if isinstance(part, TextPart) else part
        for part in message.parts
    ]
    opening = f"<tool_result name={dumped(message.tool_name or '')} status={dumped(status)}>\n"
    return [TextPart(text=opening), *inner, TextPart(text="\n</tool_result>\n")]


def _strict(text: str) -> JsonValue:
    return json.loads(text, parse_constant=_no_number)


def _no_number(word: str) -> JsonValue:
    raise ValueError(f"{word} is no JSON")


def dumped(value: JsonValue) -> str:
    """The value as JSON that can be sent."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can carry
        return json.dumps(value)
    return text
