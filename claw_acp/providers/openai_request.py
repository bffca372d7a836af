"""A request in the words of OpenAI's chat completions API.

Tool results may hold only text there, so images a tool returned follow in a user message of their own, after the last
result of the round (results must stand together).
"""

import json
from collections.abc import Iterator, Sequence
from typing import Literal

from claw_acp.contracts.provider import ChatOptions, ChatRequest, OneTool, ToolSpec
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ImagePart, Message, ToolCall
from claw_acp.core.value import Value
from claw_acp.providers.model_facts import least_effort
from claw_acp.providers.wire import texts_and_images

EXTRA = "extra_content"
"""What Google adds to the calls of its OpenAI-compatible service, to be sent back."""

ReasoningField = Literal["reasoning_content", "reasoning"]


class Dialect(Value):
    """Where services of this family differ.

    `max_tokens_field` names the limit. `reasoning_field` is where earlier thinking is sent back; None where it is not
    wanted, which is everywhere but at the services that ask for it.
    """

    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    reasoning_field: ReasoningField | None = None


_OPENAI = Dialect(max_tokens_field="max_completion_tokens")
_REPLAYS_REASONING = Dialect(reasoning_field="reasoning_content")
_DIALECTS = {
    "api.openai.com": _OPENAI,
    "api.deepseek.com": _REPLAYS_REASONING,
    "api.moonshot.ai": _REPLAYS_REASONING,
    "api.moonshot.cn": _REPLAYS_REASONING,
    "api.kimi.com": _REPLAYS_REASONING,
    "api.z.ai": _REPLAYS_REASONING,
    "open.bigmodel.cn": _REPLAYS_REASONING,
    "openrouter.ai": Dialect(reasoning_field="reasoning"),
}
_COMMON = Dialect()


def dialect_of(host: str) -> Dialect:
    """The dialect spoken at a host name."""
    return _DIALECTS.get(host.lower(), _COMMON)


def chat_completion(request: ChatRequest, *, dialect: Dialect, provider: str) -> JsonObject:
    """The body of `POST /chat/completions`, streaming.

    Raises:
        RequestRejected: A part of a message cannot be sent.
    """
    return {
        "model": request.model,
        "messages": list(_messages(request.messages, dialect=dialect, provider=provider)),
        "stream": True,
        "stream_options": {"include_usage": True},
        **_tools(request.tools, options=request.options),
        **_options(request.options, model=request.model, dialect=dialect),
    }


def _tools(tools: Sequence[ToolSpec], *, options: ChatOptions) -> JsonObject:
    if not tools:
        return {}
    rows = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]
    match options.tool_choice:
        case "auto":
            return {"tools": rows}
        case OneTool(name=name):
            return {"tools": rows, "tool_choice": {"type": "function", "function": {"name": name}}}
        case choice:
            return {"tools": rows, "tool_choice": choice}


def _options(options: ChatOptions, *, model: str, dialect: Dialect) -> JsonObject:
    body: dict[str, JsonValue] = {}
    if options.max_tokens is not None:
        body[dialect.max_tokens_field] = options.max_tokens
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.top_p is not None:
        body["top_p"] = options.top_p
    if options.stop:
        body["stop"] = list(options.stop)
    effort = least_effort(model) if options.effort == "off" else options.effort
    if effort is not None:
        body["reasoning_effort"] = effort
    return body


def _messages(messages: Sequence[Message], *, dialect: Dialect, provider: str) -> Iterator[JsonObject]:
    shown: list[JsonValue] = []  # images of tool results, waiting for the end of the round
    for message in messages:
        if message.role != "tool" and shown:
            yield {"role": "user", "content": shown}
            shown = []
        items = texts_and_images(message.parts, provider=provider)
        match message.role:
            case "system":
                yield {"role": "system", "content": _text(items)}
            case "user":
                yield {"role": "user", "content": _content(items)}
            case "assistant":
                yield _assistant(message, text=_text(items), dialect=dialect)
            case "tool":
                yield {"role": "tool", "tool_call_id": message.tool_call_id, "content": _result_text(items)}
                shown += _result_images(message, items=items)
    if shown:
        yield {"role": "user", "content": shown}


def _assistant(message: Message, *, text: str, dialect: Dialect) -> JsonObject:
    body: dict[str, JsonValue] = {"role": "assistant", "content": text or (None if message.tool_calls else "")}
    if message.tool_calls:
        body["tool_calls"] = [_tool_call(call) for call in message.tool_calls]
    thinking = "".join(block.text for block in message.reasoning)
    if dialect.reasoning_field is not None and thinking:
        body[dialect.reasoning_field] = thinking
    return body


def _tool_call(call: ToolCall) -> JsonObject:
    function = {"name": call.name, "arguments": _arguments(call.arguments)}
    kept = {key: value for key, value in (call.extra or {}).items() if key == EXTRA}
    return {"id": call.id, "type": "function", "function": function, **kept}


def _arguments(text: str) -> str:
    """The model's own words if they are JSON; services refuse a history with anything else."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return "{}"
    return text


def _content(items: Sequence[str | ImagePart]) -> JsonValue:
    """One text as it is; several parts, or images, as an array."""
    if len(items) == 1 and isinstance(items[0], str):
        return items[0]
    return [_part(item) for item in items] if items else ""


def _part(item: str | ImagePart) -> JsonObject:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    return {"type": "image_url", "image_url": {"url": f"data:{item.mime_type};base64,{item.data}"}}


def _text(items: Sequence[str | ImagePart]) -> str:
    return "".join(item for item in items if isinstance(item, str))


def _result_text(items: Sequence[str | ImagePart]) -> str:
    return _text(items) or ("(the image follows)" if items else "(no output)")


def _result_images(message: Message, *, items: Sequence[str | ImagePart]) -> list[JsonValue]:
    images: list[JsonValue] = [_part(item) for item in items if isinstance(item, ImagePart)]
    if not images:
        return []
    return [_part(f"Returned by {message.tool_name or 'the tool'} ({message.tool_call_id}):"), *images]
