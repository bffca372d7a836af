"""The answer of Ollama's chat API, parsed from its stream: https://docs.ollama.com/api/streaming."""

import json
from collections.abc import Callable, Sequence

from claw_acp.contracts.provider import ChatResponse, StreamEvent, TextChunk, ThoughtChunk
from claw_acp.core.clock import Clock
from claw_acp.core.errors import MalformedReply, ProviderError
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import Reasoning, ToolCall, Usage
from claw_acp.net.ndjson import LineDecoder
from claw_acp.providers.transport.answer_parser import AnswerParser, interrupted
from claw_acp.providers.transport.refusals import refusal_in_reply
from claw_acp.providers.transport.wire import items_at, malformed, number_at, object_at, parsed, text_at


class OllamaStream(AnswerParser):
    """Parses one stream; see `AnswerParser`.

    Calls without an id get one of ours; so do calls with a repeated id, as some models restart the numbering.
    """

    def __init__(self, *, provider: str, model: str, clock: Clock, secrets: Sequence[str] = ()) -> None:
        super().__init__(provider=provider, model=model, secrets=secrets)
        self._clock = clock
        self._lines = LineDecoder(provider=provider)
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[ToolCall] = []
        self._reason = ""

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """See `AnswerParser`."""
        return self._events(self._lines.feed(data))

    def ended(self) -> Sequence[StreamEvent]:
        """The events of a last line without an end."""
        try:
            return self._events([] if self.done else self._lines.rest())
        except MalformedReply as error:  # the body ended inside it
            raise interrupted(self._provider, model=self._model) from error

    def response(self) -> ChatResponse:
        """The whole answer."""
        self.ended()
        if not self.done:
            raise interrupted(self._provider)
        thinking = "".join(self._thinking)
        return self._answer(
            text="".join(self._text),
            calls=tuple(self._calls),
            reasoning=(Reasoning(text=thinking),) if thinking else (),
            stop="max_tokens" if self._reason == "length" else "end",
        )

    def _events(self, lines: Sequence[str]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for line in lines:
            self._line(parsed(line, provider=self._provider), events)
            if self.done:
                break
        return events

    def _line(self, line: JsonObject, events: list[StreamEvent]) -> None:
        error = line.get("error")
        if error:
            raise self._failed(error)
        message = object_at(line, "message")
        self._say(text_at(message, "thinking"), self._thinking, events, make=lambda text: ThoughtChunk(text=text))
        self._say(text_at(message, "content"), self._text, events, make=lambda text: TextChunk(text=text))
        for call in items_at(message, "tool_calls"):
            self._calls.append(self._call(call))
        if line.get("done") is True:
            self._finish(line)

    def _say(
        self, text: str, said: list[str], events: list[StreamEvent], *, make: Callable[[str], StreamEvent]
    ) -> None:
        if text:
            said.append(text)
            events.append(make(text))

    def _call(self, value: JsonValue) -> ToolCall:
        call: JsonObject = value if isinstance(value, dict) else {}
        function = object_at(call, "function")
        name, given = text_at(function, "name"), function.get("arguments")
        if not name:
            raise malformed("a tool call without a name", provider=self._provider)
        arguments = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
        call_id = text_at(call, "id")
        if not call_id or any(call_id == earlier.id for earlier in self._calls):
            call_id = new_id("call", clock=self._clock)
        return ToolCall(id=call_id, name=name, arguments=arguments)

    def _finish(self, line: JsonObject) -> None:
        self._reason = text_at(line, "done_reason")
        counts = {name: number_at(line, name) for name in ("prompt_eval_count", "eval_count")}
        if any(counts.values()):
            self.usage = Usage(input_tokens=counts["prompt_eval_count"], output_tokens=counts["eval_count"])
        self.done = True

    def _failed(self, error: JsonValue) -> ProviderError:
        """The error of a stream, without a status: requests that cannot succeed count as rejected, others as failed."""
        words = refusal_in_reply(error, secrets=self._secrets).words
        if "does not support" in words or "not found" in words:
            error = {"message": words, "code": "400"}
        return self._refusal(error)
