"""Parsing the answers of a plugin: valid, tolerated and invalid forms.

The rules are those of the one-shot protocol; the session protocol adds `reasoning` and `stopReason`, which one-shot
plugins may send as well.
"""

import json
from collections.abc import Mapping
from typing import cast

from claw_acp.contracts.provider import ChatResponse
from claw_acp.core.errors import ProviderError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ModelStop, Reasoning, ToolCall, Usage
from claw_acp.core.value import Value
from claw_acp.providers.binary.failures import Failures
from claw_acp.providers.transport.surrogates import mended
from claw_acp.providers.transport.wire import counted

_STOPS: Mapping[object, ModelStop] = {
    "end": "end", "tool_calls": "tool_calls", "max_tokens": "max_tokens", "refusal": "refusal"
}  # fmt: skip


class Unreadable(ValueError):
    """A line is no JSON-RPC response; the text says why."""


def _no_number(name: str) -> JsonValue:
    raise Unreadable(f"{name} is no JSON")


_decode = json.JSONDecoder(parse_constant=_no_number).decode


class ErrorObject(Value):
    """The error of a response. `retry_after` is in seconds."""

    code: int
    message: str
    retry_after: float | None = None

    def to_error(self, failures: Failures) -> ProviderError:
        """The error of ours for it."""
        return failures.refused(self.code, self.message, retry_after=self.retry_after)


class Reply(Value):
    """A response: `error` wins over `result`; with neither, `result` is None."""

    id: int | None
    result: JsonValue = None
    error: ErrorObject | None = None


def read_object(frame: bytes) -> JsonObject:
    """The JSON object of a line; bytes that are no UTF-8 become U+FFFD.

    Raises:
        Unreadable: It is something else.
    """
    try:
        value: JsonValue = _decode(frame.decode("utf-8", "replace"))
    except RecursionError as error:
        raise Unreadable("nested too deeply") from error
    except Unreadable:
        raise
    except ValueError as error:
        raise Unreadable("not JSON") from error
    if not isinstance(value, dict):
        raise Unreadable("expected an object")
    return value


def read_reply(message: JsonObject) -> Reply:
    """Parse a response. Unknown members are ignored.

    Raises:
        Unreadable: `jsonrpc` is no string, `id` no unsigned integer, or `error` no error object.
    """
    if not isinstance(message.get("jsonrpc"), str):
        raise Unreadable("`jsonrpc` must be a string" if "jsonrpc" in message else "missing field `jsonrpc`")
    reply_id = message.get("id")
    if reply_id is not None and not _unsigned(reply_id):
        raise Unreadable("`id` must be an unsigned integer or null")
    error = message.get("error")
    return Reply(
        id=cast("int | None", reply_id),
        result=message.get("result"),
        error=None if error is None else _error_object(error),
    )


def read_response(result: JsonValue) -> ChatResponse:
    """The answer in a result.

    Raises:
        Unreadable: `content` is no string, `usage` no usage, or the result no object.
    """
    if not isinstance(result, dict):
        raise Unreadable("`result` must be an object")
    content = result.get("content")
    if not isinstance(content, str):
        raise Unreadable("`result.content` must be a string" if "content" in result else "missing field `content`")
    calls = tool_calls(result.get("tool_calls"))
    thinking = result.get("reasoning")
    stop = result.get("stopReason")
    return ChatResponse(
        text=mended(content),
        tool_calls=calls,
        reasoning=(Reasoning(text=mended(thinking)),) if isinstance(thinking, str) and thinking else (),
        usage=_usage(result.get("usage")),
        stop=_STOPS.get(stop if isinstance(stop, str) else None, "tool_calls" if calls else "end"),
    )


def tool_calls(value: JsonValue) -> tuple[ToolCall, ...]:
    """The valid calls; duplicate ids are made unique."""
    if not isinstance(value, list):
        return ()
    calls: list[ToolCall] = []
    taken: set[str] = set()
    for entry in value:
        call = _call(entry)
        if call is not None:
            call_id = _free(call.id, taken=taken)
            taken.add(call_id)
            calls.append(ToolCall(id=call_id, name=call.name, arguments=call.arguments))
    return tuple(calls)


def _call(entry: JsonValue) -> ToolCall | None:
    if not isinstance(entry, dict):
        return None
    name, call_id, arguments = entry.get("name"), entry.get("id"), entry.get("arguments")
    if not isinstance(name, str) or not isinstance(call_id, str | None):
        return None
    if arguments is None:
        text = "{}"
    elif isinstance(arguments, str):
        text = arguments
    else:
        text = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    return ToolCall(id="call_0" if call_id is None else call_id, name=name, arguments=text)


def _free(wanted: str, *, taken: set[str]) -> str:
    free, number = wanted, 1
    while free in taken:
        number += 1
        free = f"{wanted}-{number}"
    return free


def _usage(value: JsonValue) -> Usage | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Unreadable("`usage` must be an object")
    counts = [value.get(key, 0) for key in ("input_tokens", "output_tokens")]
    if not all(_unsigned(count) for count in counts):
        raise Unreadable("the counters of `usage` must be unsigned integers")
    sent, received = map(counted, counts)
    return Usage(input_tokens=sent, output_tokens=received)


def _error_object(value: JsonValue) -> ErrorObject:
    if not isinstance(value, dict):
        raise Unreadable("`error` must be an object")
    code, message, data = value.get("code"), value.get("message"), value.get("data")
    if not isinstance(code, int) or isinstance(code, bool) or not isinstance(message, str):
        raise Unreadable("`error` must have an integer `code` and a string `message`")
    wish = data.get("retryAfter") if isinstance(data, dict) else None
    seconds = float(wish) if isinstance(wish, int | float) and not isinstance(wish, bool) and 0 <= wish < 1e9 else None
    return ErrorObject(code=code, message=message, retry_after=seconds)


def _unsigned(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
