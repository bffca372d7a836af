"""A provider that asks others until one answers: it tries again, with other keys, models and providers.

Nothing is asked a second time once a piece of an answer was seen: a second beginning behind half a first one would
only confuse. What the rules are, `reliable_course` says; here they meet real providers.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Iterator, Sequence

import anyio

from claw_acp.contracts.provider import (
    Capabilities,
    ChatOptions,
    ChatRequest,
    ChatResponse,
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
from claw_acp.contracts.readable import is_picture, readable
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
from claw_acp.core.value import Value, replace
from claw_acp.net.closing import closing
from claw_acp.net.redaction import masked
from claw_acp.providers.reliable_course import RETRIES, Course, Health, Leg, Move
from claw_acp.providers.streaming import collected, empty_answer, interrupted, provider_failed

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
"""Of several failures, the one that a person can do most about stands for all."""

log = logging.getLogger(__name__)


class Target(Value):
    """One way to ask: a provider, which stands for one key of one service, and a model.

    Attributes:
        provider: Who is asked.
        model: Its model; empty: the one that the request names.
        options: Its own sampling, in the place of the request's; None: the request's.
        retries: How often a failed request is tried again before the next target has its turn.
        account: What its key opens; None: what the provider itself is.
    """

    provider: Provider
    model: str = ""
    options: ChatOptions | None = None
    retries: int = RETRIES
    account: Hashable = None


class Reliable(Provider):
    """The targets in their order, as one provider. Its name and its models are those of the first.

    Args:
        targets: Whom to ask; at least one.
        health: Which targets rest; shared by all that should know.
        secrets: What no error may show.
        clock: Time and chance for waits.
        sleep: What waits.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        *,
        health: Health | None = None,
        secrets: Sequence[str] = (),
        clock: Clock = SYSTEM_CLOCK,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self.name = targets[0].provider.name
        self.targets = targets
        self.health = health or Health()
        self.secrets = secrets
        self.clock = clock
        self._sleep = sleep

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece. Retries and switches are announced; what failed attempts took is told (`Spent`).

        Raises:
            ProviderError: Nobody answered: the text names all who were asked. Or the answer broke off when part of it
                had been seen.
        """
        run = _Run(self, request)
        for event in run.begin():
            yield event
        while True:
            if run.move.delay:
                await self._sleep(run.move.delay)
            try:
                async with closing(run.events()) as events:
                    async for event in events:
                        for piece in run.told(event):
                            yield piece
                        if type(event) is Finished:
                            return
                failure = interrupted(run.target.provider.name)
            except Exception as error:  # noqa: BLE001 - a wall: the provider's own code may have defects; they are logged
                failure = run.failure_of(error)
            for event in run.failed(failure):
                yield event
            if run.failure is not None:
                raise run.failure from failure

    async def chat(self, request: ChatRequest) -> ChatResponse:
        """Answer in one piece."""
        return await collected(self.stream(request))

    def capabilities(self, model: str) -> Capabilities:
        """What the model can do that will be asked first.

        Pictures are judged by the chosen model, also while that rests: nobody who does not see is asked about them.
        """
        now = self.clock.monotonic()
        target = self.targets[Course(_legs(self.targets, model), health=self.health).first(now=now).leg]
        can, chosen = target.provider.capabilities(target.model or model), self.targets[0]
        if target is chosen:
            return can
        return replace(can, images=chosen.provider.capabilities(chosen.model or model).images)

    async def models(self) -> Sequence[ModelInfo]:
        """The models of the first target."""
        return await self.targets[0].provider.models()

    async def aclose(self) -> None:
        """Close every target's provider."""
        for provider in dict.fromkeys(target.provider for target in self.targets):
            await provider.aclose()


