"""Successors of retired models: the newest listed model of the family answers instead."""

import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Final

from claw_acp.contracts.content_support import is_picture
from claw_acp.contracts.model_price import price_at
from claw_acp.contracts.provider import (
    Capabilities,
    ChatRequest,
    Finished,
    ModelInfo,
    Provider,
    StreamEvent,
    Switched,
)
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import ImagesUnsupported, ModelNotAllowed, ModelNotFound, ProviderError
from claw_acp.core.money import shown
from claw_acp.core.value import replace
from claw_acp.net.closing import closing
from claw_acp.providers.models.chat_models import for_chat
from claw_acp.providers.models.lineage import lineage, newest, steady
from claw_acp.providers.registry.service import ModelRole
from claw_acp.providers.registry.services import SERVICES, service_called
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.providers.transport.streaming import StreamingProvider

About = Callable[[str, str, str], ModelInfo | None]
OnListed = Callable[[str, str, Sequence[ModelInfo]], Awaitable[None]]

_GONE: Final = re.compile(
    r"decommission|deprecat|retired|no longer (?:available|supported|served)|discontinued|end.of.life|was removed",
    re.IGNORECASE,
)
"""Words of refusals that prove that a model once existed."""

log = logging.getLogger(__name__)


def says_gone(error: ModelNotFound) -> bool:
    """True if a refusal says that the model once existed."""
    return bool(_GONE.search(error.message))


