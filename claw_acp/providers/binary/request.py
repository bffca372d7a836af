"""Requests to a plugin, with the same members in both modes of the protocol."""

import json
from collections.abc import Mapping, Sequence

from claw_acp.contracts.provider import ChatOptions, ChatRequest, OneTool, ToolSpec
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ImagePart, Message, ToolCall
from claw_acp.providers.binary import PLUGIN_DEFAULT
from claw_acp.providers.binary.failures import Failures
from claw_acp.providers.transport.wire import texts_and_images
from claw_acp.telemetry.trace_context import trace_meta

ONLY_ID = 1
"""The id of every one-shot request."""


def chat_params(request: ChatRequest, *, provider: str) -> JsonObject:
    """The `params` of `chat`.

    `stop` and the effort are not part of the protocol. Neither is the tool choice: if no tool may be called none is
    sent, and if one must be, only that one.

    Raises:
        RequestRejected: A part of a message cannot be sent.
    """
    return {
        "messages": [_message(message, provider=provider) for message in request.messages],
        "tools": [_tool(tool) for tool in offered_tools(request)],
        "model": None if request.model in {"", PLUGIN_DEFAULT} else request.model,
        "options": _options(request.options),
        **trace_meta(),
    }


def offered_tools(request: ChatRequest) -> Sequence[ToolSpec]:
    """The tools that the tool choice allows."""
    match request.options.tool_choice:
        case "none":
            return ()
        case OneTool(name=name):
            return [tool for tool in request.tools if tool.name == name]
        case _:
            return request.tools


def request_line(method: str, params: JsonObject, *, request_id: int | None, failures: Failures) -> bytes:
    """A request, or a notification if it has no id, as a line.

    Raises:
        RequestRejected: A part of it cannot be written as JSON.
    """
    head: JsonObject = {"jsonrpc": "2.0"} if request_id is None else {"jsonrpc": "2.0", "id": request_id}
    try:
        return line({**head, "method": method, "params": params})
    except (ValueError, TypeError, RecursionError) as error:
        raise failures.not_serialized(_culprit(params), error) from error


def line(message: JsonObject) -> bytes:
    """A message as one line of UTF-8; lone surrogates become question marks."""
    return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "replace"
    ) + b"\n"  # fmt: skip


def _culprit(params: JsonObject) -> str:
    for key, what in (("messages", "message"), ("tools", "tool definition")):
        try:
            json.dumps(params.get(key), allow_nan=False)
        except (ValueError, TypeError, RecursionError):
            return what
    return "request"


def _message(message: Message, *, provider: str) -> Mapping[str, JsonValue]:
    items = texts_and_images(message.parts, provider=provider)
    body: dict[str, JsonValue] = {
        "role": message.role,
        "content": "".join(item for item in items if isinstance(item, str)),
        "content_parts": [_part(item) for item in items] if any(isinstance(item, ImagePart) for item in items) else [],
    }
    if message.tool_calls:
        body["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    return body


def _part(item: str | ImagePart) -> JsonObject:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    return {"type": "image", "source": {"kind": "base64", "data": item.data}, "media_type": item.mime_type}


def _call(call: ToolCall) -> JsonObject:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def _tool(tool: ToolSpec) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _options(options: ChatOptions) -> JsonObject:
    said: JsonObject = {
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "top_p": options.top_p,
    }
    return {key: value for key, value in said.items() if value is not None}
