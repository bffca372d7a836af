"""The answer of Anthropic's Messages API, parsed from its stream."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from claw_acp.contracts.provider import CallChunk, ChatResponse, StreamEvent, TextChunk, ThoughtChunk
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ModelStop, Reasoning, ToolCall, Usage
from claw_acp.providers.anthropic.request import ORIGIN
from claw_acp.providers.transport.answer_parser import Handler, TypedEventParser, interrupted
from claw_acp.providers.transport.wire import malformed, number_at, object_at, text_at

_STOPS: Final[Mapping[str, ModelStop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "pause_turn": "end",  # only the vendor's own server tools pause, and none is asked for
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}
_USAGE_FIELDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


@dataclass(slots=True)
class _Block:
    """A content block whose deltas are still arriving."""

    kind: str
    text: list[str] = field(default_factory=list[str])
    signature: list[str] = field(default_factory=list[str])
    redacted: str = ""
    id: str = ""
    name: str = ""
    place: int = 0  # among the calls
    input: JsonObject = field(default_factory=dict[str, str])


class AnthropicStream(TypedEventParser):
    """Parses one stream; see `AnswerParser`."""

    def __init__(self, *, provider: str, model: str, secrets: Sequence[str] = ()) -> None:
        super().__init__(provider=provider, model=model, secrets=secrets)
        self._blocks: dict[int, _Block] = {}
        self._counts: dict[str, int] = {}
        self._stop: str | None = None
        self._handlers: Mapping[str, Handler] = {
            "message_start": self._message_started,
            "content_block_start": self._block_started,
            "content_block_delta": self._block_delta,
            "content_block_stop": self._block_stopped,
            "message_delta": self._message_delta,
            "message_stop": self._message_stopped,
            "error": self._failed,
        }

    def response(self) -> ChatResponse:
        """The whole answer."""
        if not self.done and self._stop is None:
            raise interrupted(self._provider, model=self._model)
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        text = "".join("".join(block.text) for block in blocks if block.kind == "text")
        calls = tuple(_call(block) for block in blocks if block.kind == "tool_use")
        reasoning = tuple(_reasoning(block) for block in blocks if block.kind in ("thinking", "redacted_thinking"))
        return self._answer(text=text, calls=calls, reasoning=reasoning, stop=_STOPS.get(self._stop or "", "end"))

    # ------------------------------------------------------------------ one event

    def _message_started(self, message: JsonObject, events: list[StreamEvent]) -> None:  # noqa: ARG002 - one shape
        self._count(object_at(object_at(message, "message"), "usage"))

    def _block_started(self, message: JsonObject, events: list[StreamEvent]) -> None:
        content = object_at(message, "content_block")
        block = _Block(kind=text_at(content, "type"))
        if block.kind == "tool_use":
            block.id, block.name = text_at(content, "id"), text_at(content, "name")
            block.input = object_at(content, "input")
            if not block.id or not block.name:
                raise malformed("a tool call without a name or id", provider=self._provider)
            block.place = sum(known.kind == "tool_use" for known in self._blocks.values())
            self._tell(block, "", events)
        elif block.kind == "redacted_thinking":
            block.redacted = text_at(content, "data")
        self._blocks[number_at(message, "index")] = block
        if text_at(content, "signature"):
            block.signature.append(text_at(content, "signature"))
        if block.kind in ("text", "thinking"):  # usually empty here, but nothing forbids a beginning
            self._say(block, text_at(content, block.kind), events)

    def _tell(self, block: _Block, arguments: str, events: list[StreamEvent]) -> None:
        if block.kind == "tool_use":
            events.append(CallChunk(index=block.place, name=block.name, arguments=arguments))

    def _block_delta(self, message: JsonObject, events: list[StreamEvent]) -> None:
        block = self._blocks.get(number_at(message, "index"))
        if block is None:
            raise malformed("a piece of a content block that never began", provider=self._provider)
        delta = object_at(message, "delta")
        match delta.get("type"):
            case "text_delta":
                self._say(block, text_at(delta, "text"), events)
            case "thinking_delta":
                self._say(block, text_at(delta, "thinking"), events)
            case "input_json_delta":
                block.text.append(text_at(delta, "partial_json"))
                self._tell(block, text_at(delta, "partial_json"), events)
            case "signature_delta":
                block.signature.append(text_at(delta, "signature"))
            case _:
                pass  # citations and what later versions add

    def _block_stopped(self, message: JsonObject, events: list[StreamEvent]) -> None:
        block = self._blocks.get(number_at(message, "index"))
        if block is not None and (block.signature or block.redacted):
            signature = "".join(block.signature) or None
            events.append(ThoughtChunk(text="", signature=signature, redacted=block.redacted or None, origin=ORIGIN))

    def _say(self, block: _Block, text: str, events: list[StreamEvent]) -> None:
        if text:
            block.text.append(text)
            events.append(TextChunk(text=text) if block.kind == "text" else ThoughtChunk(text=text))

    def _message_delta(self, message: JsonObject, events: list[StreamEvent]) -> None:
        delta = object_at(message, "delta")
        self._stop = text_at(delta, "stop_reason") or self._stop
        self._count(object_at(message, "usage"))
        why = text_at(object_at(delta, "stop_details"), "explanation")
        if why and not any(block.text for block in self._blocks.values() if block.kind == "text"):
            said = _Block(kind="text")  # a refusal without a word would leave people guessing
            self._blocks[max(self._blocks, default=-1) + 1] = said
            self._say(said, why, events)

    def _message_stopped(self, message: JsonObject, events: list[StreamEvent]) -> None:  # noqa: ARG002 - one shape
        self.done = True

    def _failed(self, message: JsonObject, events: list[StreamEvent]) -> None:  # noqa: ARG002 - one shape
        raise self._refusal(message.get("error"))

    # ------------------------------------------------------------------ usage

    def _count(self, usage: JsonObject) -> None:
        """Store the counts; they are totals so far, and later ones replace them."""
        for name in _USAGE_FIELDS:
            if isinstance(usage.get(name), int):
                self._counts[name] = number_at(usage, name)
        if self._counts:
            uncached, output, read, written = (self._counts.get(name, 0) for name in _USAGE_FIELDS)
            self.usage = Usage(
                input_tokens=uncached + read + written,
                output_tokens=output,
                cached_read_tokens=read,
                cached_write_tokens=written,
            )


def _call(block: _Block) -> ToolCall:
    arguments = "".join(block.text) or (json.dumps(block.input) if block.input else "{}")
    return ToolCall(id=block.id, name=block.name, arguments=arguments)


def _reasoning(block: _Block) -> Reasoning:
    if block.kind == "redacted_thinking":
        return Reasoning(text="", redacted=block.redacted, origin=ORIGIN)
    signature = "".join(block.signature) or None
    return Reasoning(text="".join(block.text), signature=signature, origin=ORIGIN if signature else "")