class Successions:
    """The retired models and their successors; one for all sessions of a process.

    Args:
        about: The facts about a model, by provider, address and name.
        on_listed: Called with lists that were fetched on the way.
        on_picture_refused: Called with a model that refused an image, by the same.
        clock: The time, for prices.
    """

    def __init__(
        self,
        *,
        about: About | None = None,
        on_listed: OnListed | None = None,
        on_picture_refused: Callable[[str, str, str], None] | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self.about: About = about or (lambda _provider, _address, _model: None)
        self.on_listed = on_listed
        self._on_picture_refused = on_picture_refused
        self._clock = clock
        self._successors: dict[tuple[str, str, str], str] = {}

    def applied(self, choice: ResolvedModel) -> ResolvedModel:
        """The model, or its successor if it is known to be retired."""
        successor = self._successors.get(_place(choice))
        if successor is None:
            return choice  # it may be a successor itself
        return replace(choice.with_model(successor), replaced=self.reason(choice, successor))

    def refused_picture(self, choice: ResolvedModel, model: str) -> None:
        """Note that a model refused an image, so that the conversation can go on without images."""
        if self._on_picture_refused is not None:
            self._on_picture_refused(choice.setup.name, choice.setup.base_url, model)

    def remember(self, choice: ResolvedModel, successor: str) -> None:
        """Use a successor from now on."""
        log.warning("model replaced", extra={"model": choice.target.name, "successor": successor})
        self._successors[_place(choice)] = successor

    def reason(self, choice: ResolvedModel, successor: str) -> str:
        """The notice for people: why another model answers, what that changes, and what to do about it."""
        now = f"{choice.target.provider}/{successor}"
        gone = f"{choice.target.provider} no longer has {choice.target.model}; {now} answers in its place"
        dearer = self._dearer(choice, successor)
        mend = (
            f'To settle it, set model = "{now}" ({choice.configured} names the old one).' if choice.configured else ""
        )
        return " ".join(part for part in (f"{gone}.", dearer, mend) if part)

    def successor(self, choice: ResolvedModel, listed: Sequence[ModelInfo], *, gone: bool) -> str:
        """The successor: the newest model of the same family, else the present default; empty if there is none.

        An unknown name is a mistake, and has no successor.
        """
        others = [info for info in listed if info.id != choice.target.model]
        family, roles = lineage(choice.target.model).family, _roles(choice.setup.name)
        if found := newest(others, [family]):
            return found
        known = self.about(choice.setup.name, choice.setup.base_url, choice.target.model)
        if not (gone or known or any(family in role.of for role in roles)):
            return ""
        filled = (newest(others, role.of) for role in roles)
        return next((model for model in filled if model), steady(others))

    def _dearer(self, choice: ResolvedModel, successor: str) -> str:
        old, new = (self._price(choice, model) for model in (choice.target.model, successor))
        if old is None or new is None or (new[0] <= old[0] and new[1] <= old[1]):
            return ""
        return f"It costs {_words(new)} for a million tokens in and out; the old one cost {_words(old)}."

    def _price(self, choice: ResolvedModel, model: str) -> tuple[int, int] | None:
        known = self.about(choice.setup.name, choice.setup.base_url, model)
        price = None if known is None else price_at(known.prices, self._clock.now())
        return None if price is None else (price.rate.input, price.rate.output)


class SuccessorProvider(StreamingProvider):
    """The provider of a choice (`inner`); if its model is retired, it finds, announces and asks the successor."""

    def __init__(self, inner: Provider, choice: ResolvedModel, *, memory: Successions) -> None:
        self.name = inner.name
        self.inner = inner
        self._choice = choice
        self._memory = memory
        self._model = choice.target.model  # who answers now

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece.

        Raises:
            ProviderError: As for the inner provider; `ModelNotFound` when the model has no successor.
        """
        asked = request.model
        if asked == self._choice.target.model != self._model:
            request = replace(request, model=self._model)
        try:
            async with closing(self.inner.stream(request)) as events:
                async for event in events:
                    yield self._signed(event, asked)
        except ImagesUnsupported:
            if any(is_picture(part) for message in request.messages for part in message.parts):
                self._memory.refused_picture(self._choice, request.model)
            raise
        except ModelNotFound as error:
            if isinstance(error, ModelNotAllowed) or request.model != self._choice.target.model:
                raise
            gone = error
        else:
            return
        successor = await self._found(gone)
        self._memory.remember(self._choice, successor)
        self._model = successor
        reason = self._memory.reason(self._choice, successor)
        yield Switched(reason=reason, to=f"{self._choice.target.provider}/{successor}")
        async with closing(self.inner.stream(replace(request, model=successor))) as events:
            async for event in events:
                yield self._signed(event, asked)

    def capabilities(self, model: str) -> Capabilities:
        """The capabilities of the model that answers now."""
        return self.inner.capabilities(self._model if model == self._choice.target.model else model)

    async def models(self) -> Sequence[ModelInfo]:
        """The models on offer."""
        return await self.inner.models()

    async def aclose(self) -> None:
        """Close the inner provider."""
        await self.inner.aclose()

    async def _found(self, gone: ModelNotFound) -> str:
        """The successor.

        Raises:
            ModelNotFound: There is none.
        """
        try:
            listed = for_chat(await self.inner.models())
        except ProviderError as error:
            log.info("no successor looked for", extra={"provider": self.name, "reason": error.message})
            raise gone from error
        setup = self._choice.setup
        if listed and self._memory.on_listed is not None:
            await self._memory.on_listed(setup.name, setup.base_url, listed)
        successor = self._memory.successor(self._choice, listed, gone=says_gone(gone))
        if not successor:
            raise gone
        return successor

    def _signed(self, event: StreamEvent, asked: str) -> StreamEvent:
        """The end of an answer, with the name of the model that gave it if that is another one."""
        if type(event) is not Finished or event.response.answered_by or asked == self._model:
            return event
        return Finished(response=replace(event.response, answered_by=f"{self._choice.target.provider}/{self._model}"))


def _place(choice: ResolvedModel) -> tuple[str, str, str]:
    return choice.setup.name, choice.setup.base_url, choice.target.model


def _roles(provider: str) -> Sequence[ModelRole]:
    service = SERVICES.get(service_called(provider))
    return () if service is None else service.roles


def _words(price: tuple[int, int]) -> str:
    return " and ".join(shown(each * 1_000_000) for each in price)
