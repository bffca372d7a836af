"""The answer of Amazon Bedrock's Converse API, parsed from its stream.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from claw_acp.contracts.provider import CallChunk, ChatResponse, StreamEvent, TextChunk, ThoughtChunk
from claw_acp.core.errors import ProviderError
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ModelStop, Reasoning, ToolCall, Usage
from claw_acp.net.event_stream import EventMessage, EventStreamDecoder
from claw_acp.providers.bedrock.request import ORIGIN
from claw_acp.providers.transport.answer_parser import AnswerParser, Handler, interrupted
from claw_acp.providers.transport.wire import malformed, number_at, object_at, parsed, text_at

_STOPS: Final[Mapping[str, ModelStop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "guardrail_intervened": "refusal",
    "content_filtered": "refusal",
    "malformed_model_output": "end",  # what there is of an answer is shown; none at all is tried again
    "malformed_tool_use": "end",
}
_STATUSES: Final = {
    "validationException": 400,
    "accessDeniedException": 403,
    "resourceNotFoundException": 404,
    "modelTimeoutException": 408,
    "modelStreamErrorException": 500,  # 424 in the documentation, and to be tried again
    "throttlingException": 429,
    "internalServerException": 500,
    "serviceUnavailableException": 503,
}


@dataclass(slots=True)
class _Block:
    """A content block whose deltas are still arriving."""

    text: list[str] = field(default_factory=list[str])
    thinking: list[str] = field(default_factory=list[str])
    input: list[str] = field(default_factory=list[str])
    signature: str = ""
    redacted: str = ""
    id: str = ""
    name: str = ""
    place: int = 0  # among the calls


class BedrockStream(AnswerParser):
    """Parses one stream; see `AnswerParser`.

    The answer is complete with the event that counts its tokens; a stream that ends between the stop and that event is
    complete too.
    """

    def __init__(self, *, provider: str, model: str, secrets: Sequence[str] = ()) -> None:
        super().__init__(provider=provider, model=model, secrets=secrets)
        self._decoder = EventStreamDecoder(provider=provider)
        self._blocks: dict[int, _Block] = {}
        self._stop: str | None = None
        self._handlers: Mapping[str, Handler] = {
            "contentBlockStart": self._block_started,
            "contentBlockDelta": self._block_delta,
            "contentBlockStop": self._block_stopped,
            "messageStop": self._message_stopped,
            "metadata": self._counted,
        }

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """See `AnswerParser`."""
        events: list[StreamEvent] = []
        for message in self._decoder.feed(data):
            self._message(message, events)
            if self.done:
                break
        return events

    def response(self) -> ChatResponse:
        """The whole answer."""
        if self._stop is None or self._decoder.halfway:
            raise interrupted(self._provider)
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        text = "".join("".join(block.text) for block in blocks)
        calls = tuple(
            ToolCall(id=block.id, name=block.name, arguments="".join(block.input) or "{}")
            for block in blocks
            if block.name
        )
        reasoning = tuple(_reasoning(block) for block in blocks if block.thinking or block.signature or block.redacted)
        return self._answer(text=text, calls=calls, reasoning=reasoning, stop=_STOPS.get(self._stop, "end"))

    # ------------------------------------------------------------------ one message

    def _message(self, message: EventMessage, events: list[StreamEvent]) -> None:
        headers = message.headers
        match headers.get(":message-type", "event"):
            case "exception":
                raise self._failed(headers.get(":exception-type", ""), message.payload.decode("utf-8", "replace"))
            case "error":
                raise self._failed(headers.get(":error-code", ""), headers.get(":error-message", ""))
            case _:
                handle = self._handlers.get(headers.get(":event-type", ""))
                if handle is not None:
                    handle(parsed(message.payload.decode("utf-8", "replace"), provider=self._provider), events)

    def _block_started(self, event: JsonObject, events: list[StreamEvent]) -> None:
        block = self._block(event)
        call = object_at(object_at(event, "start"), "toolUse")
        if call:
            block.id, block.name = text_at(call, "toolUseId"), text_at(call, "name")
            if not block.id or not block.name:
                raise malformed("a tool call without a name or id", provider=self._provider)
            block.place = sum(bool(known.name) for known in self._blocks.values()) - 1
            events.append(CallChunk(index=block.place, name=block.name))

    def _block_delta(self, event: JsonObject, events: list[StreamEvent]) -> None:
        block, delta = self._block(event), object_at(event, "delta")
        if text := text_at(delta, "text"):
            block.text.append(text)
            events.append(TextChunk(text=text))
        if "toolUse" in delta:
            if not block.name:
                raise malformed("a piece of a tool call that never began", provider=self._provider)
            block.input.append(text_at(object_at(delta, "toolUse"), "input"))
            events.append(CallChunk(index=block.place, name=block.name, arguments=block.input[-1]))
        reasoning = object_at(delta, "reasoningContent")
        if thought := text_at(reasoning, "text"):
            block.thinking.append(thought)
            events.append(ThoughtChunk(text=thought))
        block.signature += text_at(reasoning, "signature")
        block.redacted += text_at(reasoning, "redactedContent")

    def _block_stopped(self, event: JsonObject, events: list[StreamEvent]) -> None:
        block = self._block(event)
        if block.signature or block.redacted:
            signature, redacted = block.signature or None, block.redacted or None
            events.append(ThoughtChunk(text="", signature=signature, redacted=redacted, origin=ORIGIN))

    def _message_stopped(self, event: JsonObject, events: list[StreamEvent]) -> None:  # noqa: ARG002 - one shape
        self._stop = text_at(event, "stopReason")

    def _counted(self, event: JsonObject, events: list[StreamEvent]) -> None:  # noqa: ARG002 - one shape
        counts = object_at(event, "usage")
        read, written = number_at(counts, "cacheReadInputTokens"), number_at(counts, "cacheWriteInputTokens")
        self.usage = Usage(
            input_tokens=number_at(counts, "inputTokens") + read + written,
            output_tokens=number_at(counts, "outputTokens"),
            cached_read_tokens=read,
            cached_write_tokens=written,
        )
        self.done = self._stop is not None

    def _block(self, event: JsonObject) -> _Block:
        """The block an event belongs to; text blocks begin without a start event."""
        index = number_at(event, "contentBlockIndex")
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = _Block()
        return block

    def _failed(self, kind: str, payload: str) -> ProviderError:
        words = payload
        if payload.lstrip().startswith("{"):
            said = parsed(payload, provider=self._provider)
            words = text_at(said, "message") or text_at(said, "Message")
        code = str(_STATUSES.get(kind[:1].lower() + kind[1:], 500))
        return self._refusal({"message": words, "type": kind, "code": code})


def _reasoning(block: _Block) -> Reasoning:
    if block.redacted:
        return Reasoning(text="", redacted=block.redacted, origin=ORIGIN)
    signature = block.signature or None
    return Reasoning(text="".join(block.thinking), signature=signature, origin=ORIGIN if signature else "")
