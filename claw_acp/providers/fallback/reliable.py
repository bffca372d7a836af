"""A provider that asks several targets until one answers: retries, other keys, models and providers.

Nothing is retried once a piece of an answer was shown: a second beginning after half a first one would only confuse.
`FallbackPlan` holds the rules; here they meet real providers.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence

import anyio

from claw_acp.contracts.content_support import is_picture, supported_messages
from claw_acp.contracts.provider import (
    Capabilities,
    ChatRequest,
    Finished,
    ModelInfo,
    Provider,
    Retrying,
    Spent,
    StreamEvent,
    Switched,
    TextChunk,
    ThoughtChunk,
)
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import (
    ClawError,
    ContextTooLong,
    MalformedReply,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderError,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
    ServiceMisconfigured,
)
from claw_acp.core.printable import full_sentence
from claw_acp.core.value import replace
from claw_acp.net.closing import closing
from claw_acp.net.redaction import masked
from claw_acp.providers.fallback.plan import FallbackPlan, Health, NextAttempt
from claw_acp.providers.selection.target import Target
from claw_acp.providers.transport.answer_parser import empty_answer, interrupted
from claw_acp.providers.transport.streaming import StreamingProvider, provider_failed

INCOMPLETE = "What is shown of the answer is incomplete; the prompt can be sent again."

_TELLING = (
    ProviderAuthFailed,
    QuotaExceeded,
    ModelNotFound,
    ServiceMisconfigured,
    MalformedReply,
    RateLimited,
    ProviderUnavailable,
)
"""Of several failures, the most actionable one is reported."""

log = logging.getLogger(__name__)


class Reliable(StreamingProvider):
    """Targets in order, as one provider with the name and the models of the first.

    A request may name another model of the first target's provider: then its keys are used for that model.

    Args:
        targets: At least one target.
        providers: The provider of each target, by its setup.
        health: The targets that cool down; shared between providers.
        secrets: Texts that no error may show.
        clock: Time and randomness for waits.
        sleep: Waits.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        *,
        providers: Mapping[ProviderSetup, Provider],
        health: Health | None = None,
        secrets: Sequence[str] = (),
        clock: Clock = SYSTEM_CLOCK,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self.name = targets[0].provider
        self.targets = targets
        self.providers = providers
        self.health = health or Health()
        self.secrets = secrets
        self.clock = clock
        self._sleep = sleep

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece. Retries and switches are announced, and the usage of failed attempts (`Spent`).

        Raises:
            ProviderError: All failed, and the text names each; or the answer broke off after part of it was shown.
        """
        run = _Run(self, request)
        for event in run.begin():
            yield event
        while True:
            if run.attempt.delay:
                await self._sleep(run.attempt.delay)
            try:
                async with closing(run.events()) as events:
                    async for event in events:
                        for piece in run.visible(event):
                            yield piece
                        if type(event) is Finished:
                            return
                failure = interrupted(run.target.provider)
            except Exception as error:  # noqa: BLE001 - a wall: the provider's own code may have defects; they are logged
                failure = run.failure_of(error)
            for event in run.failed(failure):
                yield event
            if run.failure is not None:
                raise run.failure from failure

    def capabilities(self, model: str) -> Capabilities:
        """The capabilities of the model that will be asked first.

        Vision is that of the chosen model, even while it cools down: models without it do not get the images.
        """
        targets = self.targets_for(model)
        first = FallbackPlan(targets, health=self.health).first(now=self.clock.monotonic())
        can, chosen = self._capabilities(targets[first.index]), targets[0]
        return can if first.index == 0 else replace(can, images=self._capabilities(chosen).images)

    def _capabilities(self, target: Target) -> Capabilities:
        return self.providers[target.setup].capabilities(target.model)

    def targets_for(self, model: str) -> Sequence[Target]:
        """The targets of a request for `model`; empty: the first target's own model."""
        name = self.targets[0].name
        if model in {"", self.targets[0].model}:
            return self.targets
        return [replace(target, model=model) if target.name == name else target for target in self.targets]

    async def models(self) -> Sequence[ModelInfo]:
        """The models of the first target."""
        return await self.providers[self.targets[0].setup].models()

    async def aclose(self) -> None:
        """Close every target's provider."""
        for provider in dict.fromkeys(self.providers.values()):
            await provider.aclose()


