"""Parsers of streamed answers: what they have in common. Each wire family brings one of its own."""

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
"""Takes one event of the vendor's, and adds those that it stands for."""


class AnswerParser(ABC):
    """Turns the bytes of one reply into events, without input or output of its own.

    Args:
        provider: Names the provider in errors.
        model: Names the model in errors.
        secrets: Texts that errors must not show.

    Attributes:
        done: True if the answer is complete; what follows is of no interest.
        usage: The tokens the vendor has spoken of, also where the answer fails; None before it did.
    """

    def __init__(self, *, provider: str, model: str, secrets: Sequence[str] = ()) -> None:
        self.done = False
        self.usage: Usage | None = None
        self._provider = provider
        self._model = model
        self._secrets = secrets

    @abstractmethod
    def feed(self, data: bytes) -> Sequence[StreamEvent]:
        """The events `data` completes. Kinds of event not known to the parser are read over.

        Raises:
            ProviderError: The reply is malformed, or carries the vendor's own error.
        """

    @abstractmethod
    def response(self) -> ChatResponse:
        """The whole answer, once the body has ended or `done` is true.

        Raises:
            ProviderError: It is not complete, or there is nothing in it.
        """

    def _answer(
        self, *, text: str, calls: tuple[ToolCall, ...], reasoning: tuple[Reasoning, ...], stop: ModelStop
    ) -> ChatResponse:
        """The whole answer. Its regular end is told from its calls: services say `stop` after them, or the reverse."""
        if stop in ("end", "tool_calls"):
            stop = "tool_calls" if calls else "end"
            if not calls and not text.strip():
                raise empty_answer(self._provider, model=self._model)
        return ChatResponse(text=text, tool_calls=calls, reasoning=reasoning, usage=self.usage, stop=stop)

    def _refusal(self, error: JsonValue) -> ProviderError:
        """The error for the vendor's own in mid-stream."""
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
        """Take one event of the vendor's."""

    def _end(self, events: list[StreamEvent]) -> None:  # noqa: ARG002 - for those that hold something back
        """Take `[DONE]`. Some APIs do without it, and their imitators send it nevertheless."""
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
