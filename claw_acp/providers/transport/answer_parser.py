"""Parsers of streamed answers: the common part. Each wire family has its own."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from claw_acp.contracts.provider import ChatResponse, StreamEvent
from claw_acp.core.errors import EmptyAnswer, ProviderError, StreamInterrupted
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ModelStop, Reasoning, ToolCall, Usage
from claw_acp.net.sse import SseDecoder
from claw_acp.providers.transport.refusals import refusal_error, refusal_in_reply
from claw_acp.providers.transport.wire import parsed, text_at

Handler: TypeAlias = Callable[[JsonObject, list[StreamEvent]], None]
"""Handles one event of the vendor's, and appends the resulting events."""


class AnswerParser(ABC):
    """Turns the bytes of one reply into events, without input or output of its own.

    Args:
        provider: The provider's name for errors.
        model: The model's name for errors.
        secrets: Texts that errors must not show.

    Attributes:
        done: True if the answer is complete; the rest is ignored.
        usage: The tokens that the vendor reported so far, also for a failed answer; None before that.
    """

    def __init__(self, *, provider: str, model: str, secrets: Sequence[str] = ()) -> None:
        self.done = False
        self.usage: Usage | None = None
        self._provider = provider
        self._model = model
        self._secrets = secrets

    @abstractmethod
    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """The events that `data` completes. Unknown kinds of events are skipped.

        Raises:
            ProviderError: The reply is malformed, or carries the vendor's own error.
        """

    @abstractmethod
    def response(self) -> ChatResponse:
        """The whole answer, once the body has ended or `done` is true.

        Raises:
            ProviderError: It is incomplete or empty.
        """

    def _answer(
        self, *, text: str, calls: tuple[ToolCall, ...], reasoning: tuple[Reasoning, ...], stop: ModelStop
    ) -> ChatResponse:
        """The whole answer.

        Its regular end follows from its calls: services report `stop` after them, or the reverse.
        """
        if stop in ("end", "tool_calls"):
            stop = "tool_calls" if calls else "end"
            if not calls and not text.strip():
                raise empty_answer(self._provider, model=self._model)
        return ChatResponse(text=text, tool_calls=calls, reasoning=reasoning, usage=self.usage, stop=stop)

    def _refusal(self, error: JsonValue) -> ProviderError:
        """The error for a vendor's error inside a stream."""
        refusal = refusal_in_reply(error, secrets=self._secrets)
        return refusal_error(refusal, provider=self._provider, model=self._model)


class EventParser(AnswerParser):
    """A parser of server-sent events, each of which is a JSON object."""

    def __init__(self, *, provider: str, model: str, secrets: Sequence[str] = ()) -> None:
        super().__init__(provider=provider, model=model, secrets=secrets)
        self._decoder = SseDecoder(provider=provider)

    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """See `AnswerParser`."""
        events: list[StreamEvent] = []
        for _, text in self._decoder.feed(data):
            if text.strip() == "[DONE]":
                self._end(events)
                break
            self._take(parsed(text, provider=self._provider), events)
            if self.done:
                break
        return events

    @abstractmethod
    def _take(self, event: JsonObject, events: list[StreamEvent]) -> None:
        """Handle one event of the vendor's."""

    def _end(self, events: list[StreamEvent]) -> None:  # noqa: ARG002 - for those that hold something back
        """Handle `[DONE]`. Some APIs do without it, and compatible services send it nevertheless."""
        self.done = True


class TypedEventParser(EventParser):
    """A parser of events that name their `type`."""

    _handlers: Mapping[str, Handler]

    def _take(self, event: JsonObject, events: list[StreamEvent]) -> None:
        handle = self._handlers.get(text_at(event, "type"))
        if handle is not None:
            handle(event, events)


def interrupted(provider: str, *, model: str = "") -> StreamInterrupted:
    """The error for an answer whose stream ended before it did."""
    who = f"{provider} ({model})" if model else provider
    return StreamInterrupted(
        f"{who} ended the stream in the middle of its answer. Send the prompt again.", provider=provider, model=model
    )


def empty_answer(provider: str, *, model: str) -> EmptyAnswer:
    """The error for an answer with nothing in it."""
    return EmptyAnswer(
        f"{provider} answered with neither text nor tool calls. Send the prompt again, or choose another model "
        f"than {model}.",
        provider=provider,
    )
