"""The pieces of one streamed answer, joined."""

import json
from dataclasses import dataclass, field
from typing import cast

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.verify.pattern import mismatch


@dataclass(slots=True)
class _Call:
    id: JsonValue = None
    name: JsonValue = None
    arguments: list[str] = field(default_factory=list[str])


class Deltas:
    """The deltas that `chat/delta` brought for one request."""

    def __init__(self, request_id: JsonValue) -> None:
        self.request_id = request_id
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._calls: dict[int, _Call] = {}

    def add(self, delta: JsonObject) -> str | None:
        """Add a piece; returns its fault, or None."""
        match delta:
            case {"type": "text", "text": str(text)}:
                self._text.append(text)
            case {"type": "thought", "text": str(text)}:
                self._thoughts.append(text)
            case {"type": "tool_call", "index": int(index)}:
                call = self._calls.setdefault(index, _Call())
                call.id = delta.get("id", call.id)
                call.name = delta.get("name", call.name)
                arguments = delta.get("arguments", "")
                if not isinstance(arguments, str):
                    return "the arguments of a tool_call delta are no text"
                call.arguments.append(arguments)
            case _:
                return "a chat/delta has a type of text or thought with `text`, or tool_call with `index`"
        return None

    def contradiction(self, result: JsonObject) -> str | None:
        """The difference between the result and the pieces; None if there is none, or there were no pieces."""
        if self._text and "".join(self._text) != result.get("content"):
            return "the text deltas do not make up the content of the result"
        reasoning = result.get("reasoning")
        if self._thoughts and reasoning is not None and "".join(self._thoughts) != reasoning:
            return "the thought deltas do not make up the reasoning of the result"
        if self._thoughts and reasoning is None:
            return "there were thought deltas, and the result has no reasoning"
        called = result.get("tool_calls")
        calls = [_called(call) for call in called] if isinstance(called, list) else []
        streamed = [self._as_json(call) for _, call in sorted(self._calls.items())]
        if self._calls and streamed != calls:
            return f"the tool_call deltas make up {streamed}, and the tool calls of the result are {calls}"
        return None

    def mismatch(self, pattern: JsonValue) -> str | None:
        """The difference between the pieces and the pattern of a vector; None if they match."""
        if pattern is None:
            return "there are deltas and should be none" if self._text or self._thoughts or self._calls else None
        said: dict[str, JsonValue] = {
            "text": "".join(self._text),
            "thought": "".join(self._thoughts),
            "calls": [self._as_json(call) for _, call in sorted(self._calls.items())],
        }
        return mismatch(pattern, cast("JsonValue", said), place="deltas")

    @staticmethod
    def _as_json(call: _Call) -> JsonObject:
        return {"id": call.id, "name": call.name, "arguments": _arguments("".join(call.arguments))}


def _called(call: JsonValue) -> JsonObject:
    """A tool call of a result, with its arguments parsed."""
    row = call if isinstance(call, dict) else {}
    return {"id": row.get("id"), "name": row.get("name"), "arguments": _arguments(row.get("arguments", "{}"))}


def _arguments(said: JsonValue) -> JsonValue:
    if not isinstance(said, str):
        return said
    try:
        return cast("JsonValue", json.loads(said or "{}"))
    except (ValueError, RecursionError):
        return said