class _Run:
    """One request on its way. `failure` is set when nobody is left to ask."""

    def __init__(self, whole: Reliable, request: ChatRequest) -> None:
        self._whole = whole
        self._request = request
        self._targets = _who_can_take(request, whole.targets)
        self._legs = _legs(self._targets, request.model)
        self._course = Course(self._legs, health=whole.health)
        self._reasons: dict[int, ProviderError] = {}  # by target, the last one; in the order in which they were asked
        self.move = Move(leg=0)
        self.failure: ProviderError | None = None
        self._shown = False  # whether somebody saw a piece of this attempt's answer
        self._wordless: list[StreamEvent] = []

    @property
    def target(self) -> Target:
        return self._targets[self.move.leg]

    def begin(self) -> Iterator[StreamEvent]:
        """Choose the first target; say so when that is not the first of all."""
        self.move = self._course.first(now=self._whole.clock.monotonic())
        if self.move.rested:
            reason = f"{self._name(0)} failed a moment ago and is left alone for a while."
            yield from self._announced(0, reason)

    def events(self) -> AsyncGenerator[StreamEvent]:
        """Ask the target."""
        self._shown, self._wordless = False, []
        target, request = self.target, self._request
        if not target.model and target.options is None:
            return target.provider.stream(request)
        model = target.model or request.model
        can = target.provider.capabilities(model)
        options = request.options
        if target.options is not None:
            effort = options.effort if can.thinking else target.options.effort
            options = replace(target.options, tool_choice=options.tool_choice, effort=effort)
        messages = request.messages if self._same_model(0) else readable(request.messages, capabilities=can)
        return target.provider.stream(replace(request, model=model, options=options, messages=messages))

    def told(self, event: StreamEvent) -> Sequence[StreamEvent]:
        """What is told now: pieces without words wait for one with words, so that none is left of what is asked again.

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
        """The end of the answer, with the name of who gave it when somebody else was asked.

        Raises:
            EmptyAnswer: There is nothing in it.
        """
        response, leg = event.response, self._legs[self.move.leg]
        if not (self._shown or response.text or response.tool_calls) and response.stop in {"end", "tool_calls"}:
            empty = empty_answer(leg.provider, model=leg.model)
            empty.usage = response.usage
            raise empty
        self._course.answered(self.move.leg)
        if response.answered_by or self._same_model(0):
            return event
        return Finished(response=replace(response, answered_by=self._name(self.move.leg)))

    def failure_of(self, error: Exception) -> ProviderError:
        """The failure that an error stands for.

        Raises:
            ClawError: It is one of ours, and none of a provider.
        """
        if isinstance(error, ProviderError):
            return error
        if isinstance(error, ClawError):
            raise error
        leg = self._legs[self.move.leg]
        return provider_failed(error, who=self._name(self.move.leg), provider=leg.provider, model=leg.model)

    def failed(self, error: ProviderError) -> Iterator[StreamEvent]:
        """Bill what failed, and choose who is asked next; `failure` is set when that is nobody."""
        before = self.move.leg
        name = self._name(before)
        log.info("model request failed", extra={"target": name, "error": type(error).__name__, "status": error.status})
        if error.usage is not None:
            yield Spent(model=name, usage=error.usage)
            error.usage = None  # it is billed now
        self._reasons.pop(before, None)
        self._reasons[before] = error
        clock = self._whole.clock
        move = self._course.after(before, error, now=clock.monotonic(), chance=clock.random())
        if self._shown or move is None:
            self.failure = self._broken_off(error) if self._shown else self._given_up(error)
            return
        self.move = move
        yield from self._announced(before, self._clean(error.message))

    def _announced(self, before: int, reason: str) -> Iterator[StreamEvent]:
        leg = self._legs[self.move.leg]
        if not self._same_model(before):
            if self.move.delay:
                yield Retrying(reason=reason, delay=self.move.delay)
            yield Switched(reason=reason, to=self._name(self.move.leg))
        elif self.move.leg == before:
            yield Retrying(reason=reason, delay=self.move.delay)
        else:
            yield Retrying(
                reason=f"{full_sentence(reason)} Another key of {leg.provider} is used now.", delay=self.move.delay
            )

    def _broken_off(self, error: ProviderError) -> ProviderError:
        if INCOMPLETE in error.message:
            return error
        said = full_sentence(self._clean(error.message).replace(" Send the prompt again.", ""))
        return _retold(error, f"{said} {INCOMPLETE}")

    def _given_up(self, error: ProviderError) -> ProviderError:
        """The error for all that was tried. What is wrong with the request itself is told as it is."""
        message = self._clean(error.message)
        of_the_request = isinstance(error, ContextTooLong | RequestRejected)
        if len(self._reasons) == 1 or (of_the_request and not isinstance(error, ServiceMisconfigured)):
            return error if message == error.message else _retold(error, message)
        reasons = self._reasons.items()
        each_said = ((self._name(number), full_sentence(self._clean(reason.message))) for number, reason in reasons)
        told = list(dict.fromkeys(f"{name}: {said}" for name, said in each_said))
        listed = " ".join(f"{count}. {each}" for count, each in enumerate(told, 1))
        telling = (reason for kind in _TELLING for reason in self._reasons.values() if isinstance(reason, kind))
        return _retold(next(telling, error), f"Nobody answered; {len(reasons)} were asked. {listed}")

    def _same_model(self, other: int) -> bool:
        one, two = self._legs[self.move.leg], self._legs[other]
        return (one.provider, one.model) == (two.provider, two.model)

    def _name(self, number: int) -> str:
        return f"{self._legs[number].provider}/{self._legs[number].model}"

    def _clean(self, text: str) -> str:
        return masked(text, secrets=self._whole.secrets)


def _retold(error: ProviderError, message: str) -> ProviderError:
    """The same error in other words. A stranger's own class may be made differently: the nearest of ours stands in."""
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == ProviderError.__module__)
    assert issubclass(kind, ProviderError)
    return kind(message, provider=error.provider, model=error.model, status=error.status, retry_after=error.retry_after)


def _legs(targets: Sequence[Target], model: str) -> Sequence[Leg]:
    """The targets as the course sees them, for a request for `model`."""
    return [
        Leg(
            account=target.provider if target.account is None else target.account,
            provider=target.provider.name,
            model=target.model or model,
            retries=target.retries,
        )
        for target in targets
    ]


def _who_can_take(request: ChatRequest, targets: Sequence[Target]) -> Sequence[Target]:
    """The targets without those that cannot see the pictures in the newest message of a person.

    The first model stays: whether it sees was judged before. Who cannot see has pictures of earlier messages described.
    """
    asked = next((message for message in reversed(request.messages) if message.role == "user"), None)
    if asked is None or not any(is_picture(part) for part in asked.parts):
        return targets
    first = targets[0]
    chosen = (first.provider.name, first.model or request.model)

    def takes(target: Target) -> bool:
        model = target.model or request.model
        return (target.provider.name, model) == chosen or target.provider.capabilities(model).images

    return [target for target in targets if takes(target)]
