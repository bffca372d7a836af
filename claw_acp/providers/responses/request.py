"""A request to OpenAI's Responses API.

Nothing is stored with the vendor: every request carries the whole conversation, with the model's reasoning encrypted in
its place. Stop sequences are not sent, as this API has none.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

from claw_acp.contracts.provider import ChatOptions, ChatRequest, OneTool, ToolSpec
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ImagePart, Message, ToolCall
from claw_acp.providers.models.facts import known_capabilities, least_effort, thinks_unless_told
from claw_acp.providers.transport.part_order import MarkedText, pieces_in_order
from claw_acp.providers.transport.request_parts import given, instructions, json_or_empty
from claw_acp.providers.transport.wire import object_at, text_at, texts_and_images

ORIGIN = "responses"
"""The wire family of our blocks: see `Reasoning.origin`."""

APART = "\n\n"
"""The separator of two messages, or two parts of a summary, in the visible text."""

LEAST_TOKENS = 16  # of max_output_tokens; the API refuses less
ID_LIMIT = 64  # characters of a call's id that the API takes

_ENCRYPTED: Final = "reasoning.encrypted_content"


def responses_request(request: ChatRequest, *, provider: str, summaries: bool = True) -> JsonObject:
    """The body of `POST /responses`, streaming. `summaries`: whether to request summaries of the thinking.

    Raises:
        RequestRejected: A part of a message cannot be sent.
    """
    system = "\n\n".join(instructions(request.messages))
    body: dict[str, JsonValue] = {
        "model": request.model,
        "input": [item for message in request.messages for item in _items(message, provider=provider)],
        "stream": True,
        "store": False,
        "prompt_cache_key": _conversation(system, request.messages),
    }
    if system:
        body["instructions"] = system
    body |= _tools(request.tools, options=request.options)
    body |= _reasoning(request, summaries=summaries)
    if request.options.max_tokens is not None:
        body["max_output_tokens"] = max(request.options.max_tokens, LEAST_TOKENS)
    if _takes_sampling(request.model, effort=text_at(object_at(body, "reasoning"), "effort")):
        body |= given({"temperature": request.options.temperature, "top_p": request.options.top_p})
    return body


def _conversation(system: str, messages: Sequence[Message]) -> str:
    """A cache key for the conversation that stays the same while its beginning does, for all its turns."""
    first = next((message.text for message in messages if message.role == "user"), "")
    return hashlib.sha256(f"{system}\0{first}".encode("utf-8", "replace")).hexdigest()[:32]


# ------------------------------------------------------------------ options


def _tools(tools: Sequence[ToolSpec], *, options: ChatOptions) -> JsonObject:
    if not tools:
        return {}
    rows = [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            "strict": False,  # strict is the default here, and demands schemas that few tools have
        }
        for tool in tools
    ]
    match options.tool_choice:
        case "auto":
            return {"tools": rows}
        case OneTool(name=name):
            return {"tools": rows, "tool_choice": {"type": "function", "name": name}}
        case choice:
            return {"tools": rows, "tool_choice": choice}


def _reasoning(request: ChatRequest, *, summaries: bool) -> JsonObject:
    """Effort and summaries, for models that think: others refuse them."""
    known = known_capabilities(request.model)
    wished = request.options.effort
    effort = least_effort(request.model) if wished == "off" else wished
    if not known.thinking and (known.context_window or effort is None):
        return {}
    reasoning: dict[str, JsonValue] = {}
    if effort is not None:
        reasoning["effort"] = effort
    if summaries and wished != "off":
        reasoning["summary"] = "auto"
    return {"include": [_ENCRYPTED], "reasoning": reasoning} if reasoning else {"include": [_ENCRYPTED]}


def _takes_sampling(model: str, *, effort: str) -> bool:
    """True if a model accepts temperature and top_p: OpenAI's own do without thinking, and others always.

    Source: https://developers.openai.com/api/docs/guides/latest-model#gpt-54-parameter-compatibility.
    """
    least = least_effort(model)
    if least is None or "gpt-oss" in model:
        return True
    return effort == "none" or (not effort and least == "none" and not thinks_unless_told(model))


# ------------------------------------------------------------------ messages


def _items(message: Message, *, provider: str) -> Iterator[JsonObject]:
    items = texts_and_images(message.parts, provider=provider)
    match message.role:
        case "system":
            return
        case "user":
            if items:
                yield {"type": "message", "role": "user", "content": [_content(item) for item in items]}
        case "assistant":
            yield from _answer(message, text="".join(item for item in items if isinstance(item, str)))
        case "tool":
            yield {
                "type": "function_call_output",
                "call_id": _acceptable_id(message.tool_call_id or ""),
                "output": _output(items),
            }


def _answer(message: Message, *, text: str) -> Iterator[JsonObject]:
    for piece in pieces_in_order(message, text=text, origin=ORIGIN):
        match piece:
            case str():
                if piece.strip():
                    yield _said(piece.removesuffix(APART))
            case ToolCall():
                yield _call(piece)
            case MarkedText(mark=mark, text=part) if "encrypted_content" in mark.kept:
                thought = mark.thought
                summary = [{"type": "summary_text", "text": thought}] if thought else []
                yield {"type": "reasoning", "summary": summary, **mark.kept}
                if part:
                    yield _said(part)
            case MarkedText(mark=mark, text=part):
                if part.strip():
                    yield {**_said(part), **mark.kept}


def _said(text: str) -> JsonObject:
    return {"type": "message", "role": "assistant", "content": text}


def _call(call: ToolCall) -> JsonObject:
    return {
        "type": "function_call",
        "call_id": _acceptable_id(call.id),
        "name": call.name,
        "arguments": json_or_empty(call.arguments),
    }


def _output(items: Sequence[str | ImagePart]) -> JsonValue:
    """Text alone as it is; with images, a list of parts."""
    if any(isinstance(item, ImagePart) for item in items):
        return [_content(item) for item in items]
    return "".join(item for item in items if isinstance(item, str)) or "(no output)"


def _content(item: str | ImagePart) -> JsonObject:
    if isinstance(item, str):
        return {"type": "input_text", "text": item}
    return {"type": "input_image", "image_url": f"data:{item.mime_type};base64,{item.data}", "detail": "auto"}


def _acceptable_id(call_id: str) -> str:
    """The id in the length that the API accepts; other vendors write longer ones."""
    if len(call_id) <= ID_LIMIT:
        return call_id
    return "call_" + hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:32]
