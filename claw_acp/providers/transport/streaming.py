"""A streamed answer, from the bytes of a reply to events: the part shared by all families."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Protocol, runtime_checkable

import anyio

from claw_acp.contracts.provider import (
    CallChunk,
    ChatRequest,
    ChatResponse,
    Finished,
    Provider,
    Remark,
    StreamEvent,
    TextChunk,
    ThoughtChunk,
)
from claw_acp.core.errors import ClawError, ProviderError, ProviderFailed
from claw_acp.core.json_value import JsonObject
from claw_acp.core.printable import full_sentence
from claw_acp.net.closing import closing
from claw_acp.providers.transport.answer_parser import AnswerParser
from claw_acp.providers.transport.http_service import HttpService
from claw_acp.providers.transport.whole_answers import AnswerBody, Unfold
from claw_acp.registry.foreign_code import described

log = logging.getLogger(__name__)

DRAIN_TIMEOUT = 0.5  # seconds for the end of the body after the end of the answer; past that the connection is dropped


@runtime_checkable
class Ending(Protocol):
    """A parser with events at the end of the body."""

    def ended(self) -> Sequence[StreamEvent]:
        """The events that the end of the body completes."""
        ...


async def stream_answer(
    service: HttpService,
    request: ChatRequest,
    *,
    path: str,
    body: JsonObject,
    parser: AnswerParser,
    unfold: Unfold | None = None,
) -> AsyncGenerator[StreamEvent, None]:
    """Send a request and yield events as they arrive, then `Finished`.

    Args:
        service: The service.
        request: The request.
        path: Below the service's base URL.
        body: The request in the vendor's form.
        parser: Parses the answer.
        unfold: Returns the stream for an answer that is one JSON document; None: only streams are accepted.

    Raises:
        ProviderError: See `HttpService.stream` and the parser. It names the model, and the usage if that is known.
    """
    model = request.model
    reader = parser if unfold is None else AnswerBody(parser.feed, unfold=unfold, provider=service.provider)
    begun = False
    try:
        async with aclosing(
            service.stream(path, body=body, model=model, documents=isinstance(reader, Ending))
        ) as chunks:
            async for chunk in chunks:
                events = _joined(reader.feed(chunk))
                if not begun:
                    begun = True
                    request.on_first_byte()
                for event in events:
                    yield event
                if parser.done:
                    await _drain(chunks)
                    break
        if isinstance(reader, Ending):
            for event in reader.ended():
                yield event
        response = parser.response()
    except ProviderError as error:
        error.concerns(model, usage=parser.usage)
        raise
    trouble = service.trouble()
    if trouble:
        yield Remark(text=trouble)
    yield Finished(response=response)


def _joined(events: Sequence[StreamEvent]) -> Sequence[StreamEvent]:
    """Adjacent pieces of one kind joined. They arrived in one read, so none waits for another."""
    if len(events) < 2:
        return events
    joined = [events[0]]
    for event in events[1:]:
        match joined[-1], event:
            case TextChunk(text=before), TextChunk(text=text):
                joined[-1] = TextChunk(text=before + text)
            case (
                ThoughtChunk(text=before, signature=None, redacted=None, origin=""),
                ThoughtChunk(text=text, signature=None, redacted=None, origin=""),
            ):
                joined[-1] = ThoughtChunk(text=before + text)
            case CallChunk(index=call, arguments=before), CallChunk(index=same, name=name, arguments=text) if (
                call == same
            ):
                joined[-1] = CallChunk(index=call, name=name, arguments=before + text)
            case _:  # a signature or an origin belongs to the block that it closes
                joined.append(event)
    return joined


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read the body to its end, so that the connection can be reused."""
    with anyio.move_on_after(DRAIN_TIMEOUT):
        async for _ in chunks:
            pass


class StreamingProvider(Provider):
    """A provider that answers piece by piece; subclasses write `stream`."""

    async def chat(self, request: ChatRequest) -> ChatResponse:
        """Answer in one piece."""
        return await collected(self.stream(request))


async def collected(events: AsyncIterator[StreamEvent]) -> ChatResponse:
    """The whole answer of a stream.

    Raises:
        ProviderError: The stream failed.
    """
    async with closing(events):
        async for event in events:
            if isinstance(event, Finished):
                return event.response
    raise ClawError("the stream of a provider ended without a result; this is a defect of that provider")


def provider_failed(error: BaseException, *, who: str, provider: str, model: str) -> ProviderFailed:
    """The error for an exception in a provider's own code, which is logged with its traceback."""
    log.error("provider failed", exc_info=error, extra={"provider": provider, "model": model})
    text = f"{who} failed: {full_sentence(described(error))} The log has more; choose another model meanwhile."
    return ProviderFailed(text, provider=provider, model=model)
