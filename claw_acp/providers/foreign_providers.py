"""Python providers of other packages: any fault of one is a failure of that provider, with its name.

So others are asked in its place, and the server goes on. Its output is checked here: a value of the wrong type would
surface only later, in a client or the journal.
"""

import logging
from collections.abc import AsyncGenerator, Sequence
from typing import Final, Never, get_args

import anyio

from claw_acp.contracts.provider import (
    CallChunk,
    Capabilities,
    ChatRequest,
    ChatResponse,
    Finished,
    ModelInfo,
    Provider,
    Remark,
    Retrying,
    Spent,
    StreamEvent,
    Switched,
    TextChunk,
    ThoughtChunk,
)
from claw_acp.contracts.provider_setup import ProviderFactory, ProviderSetup
from claw_acp.core.errors import ClawError, ConfigError, ProviderError, ProviderTimeout
from claw_acp.core.messages import ModelStop, Reasoning, ToolCall, Usage
from claw_acp.core.value import field_names, replace
from claw_acp.providers.transport.streaming import StreamingProvider, provider_failed
from claw_acp.providers.transport.wire import counted
from claw_acp.registry.foreign_code import described, is_cancellation, package_of

EVENT_TIMEOUT: Final = 600.0  # seconds for the next piece of an answer; local models may think for minutes

log = logging.getLogger(__name__)


def make_provider(factory: ProviderFactory, setup: ProviderSetup) -> Provider:
    """The provider that a factory makes; one of another package is checked against the contract.

    Raises:
        ConfigError: It cannot be made.
    """
    try:
        provider = factory(setup)
    except ClawError:
        raise
    except BaseException as error:
        log.exception("provider not made", extra={"provider": setup.name, "kind": setup.kind})
        raise ConfigError(
            f"[providers.{setup.name}] cannot be used, since its kind {setup.kind} cannot make a provider: "
            f"{described(error)}"
        ) from error
    return ForeignProvider(provider, name=setup.name, timeout=setup.timeout) if package_of(provider) else provider


class ForeignProvider(StreamingProvider):
    """A provider of another package, checked against the contract.

    Args:
        inner: The provider.
        name: Its configured name.
        timeout: Seconds to wait for the next piece; None: `EVENT_TIMEOUT`.
    """

    def __init__(self, inner: Provider, *, name: str, timeout: float | None = None) -> None:
        self.name = name
        self._inner = inner
        self._timeout = timeout or EVENT_TIMEOUT
        self._who = f"the provider {name} of the package {package_of(inner)}"

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece.

        Raises:
            ProviderFailed: Its code failed.
            ProviderTimeout: The next piece took too long.
        """
        events: AsyncGenerator[StreamEvent] | None = None
        try:
            while True:
                event = None
                try:
                    with anyio.move_on_after(self._timeout):
                        events = events or self._inner.stream(request)
                        event = _checked(await anext(events))
                except StopAsyncIteration:
                    return
                except BaseException as error:  # noqa: BLE001 - a wall: a stranger's provider may raise anything
                    self._raise(error, model=request.model)
                if event is None:
                    words = f"{self._who} said nothing for {self._timeout:g} s. Send the prompt again."
                    raise ProviderTimeout(words, provider=self.name, model=request.model)
                yield event
        finally:
            await self._close(events)

    def capabilities(self, model: str) -> Capabilities:
        """The capabilities of `model`; the defaults if the provider cannot say."""
        try:
            known = _capabilities(self._inner.capabilities(model))
        except BaseException as error:
            if is_cancellation(error):
                raise
            log.warning("capabilities unknown", extra={"provider": self.name, "reason": described(error)})
            return Capabilities()
        return known

    async def models(self) -> Sequence[ModelInfo]:
        """The models on offer.

        Raises:
            ProviderFailed: Its code failed.
        """
        try:
            return [_model(model) for model in await self._inner.models()]
        except BaseException as error:  # noqa: BLE001 - the same wall
            self._raise(error)

    async def aclose(self) -> None:
        """Release the provider's resources; a failure is ignored."""
        await self._close(self._inner)

    async def _close(self, thing: object) -> None:
        try:
            if isinstance(thing, Provider | AsyncGenerator):
                await thing.aclose()
        except BaseException as error:
            if is_cancellation(error):
                raise
            log.warning("provider not closed", extra={"provider": self.name, "reason": described(error)})

    def _raise(self, error: BaseException, *, model: str = "") -> Never:
        """Raise the provider error for an exception of its code; cancellations and our own errors pass unchanged."""
        known = isinstance(error, ProviderError) and isinstance(vars(error).get("message"), str)
        if known or is_cancellation(error):
            raise error
        raise provider_failed(error, who=self._who, provider=self.name, model=model) from error


# ------------------------------------------------------------------ what it says


def _checked(event: object) -> StreamEvent:
    """A valid event.

    Raises:
        TypeError: It is something else, or holds something else.
    """
    match event:
        case TextChunk(text=str()) | ThoughtChunk(text=str()):
            return event
        case CallChunk(index=int(), name=str(), arguments=str()):
            return event
        case Finished(response=ChatResponse() as response):
            return Finished(response=_response(response))
        case Retrying() | Switched() | Spent() | Remark():
            return event
        case _:
            raise TypeError(
                f"a stream yields events, the last of them Finished with a ChatResponse, not {event!r:.100}"
            )


def _response(response: ChatResponse) -> ChatResponse:
    calls, reasoning = tuple(response.tool_calls), tuple(response.reasoning)
    for call in calls:
        if not _texts(call, ToolCall, "id", "name", "arguments") or not call.name:
            raise TypeError(f"{call!r:.100} is no tool call")
    for block in reasoning:
        if not _texts(block, Reasoning, "text", "origin"):
            raise TypeError(f"{block!r:.100} is no reasoning")
    if not _texts(response, ChatResponse, "text", "answered_by") or response.stop not in get_args(ModelStop):
        raise TypeError("the text of a response is no text, or it stopped for no reason that there is")
    return replace(response, tool_calls=calls, reasoning=reasoning, usage=_usage(response.usage))


def _texts(value: object, kind: type, *fields: str) -> bool:
    return isinstance(value, kind) and all(isinstance(getattr(value, field), str) for field in fields)


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, Usage):
        return None
    return Usage(**{field: counted(getattr(usage, field)) for field in field_names(Usage)})


def _capabilities(known: object) -> Capabilities:
    if not isinstance(known, Capabilities):
        raise TypeError(f"{known!r:.100} is no Capabilities")
    return replace(known, context_window=counted(known.context_window))


def _model(model: object) -> ModelInfo:
    if not isinstance(model, ModelInfo) or not _texts(model, ModelInfo, "id"):
        raise TypeError(f"{model!r:.100} is no ModelInfo")
    return model