class _Run:
    """One request in progress. `failure` is set when no target is left."""

    def __init__(self, whole: Reliable, request: ChatRequest) -> None:
        self._whole = whole
        self._request = request
        self._targets = self._able(whole.targets_for(request.model))
        self._plan = FallbackPlan(self._targets, health=whole.health)
        self._reasons: dict[int, ProviderError] = {}  # by target, the last one; in the order in which they were asked
        self.attempt = NextAttempt(index=0)
        self.failure: ProviderError | None = None
        self._shown = False  # whether somebody saw a piece of this attempt's answer
        self._wordless: list[StreamEvent] = []

    @property
    def target(self) -> Target:
        return self._targets[self.attempt.index]

    def begin(self) -> Iterator[StreamEvent]:
        """Choose the first target; announce it if it is not the first of all."""
        self.attempt = self._plan.first(now=self._whole.clock.monotonic())
        if self.attempt.rested:
            reason = f"{self._targets[0].name} failed a moment ago and is left alone for a while."
            yield from self._announced(self._targets[0], reason)

    def events(self) -> AsyncGenerator[StreamEvent]:
        """Ask the target."""
        self._shown, self._wordless = False, []
        target, request = self.target, self._request
        provider = self._whole.providers[target.setup]
        if self._first_choice:
            return provider.stream(request if request.model else replace(request, model=target.model))
        can, options = provider.capabilities(target.model), request.options
        effort = options.effort if can.thinking else target.options.effort
        options = replace(target.options, tool_choice=options.tool_choice, effort=effort)
        messages = supported_messages(request.messages, capabilities=can)
        return provider.stream(replace(request, model=target.model, options=options, messages=messages))

    @property
    def _first_choice(self) -> bool:
        """True if the requested model is asked, with any of its keys."""
        return self.target.name == self._targets[0].name

    def visible(self, event: StreamEvent) -> Sequence[StreamEvent]:
        """Events to emit now. Empty chunks are held until text arrives, so a retried attempt leaves no trace.

        Raises:
            EmptyAnswer: It is the end, and there was nothing.
        """
        if isinstance(event, Finished):
            return [*self._wordless, self._finished(event)] if not self._shown else [self._finished(event)]
        if self._shown or not isinstance(event, TextChunk | ThoughtChunk):
            return [event]
        self._wordless.append(event)
        self._shown = bool(event.text)
        return self._wordless if self._shown else ()

    def _finished(self, event: Finished) -> Finished:
        """The end of the answer, with the name of the model that gave it if that is another one.

        Raises:
            EmptyAnswer: The answer is empty.
        """
        response, target = event.response, self.target
        if not (self._shown or response.text or response.tool_calls) and response.stop in {"end", "tool_calls"}:
            empty = empty_answer(target.provider, model=target.model)
            empty.usage = response.usage
            raise empty
        self._plan.answered(self.attempt.index)
        if response.answered_by or self._first_choice:
            return event
        return Finished(response=replace(response, answered_by=target.name))

    def failure_of(self, error: Exception) -> ProviderError:
        """The provider error for an exception.

        Raises:
            ClawError: It is an error of ours that is no provider error.
        """
        if isinstance(error, ProviderError):
            return error
        if isinstance(error, ClawError):
            raise error
        target = self.target
        return provider_failed(error, who=target.name, provider=target.provider, model=target.model)

    def failed(self, error: ProviderError) -> Iterator[StreamEvent]:
        """Bill a failed attempt and choose the next target; `failure` is set if there is none."""
        before, number = self.target, self.attempt.index
        name = before.name
        log.info("model request failed", extra={"target": name, "error": type(error).__name__, "status": error.status})
        if error.usage is not None:
            yield Spent(model=name, usage=error.usage)
            error.usage = None  # it is billed now
        self._reasons.pop(number, None)
        self._reasons[number] = error
        clock = self._whole.clock
        attempt = self._plan.after(number, error, now=clock.monotonic(), chance=clock.random())
        if self._shown or attempt is None:
            self.failure = self._broken_off(error) if self._shown else self._given_up(error)
            return
        self.attempt = attempt
        yield from self._announced(before, self._clean(error.message))

    def _announced(self, before: Target, reason: str) -> Iterator[StreamEvent]:
        target, delay = self.target, self.attempt.delay
        if target.name != before.name:
            if delay:
                yield Retrying(reason=reason, delay=delay)
            yield Switched(reason=reason, to=target.name)
            return
        if target.setup != before.setup:
            reason = f"{full_sentence(reason)} Another key of {target.provider} is used now."
        yield Retrying(reason=reason, delay=delay)

    def _broken_off(self, error: ProviderError) -> ProviderError:
        if INCOMPLETE in error.message:
            return error
        said = full_sentence(self._clean(error.message).replace(" Send the prompt again.", ""))
        return _retold(error, f"{said} {INCOMPLETE}")

    def _given_up(self, error: ProviderError) -> ProviderError:
        """The error for all attempts. A fault of the request itself is reported unchanged."""
        message = self._clean(error.message)
        of_the_request = isinstance(error, ContextTooLong | RequestRejected)
        if len(self._reasons) == 1 or (of_the_request and not isinstance(error, ServiceMisconfigured)):
            return error if message == error.message else _retold(error, message)
        failed = [(self._targets[number].name, reason) for number, reason in self._reasons.items()]
        each_said = (f"{name}: {full_sentence(self._clean(reason.message))}" for name, reason in failed)
        listed = " ".join(f"{count}. {said}" for count, said in enumerate(dict.fromkeys(each_said), 1))
        telling = (reason for kind in _TELLING for _, reason in failed if isinstance(reason, kind))
        models = len({name for name, _ in failed})
        summary = (
            f"All {models} models failed."
            if models > 1
            else f"All {len(failed)} keys of {self.target.provider} failed."
        )
        return _retold(next(telling, error), f"{summary} {listed}")

    def _able(self, targets: Sequence[Target]) -> Sequence[Target]:
        """The targets without those that cannot see the images in the newest user message.

        The chosen model stays: its vision was checked before. A model without vision gets the images of earlier
        messages described.
        """
        asked = next((message for message in reversed(self._request.messages) if message.role == "user"), None)
        if asked is None or not any(is_picture(part) for part in asked.parts):
            return targets
        first, providers = targets[0], self._whole.providers
        return [
            target
            for target in targets
            if target.name == first.name or providers[target.setup].capabilities(target.model).images
        ]

    def _clean(self, text: str) -> str:
        return masked(text, secrets=self._whole.secrets)


def _retold(error: ProviderError, message: str) -> ProviderError:
    """The same error with another text.

    A foreign class may have another constructor: the nearest of ours replaces it.
    """
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == ProviderError.__module__)
    assert issubclass(kind, ProviderError)
    return kind(message, provider=error.provider, model=error.model, status=error.status, retry_after=error.retry_after)
