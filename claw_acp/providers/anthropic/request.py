"""A request to Anthropic's Messages API.

System messages are separate, roles must alternate, and all results of one round of tool calls come first in one user
message. Cache marks go on the repeated parts: the system prompt (after the tools) and the conversation so far, and on
the end of the previous request if many calls have carried it out of reach; together fewer than the limit of four.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from claw_acp.contracts.provider import ChatOptions, ChatRequest, Effort, OneTool, ToolChoice, ToolSpec
from claw_acp.contracts.provider_setup import NO_QUIRKS, Quirks
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ImagePart, Message, Reasoning
from claw_acp.providers.models.facts import takes_sampling, thinking_style
from claw_acp.providers.transport.cache_marks import wants_marks
from claw_acp.providers.transport.request_parts import Block, Turn, alternating, given, instructions
from claw_acp.providers.transport.wire import arguments_object, texts_and_images

ORIGIN = "anthropic"
"""The wire family whose API verifies our signatures: see `Reasoning.origin`."""

DEFAULT_MAX_TOKENS = 16_000
LEAST_BUDGET = 1_024  # tokens; the API refuses less
ROOM_TO_ANSWER = 1_024  # tokens of max_tokens that thinking must leave

LOOKBACK = 20  # blocks before a mark in which the API looks for what was cached before

_BUDGETS: Final[Mapping[Effort, int]] = {"low": 2_048, "medium": 6_000, "high": 12_000}
_MARK: Final[JsonObject] = {"cache_control": {"type": "ephemeral"}}
_TOOL_CHOICES: Final[Mapping[ToolChoice, JsonObject]] = {"none": {"type": "none"}, "required": {"type": "any"}}
_UNCACHEABLE = frozenset({"thinking", "redacted_thinking"})
_FOREIGN_ID = re.compile(r"[^a-zA-Z0-9_-]")


def messages_request(request: ChatRequest, *, provider: str, quirks: Quirks = NO_QUIRKS) -> JsonObject:
    """The body of `POST /v1/messages`, streaming.

    Raises:
        RequestRejected: A part of a message cannot be sent.
    """
    turns = alternating(request.messages, partial(_blocks, provider=provider), result="tool_result")
    marks = wants_marks(request, quirks)
    if marks:
        _mark_ends(turns)
    body: dict[str, JsonValue] = {
        "model": request.model,
        "max_tokens": request.options.max_tokens or DEFAULT_MAX_TOKENS,
        "stream": True,
        "messages": [{"role": role, "content": blocks} for role, blocks in turns],
    }
    system = instructions(request.messages)
    if system:
        body["system"] = [{"type": "text", "text": "\n\n".join(system), **(_MARK if marks else {})}]
    body |= _tools(request.tools, options=request.options, cached=marks and not system)
    thinking = asked_thinking(request, begun_without=_round_began_without_thinking(turns))
    body |= thinking
    body |= _sampling(request, thinks=bool(thinking))
    return body


# ------------------------------------------------------------------ options


def _tools(tools: Sequence[ToolSpec], *, options: ChatOptions, cached: bool) -> JsonObject:
    if not tools:
        return {}
    rows: list[Block] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in tools
    ]
    if cached:
        rows[-1] |= _MARK
    wanted = options.tool_choice
    choice = {"type": "tool", "name": wanted.name} if isinstance(wanted, OneTool) else _TOOL_CHOICES.get(wanted)
    return {"tools": rows} if choice is None else {"tools": rows, "tool_choice": choice}


def asked_thinking(request: ChatRequest, *, begun_without: bool) -> JsonObject:
    """The members that request thinking, if the API allows it: not with a forced tool, nor in a round `begun_without`.

    They are the same wherever these models are served.
    """
    effort = request.options.effort
    style = thinking_style(request.model)
    if effort is None or effort == "off" or style == "none":
        return {}
    if request.options.tool_choice not in {"auto", "none"} or begun_without:
        return {}
    if style == "adaptive":
        return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": effort}}
    most = (request.options.max_tokens or DEFAULT_MAX_TOKENS) - ROOM_TO_ANSWER
    budget = min(_BUDGETS[effort], most)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= LEAST_BUDGET else {}


def _round_began_without_thinking(turns: Sequence[Turn]) -> bool:
    """True if tool results answer a message that has no thinking, by another model or with thinking off."""
    if len(turns) < 2 or turns[-1][1][0]["type"] != "tool_result":
        return False
    return turns[-2][1][0]["type"] not in _UNCACHEABLE


def _sampling(request: ChatRequest, *, thinks: bool) -> JsonObject:
    """The sampling options that the model accepts; thinking fixes the temperature."""
    options = request.options
    sampled = takes_sampling(request.model) and not thinks
    temperature = None if options.temperature is None else min(options.temperature, 1.0)
    return given(
        {
            "temperature": temperature if sampled else None,
            "top_p": options.top_p if sampled else None,
            "stop_sequences": [*options.stop] or None,
        }
    )


# ------------------------------------------------------------------ messages


def _mark_ends(turns: Sequence[Turn]) -> None:
    """Put a cache mark on the last block, and on that of the previous request if ours would not reach it."""
    for _, blocks in turns[-3::2] if _far_from_last_mark(turns) else turns[-1:]:
        if blocks[-1]["type"] not in _UNCACHEABLE:
            blocks[-1] |= _MARK


def _far_from_last_mark(turns: Sequence[Turn]) -> bool:
    """True if the end of the previous request's messages is out of reach of a mark at our end."""
    return len(turns) >= 3 and len(turns[-2][1]) + len(turns[-1][1]) >= LOOKBACK


def _blocks(message: Message, *, provider: str) -> Iterator[Block]:
    if message.role == "tool":
        yield _tool_result(message, provider=provider)
        return
    for block in message.reasoning:
        yield from _reasoning(block)
    yield from _content(message, provider=provider)
    for call in message.tool_calls:
        yield {
            "type": "tool_use",
            "id": _acceptable_id(call.id),
            "name": call.name,
            "input": arguments_object(call.arguments),
        }


def _reasoning(block: Reasoning) -> Iterator[Block]:
    """The thinking that the API can verify; it would refuse that of another vendor's model."""
    if block.origin not in {"", ORIGIN}:
        return
    if block.redacted is not None:
        yield {"type": "redacted_thinking", "data": block.redacted}
    elif block.signature is not None:
        yield {"type": "thinking", "thinking": block.text, "signature": block.signature}


def _content(message: Message, *, provider: str) -> Iterator[Block]:
    for item in texts_and_images(message.parts, provider=provider):
        if isinstance(item, ImagePart):
            source = {"type": "base64", "media_type": item.mime_type, "data": item.data}
            yield {"type": "image", "source": source}
        elif item.strip():  # the API refuses blank text
            yield {"type": "text", "text": item}


def _tool_result(message: Message, *, provider: str) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": _acceptable_id(message.tool_call_id or "")}
    content = list(_content(message, provider=provider))
    if content:
        block["content"] = content
    if message.failed:
        block["is_error"] = True
    return block


def _acceptable_id(call_id: str) -> str:
    """The id in the characters that the API accepts; other vendors use more of them."""
    return _FOREIGN_ID.sub("_", call_id)
