"""The answer of Google's Gemini API, parsed from its stream.

Every event is a `GenerateContentResponse` with the next parts; the end of the answer is the end of the body.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Final

from claw_acp.contracts.provider import ChatResponse, StreamEvent, TextChunk, ThoughtChunk
from claw_acp.core.clock import Clock
from claw_acp.core.errors import RequestRejected, StreamInterrupted
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ModelStop, Reasoning, ToolCall, Usage
from claw_acp.providers.gemini.request import ORIGIN, SIGNATURE
from claw_acp.providers.transport.answer_parser import EventParser, interrupted
from claw_acp.providers.transport.part_order import Mark
from claw_acp.providers.transport.wire import items_at, malformed, number_at, object_at, text_at

_STOPS: Final[Mapping[str, ModelStop]] = {
    "STOP": "end",
    "MAX_TOKENS": "max_tokens",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "LANGUAGE": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "IMAGE_SAFETY": "refusal",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
}
"""Reasons for the end of an answer; other words, such as OTHER, end it too."""

_BROKEN_CALLS: Final = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"})

log = logging.getLogger(__name__)


class GeminiStream(EventParser):
    """Parses one stream; see `AnswerParser`."""

    def __init__(self, *, provider: str, model: str, clock: Clock, secrets: Sequence[str] = ()) -> None:
        super().__init__(provider=provider, model=model, secrets=secrets)
        self._clock = clock
        self._text: list[str] = []
        self._length = 0
        self._thought: list[str] = []  # of the block that is still open
        self._reasoning: list[Reasoning] = []
        self._calls: list[ToolCall] = []
        self._finish = ""
        self._finish_words = ""
        self._blocked = False

    def response(self) -> ChatResponse:
        """The whole answer."""
        if not self._finish and not self._blocked:
            raise interrupted(self._provider)
        thought = "".join(self._thought)
        reasoning = (*self._reasoning, Reasoning(text=thought)) if thought else tuple(self._reasoning)
        return self._answer(text="".join(self._text), calls=tuple(self._calls), reasoning=reasoning, stop=self._stop())

    def _stop(self) -> ModelStop:
        if self._blocked:
            return "refusal"
        stop = _STOPS.get(self._finish, "end")
        if stop == "refusal":
            log.info("answer stopped", extra={"provider": self._provider, "reason": self._finish})
        if stop == "end" and not self._calls:
            self._check_finish()
        return stop

    def _check_finish(self) -> None:
        """Raise an error for ends that are failures."""
        words = f"{self._finish}: {self._finish_words}" if self._finish_words else self._finish
        if self._finish in _BROKEN_CALLS:
            raise StreamInterrupted(
                f"{self._provider}: the model wrote an unreadable tool call ({words}). Send the prompt again.",
                provider=self._provider,
            )
        if self._finish == "MISSING_THOUGHT_SIGNATURE":
            raise RequestRejected(
                f"{self._provider} misses signatures in this conversation ({words}). Start a new session.",
                provider=self._provider,
            )

    # ------------------------------------------------------------------ one event

    def _end(self, events: list[StreamEvent]) -> None:  # noqa: ARG002 - nothing is held back
        self._finish = self._finish or "STOP"

    def _take(self, event: JsonObject, events: list[StreamEvent]) -> None:
        if event.get("error") is not None:
            raise self._refusal(event["error"])
        if event.get("usageMetadata"):
            self.usage = _usage(object_at(event, "usageMetadata"))
        blocked = text_at(object_at(event, "promptFeedback"), "blockReason")
        if blocked:
            self._blocked = True
            log.info("prompt blocked", extra={"provider": self._provider, "reason": blocked})
        for candidate in items_at(event, "candidates"):
            if isinstance(candidate, dict):
                self._candidate(candidate, events)

    def _candidate(self, candidate: JsonObject, events: list[StreamEvent]) -> None:
        for part in items_at(object_at(candidate, "content"), "parts"):
            if isinstance(part, dict):
                self._part(part, events)
        self._finish = text_at(candidate, "finishReason") or self._finish
        self._finish_words = text_at(candidate, "finishMessage") or self._finish_words

    def _part(self, part: JsonObject, events: list[StreamEvent]) -> None:
        """Handle text, thought or a call; other parts come from the vendor's own tools, which are never requested."""
        if "functionCall" in part:
            self._called(part)
        elif part.get("thought") is True:
            self._thinks(part, events)
        else:
            self._says(part, events)

    def _called(self, part: JsonObject) -> None:
        call = object_at(part, "functionCall")
        name = text_at(call, "name")
        if not name:
            raise malformed("a tool call without a name", provider=self._provider)
        vendors = text_at(call, "id")
        kept = {key: value for key, value in (("id", vendors), (SIGNATURE, text_at(part, SIGNATURE))) if value}
        self._calls.append(
            ToolCall(
                id=vendors or new_id("call", clock=self._clock),
                name=name,
                arguments=json.dumps(object_at(call, "args"), ensure_ascii=False),
                extra={ORIGIN: kept} if kept else None,
            )
        )

    def _thinks(self, part: JsonObject, events: list[StreamEvent]) -> None:
        text, signature = text_at(part, "text"), text_at(part, SIGNATURE)
        if signature and self._thought:  # what was signed must not be mixed with what was not
            self._close(ThoughtChunk(text="", origin=ORIGIN), events)
        if signature:
            kept: JsonObject = {"thought": True, SIGNATURE: signature}
            self._thought.append(text)
            self._close(self._marked(self._length, kept=kept, text=text), events)
        elif text:
            self._thought.append(text)
            events.append(ThoughtChunk(text=text))

    def _says(self, part: JsonObject, events: list[StreamEvent]) -> None:
        text, signature = text_at(part, "text"), text_at(part, SIGNATURE)
        start = self._length
        if text:
            self._text.append(text)
            self._length += len(text)
            events.append(TextChunk(text=text))
        if signature:
            self._close(self._marked(start, kept={SIGNATURE: signature}), events)

    def _marked(self, start: int, *, kept: JsonObject, text: str = "") -> ThoughtChunk:
        mark = Mark(start=start, end=self._length, calls=len(self._calls), kept=kept)
        return ThoughtChunk(text=text, signature=mark.written(), origin=ORIGIN)

    def _close(self, chunk: ThoughtChunk, events: list[StreamEvent]) -> None:
        """Close the open block of thinking with its last chunk."""
        thought = "".join(self._thought)
        self._reasoning.append(Reasoning(text=thought, signature=chunk.signature, origin=chunk.origin))
        self._thought.clear()
        events.append(chunk)


def _usage(usage: JsonObject) -> Usage:
    thoughts = number_at(usage, "thoughtsTokenCount")
    return Usage(
        input_tokens=number_at(usage, "promptTokenCount") + number_at(usage, "toolUsePromptTokenCount"),
        output_tokens=number_at(usage, "candidatesTokenCount") + thoughts,
        cached_read_tokens=number_at(usage, "cachedContentTokenCount"),
        thought_tokens=thoughts,
    )
