"""A request to Amazon Bedrock's Converse API.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html. Roles alternate, the
results of one round of calls share one user message, and members for one maker's models are separate.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final
from urllib.parse import quote

from claw_acp.contracts.provider import ChatOptions, ChatRequest, OneTool, ToolSpec
from claw_acp.contracts.provider_setup import NO_QUIRKS, Quirks
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ImagePart, Message, Reasoning
from claw_acp.providers.anthropic.request import DEFAULT_MAX_TOKENS, asked_thinking
from claw_acp.providers.bedrock.models import CachePlaces, cache_places, is_claude, is_nova_2, shows_in_results
from claw_acp.providers.models.facts import takes_sampling, thinking_style
from claw_acp.providers.transport.cache_marks import wants_marks
from claw_acp.providers.transport.request_parts import Block, Turn, alternating, given, instructions
from claw_acp.providers.transport.wire import arguments_object, texts_and_images

ORIGIN = "bedrock"
"""The wire family whose API verifies our signatures: see `Reasoning.origin`."""

PLAIN_MAX_TOKENS = 4_096  # the most that the Claude models without thinking may say
ID_LIMIT = 64  # characters of a call's id

_CACHE_POINT: Final[Block] = {"cachePoint": {"type": "default"}}
_FOREIGN_ID: Final = re.compile(r"[^a-zA-Z0-9_.:-]")
_NO_OUTPUT: Final[Block] = {"text": "(no output)"}


def converse_path(model: str) -> str:
    """The path of a streamed request: an id, or an ARN with its `:` and `/`, as one segment."""
    return f"/model/{quote(model, safe='-_.~')}/converse-stream"


def converse_body(request: ChatRequest, *, provider: str, quirks: Quirks = NO_QUIRKS) -> JsonObject:
    """The body of `POST /model/{id}/converse-stream`.

    Raises:
        RequestRejected: A part of a message cannot be sent.
    """
    places = cache_places(request.model) if wants_marks(request, quirks) else "nowhere"
    blocks = partial(_blocks, model=request.model, provider=provider)
    turns = alternating(request.messages, blocks, result="toolResult")
    fields = _fields(request, turns=turns)
    body: dict[str, JsonValue] = {}
    system: list[JsonObject] = [{"text": text} for text in instructions(request.messages)]
    if system:
        body["system"] = [*system, _CACHE_POINT] if places != "nowhere" else system
    tools = _tools(request, turns=turns, cached=places == "everywhere" and not system)
    if tools:
        body["toolConfig"] = tools
    _mark_end(turns[-1][1], places=places)
    body["messages"] = [{"role": role, "content": blocks} for role, blocks in turns]
    inference = _inference(request, fields=fields)
    if inference:
        body["inferenceConfig"] = inference
    if fields:
        body["additionalModelRequestFields"] = fields
    return body


def _mark_end(blocks: list[Block], *, places: CachePlaces) -> None:
    """Put a cache point after the conversation so far, if the model accepts it there."""
    allowed = places == "everywhere" or (places == "text" and all("text" in block for block in blocks))
    if allowed and "reasoningContent" not in blocks[-1]:
        blocks.append(_CACHE_POINT)


# ------------------------------------------------------------------ options


def _inference(request: ChatRequest, *, fields: JsonObject) -> JsonObject:
    options, model = request.options, request.model
    most = options.max_tokens
    if most is None and is_claude(model):  # else the model's own limit is taken from the account's quota
        most = PLAIN_MAX_TOKENS if thinking_style(model) == "none" else DEFAULT_MAX_TOKENS
    sampled = not (is_claude(model) and ("thinking" in fields or not takes_sampling(model)))
    temperature = None if options.temperature is None else min(options.temperature, 1.0)
    return given(
        {
            "maxTokens": most,
            "temperature": temperature if sampled else None,
            "topP": options.top_p if sampled else None,
            "stopSequences": [*options.stop] or None,
        }
    )


def _fields(request: ChatRequest, *, turns: Sequence[Turn]) -> JsonObject:
    """The members that request thinking in the form of the model's maker; empty if that is not known.

    Source: https://docs.aws.amazon.com/bedrock/latest/userguide/inference-reasoning.html. For Nova 2 "high" would
    forbid a limit of the answer and a temperature, so "medium" is the most requested.
    """
    effort, model = request.options.effort, request.model
    if is_claude(model):
        return asked_thinking(request, begun_without=_round_began_without_thinking(turns))
    if effort is None:
        return {}
    if "gpt-oss" in model.lower():
        return {"reasoning_effort": "low" if effort == "off" else effort}
    if is_nova_2(model) and effort != "off":
        return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low" if effort == "low" else "medium"}}
    return {}


def _round_began_without_thinking(turns: Sequence[Turn]) -> bool:
    """True if results answer a message that has no thinking, by another model or with thinking off."""
    if len(turns) < 2 or "toolResult" not in turns[-1][1][0]:
        return False
    return "reasoningContent" not in turns[-2][1][0]


def _tools(request: ChatRequest, *, turns: Sequence[Turn], cached: bool) -> JsonObject:
    """The tools; if there are none now but the conversation has calls, their names, without which it is refused."""
    options = request.options
    used = _names_used(turns)
    if not request.tools or (options.tool_choice == "none" and not used):
        return {"tools": [_stub(name) for name in used]} if used else {}
    rows: list[JsonObject] = [_tool(tool) for tool in request.tools]
    choice = _choice(options)
    return {"tools": [*rows, _CACHE_POINT] if cached else rows, **({"toolChoice": choice} if choice else {})}


def _tool(tool: ToolSpec) -> JsonObject:
    about = {"description": tool.description} if tool.description else {}
    return {"toolSpec": {"name": tool.name, **about, "inputSchema": {"json": tool.parameters}}}


def _stub(name: str) -> JsonObject:
    return {"toolSpec": {"name": name, "description": "No longer there.", "inputSchema": {"json": {"type": "object"}}}}


def _choice(options: ChatOptions) -> JsonObject:
    match options.tool_choice:
        case OneTool(name=name):
            return {"tool": {"name": name}}
        case "required":
            return {"any": {}}
        case _:
            return {}


def _names_used(turns: Sequence[Turn]) -> list[str]:
    calls = (block.get("toolUse") for _, blocks in turns for block in blocks)
    return list(dict.fromkeys(str(call["name"]) for call in calls if isinstance(call, Mapping)))


# ------------------------------------------------------------------ messages


def _blocks(message: Message, *, model: str, provider: str) -> Iterator[Block]:
    if message.role == "tool":
        yield from _result(message, model=model, provider=provider)
        return
    for block in message.reasoning:
        yield from _reasoning(block)
    yield from _content(message, provider=provider)
    for call in message.tool_calls:
        given = arguments_object(call.arguments)
        yield {"toolUse": {"toolUseId": _acceptable_id(call.id), "name": call.name, "input": given}}


def _reasoning(block: Reasoning) -> Iterator[Block]:
    """The thinking that was signed here; that of another service's model would be refused."""
    if block.origin != ORIGIN:
        return
    if block.redacted is not None:
        yield {"reasoningContent": {"redactedContent": block.redacted}}
    elif block.signature is not None:
        yield {"reasoningContent": {"reasoningText": {"text": block.text, "signature": block.signature}}}


def _content(message: Message, *, provider: str) -> Iterator[Block]:
    for item in texts_and_images(message.parts, provider=provider):
        if isinstance(item, ImagePart):
            yield {"image": {"format": item.mime_type.partition("/")[2], "source": {"bytes": item.data}}}
        elif item.strip():  # blank text is refused
            yield {"text": item}


def _result(message: Message, *, model: str, provider: str) -> Iterator[Block]:
    """The result of a tool; its images come after it for models that cannot see them inside."""
    content = list(_content(message, provider=provider))
    whole = shows_in_results(model)
    inside = [block for block in content if whole or "text" in block]
    result: Block = {"toolUseId": _acceptable_id(message.tool_call_id or ""), "content": inside or [_NO_OUTPUT]}
    if whole:
        result["status"] = "error" if message.failed else "success"
    yield {"toolResult": result}
    yield from (block for block in content if block not in inside)


def _acceptable_id(call_id: str) -> str:
    """The id in the characters and the length that the API accepts; other services use more of both."""
    text = _FOREIGN_ID.sub("_", call_id)
    if len(text) <= ID_LIMIT:
        return text or "_"
    return hashlib.sha256(call_id.encode()).hexdigest()[:ID_LIMIT]
