"""A request to OpenAI's chat completions API.

Tool results may hold only text, so images and sound of tools follow in a user message of their own, after the last
result of the round (results must be adjacent).
"""

from collections.abc import Iterator, Sequence

from claw_acp.contracts.provider import AUDIO_TYPES, ChatOptions, ChatRequest, Effort, OneTool, ToolSpec
from claw_acp.contracts.provider_setup import EffortStyle, Quirks
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import AudioPart, Message, TextPart, ToolCall
from claw_acp.core.value import replace
from claw_acp.providers.models.facts import least_effort, thinks_unless_told
from claw_acp.providers.openai.reasoning import sent_back
from claw_acp.providers.transport.cache_marks import marked, takes_marks, wants_marks
from claw_acp.providers.transport.request_parts import CONTINUE, function_rows, given, json_or_empty
from claw_acp.providers.transport.wire import Media, texts_and_media

EXTRA = "extra_content"
"""The member that Google adds to calls in its OpenAI-compatible service, and needs back."""


def chat_completion(request: ChatRequest, *, quirks: Quirks, provider: str) -> JsonObject:
    """The body of `POST /chat/completions`, streaming.

    Raises:
        RequestRejected: A part of a message cannot be sent.
    """
    ordered = _ordered(request.messages, quirks=quirks)
    messages = list(_messages(ordered, quirks=quirks, provider=provider))
    if quirks.cache_marks and takes_marks(request.model) and wants_marks(request, quirks):
        messages = marked(messages)
    effort = request.options.effort
    if effort is None and request.tools and thinks_unless_told(request.model):
        effort = "off"  # with its own effort such a model would take no tools here
    usage = {} if quirks.stream_usage is False else {"stream_options": {"include_usage": True}}
    return {
        "model": request.model,
        "messages": messages,
        "stream": True,
        **usage,
        **_tools(request.tools, options=request.options, quirks=quirks),
        **_options(request.options, quirks=quirks),
        **thinking_wish(effort, model=request.model, style=quirks.effort),
    }


def thinking_wish(effort: Effort | None, *, model: str, style: EffortStyle | None) -> JsonObject:
    """The members that request more, less or no thinking; none without an effort.

    Sources: https://platform.openai.com/docs/guides/reasoning, https://openrouter.ai/docs/use-cases/reasoning-tokens,
    https://api-docs.deepseek.com/guides/thinking_mode, https://docs.z.ai/guides/capabilities/thinking-mode,
    https://platform.kimi.ai/docs/api/models-overview, https://help.aliyun.com/en/model-studio/deep-thinking.
    """
    if effort is None or style == "none":
        return {}
    off = effort == "off"
    switch: JsonObject = {"thinking": {"type": "disabled" if off else "enabled"}}
    match style:
        case "reasoning":
            return {"reasoning": {"effort": "none" if off else effort}}
        case "thinking":
            return switch
        case "thinking_effort":
            return switch if off else {**switch, "reasoning_effort": effort}
        case "enable_thinking":
            return {"enable_thinking": not off}
        case "reasoning_effort" | None:
            word = least_effort(model) if off else effort
            return {} if word is None else {"reasoning_effort": word}


def _tools(tools: Sequence[ToolSpec], *, options: ChatOptions, quirks: Quirks) -> JsonObject:
    if not tools:
        return {}
    streamed = {"tool_stream": True} if quirks.tool_stream else {}
    rows = function_rows(tools)
    match options.tool_choice:
        case "auto":
            return {"tools": rows, **streamed}
        case OneTool(name=name):
            return {"tools": rows, "tool_choice": {"type": "function", "function": {"name": name}}, **streamed}
        case choice:
            return {"tools": rows, "tool_choice": choice, **streamed}


def _options(options: ChatOptions, *, quirks: Quirks) -> JsonObject:
    return given(
        {
            quirks.max_tokens or "max_tokens": options.max_tokens,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "stop": [*options.stop] or None,
        }
    )


def _ordered(messages: Sequence[Message], *, quirks: Quirks) -> Sequence[Message]:
    """The messages in the order of the service: which role begins, and the place of the instructions."""
    if quirks.system is not False and not quirks.user_first:
        return messages
    instructions = [message for message in messages if message.role == "system"]
    said = [message for message in messages if message.role != "system"]
    folded = bool(instructions) and quirks.system is False
    if (folded or quirks.user_first) and not (said and said[0].role == "user"):
        said.insert(0, Message.user(CONTINUE))
    if not folded:
        return (*instructions, *said)
    rules = "\n\n".join(message.text for message in instructions)
    return (replace(said[0], parts=(TextPart(text=f"{rules}\n\n"), *said[0].parts)), *said[1:])


def _messages(messages: Sequence[Message], *, quirks: Quirks, provider: str) -> Iterator[JsonObject]:
    shown: list[JsonValue] = []  # images and sound of tool results, waiting for the end of the round
    for message in messages:
        if message.role != "tool" and shown:
            yield {"role": "user", "content": shown}
            shown = []
        items = texts_and_media(message.parts, provider=provider)
        match message.role:
            case "system":
                yield {"role": "system", "content": _text(items)}
            case "user":
                yield {"role": "user", "content": _content(items)}
            case "assistant":
                yield _assistant(message, text=_text(items), quirks=quirks)
            case "tool":
                yield {"role": "tool", "tool_call_id": message.tool_call_id, "content": _result_text(items)}
                shown += _result_media(message, items=items)
    if shown:
        yield {"role": "user", "content": shown}


def _assistant(message: Message, *, text: str, quirks: Quirks) -> JsonObject:
    body: dict[str, JsonValue] = {"role": "assistant", "content": text or (None if message.tool_calls else "")}
    if message.tool_calls:
        body["tool_calls"] = [_tool_call(call) for call in message.tool_calls]
    return {**body, **sent_back(message, quirks=quirks)}


def _tool_call(call: ToolCall) -> JsonObject:
    function = {"name": call.name, "arguments": json_or_empty(call.arguments)}
    kept = {key: value for key, value in (call.extra or {}).items() if key == EXTRA}
    return {"id": call.id, "type": "function", "function": function, **kept}


def _content(items: Sequence[str | Media]) -> JsonValue:
    """One text as it is; several parts, or images, as an array."""
    if len(items) == 1 and isinstance(items[0], str):
        return items[0]
    return [_part(item) for item in items] if items else ""


def _part(item: str | Media) -> JsonObject:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    if isinstance(item, AudioPart):
        return {"type": "input_audio", "input_audio": {"data": item.data, "format": AUDIO_TYPES[item.mime_type]}}
    return {"type": "image_url", "image_url": {"url": f"data:{item.mime_type};base64,{item.data}"}}


def _text(items: Sequence[str | Media]) -> str:
    return "".join(item for item in items if isinstance(item, str))


def _result_text(items: Sequence[str | Media]) -> str:
    if text := _text(items):
        return text
    heard = any(isinstance(item, AudioPart) for item in items)
    return f"(the {'audio' if heard else 'image'} follows)" if items else "(no output)"


def _result_media(message: Message, *, items: Sequence[str | Media]) -> list[JsonValue]:
    media: list[JsonValue] = [_part(item) for item in items if not isinstance(item, str)]
    if not media:
        return []
    return [_part(f"Returned by {message.tool_name or 'the tool'} ({message.tool_call_id}):"), *media]
