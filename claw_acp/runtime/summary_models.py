"""Lends the model that summarizes a conversation while no cache holds it: the configured one, or a small one."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

from claw_acp.agent.compaction.summary_model import SummaryModel, is_cold
from claw_acp.agent.model_request import ModelRequester
from claw_acp.config.model import SESSION_MODEL
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import UNKNOWN_WINDOW, ChatOptions
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.core.messages import Usage
from claw_acp.core.redaction import Redactor
from claw_acp.core.value import replace
from claw_acp.providers.catalog.price_list import PriceList
from claw_acp.providers.registry.own_keys import own_keys
from claw_acp.providers.registry.profiles import provider_profiles
from claw_acp.providers.selection.resolve import resolve_ready
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.provider_pool import ProviderPool

log = logging.getLogger(__name__)

_REQUEST: Final = Usage(input_tokens=50_000, output_tokens=2_000)  # a usual request for a summary, to compare prices


class SummaryModels:
    """Finds the model for a session's summaries, and lends it.

    Args:
        live: The session.
        choice: The model that answers in it.
        requester: Asks that model.
        prices: The prices of all models.
        providers: The providers in use.
        secrets: Reads keys that take time to get.
        options: Returns the sampling options of a model in this session.
        clock: Time.
    """

    def __init__(
        self, live: LiveSession, *, choice: ResolvedModel, requester: ModelRequester, prices: PriceList,
        providers: ProviderPool, secrets: SecretCache, options: Callable[[ResolvedModel], ChatOptions], clock: Clock,
    ) -> None:  # fmt: skip
        self._live = live
        self._choice = choice
        self._requester = requester
        self._prices = prices
        self._providers = providers
        self._secrets = secrets
        self._options = options
        self._clock = clock

    @asynccontextmanager
    async def lend(self) -> AsyncGenerator[SummaryModel | None]:
        """See `LendSummaryModel`."""
        found = await self._other()
        if found is None:
            yield None
            return
        settings, name = self._live.settings, found.target.name
        async with self._providers.lent(found) as provider:
            assumed = 0 if settings.summary_model is None else UNKNOWN_WINDOW
            requester = self._requester.for_model(
                name,
                provider=provider,
                options=lambda: self._options(found),
                redactor=Redactor({*self._choice.secrets, *found.secrets, *own_keys(settings)}),
            )
            yield SummaryModel(name=name, requester=requester, window=requester.window or assumed)

    async def _other(self) -> ResolvedModel | None:
        """The other model; None if the session's own is to write the summary."""
        settings, own = self._live.settings, self._choice.target.name
        wanted = settings.summary_model
        if wanted in {SESSION_MODEL, own} or not is_cold(self._live.session.history, model=own, now=self._clock.now()):
            return None
        if wanted is None:
            small = small_model(settings, choice=self._choice, prices=self._prices)
            return _alone(self._choice.with_model(small)) if small else None
        try:
            found = await resolve_ready(settings, model=wanted, secrets=self._secrets)
        except ClawError as error:
            await self._tell(wanted, error)
            return None
        return _alone(self._providers.successions.applied(found))

    async def _tell(self, wanted: str, error: ClawError) -> None:
        session = self._live.session
        log.warning("no model for summaries", extra={"session": session.id, "model": wanted, "reason": error.message})
        notice = Notice(
            item=new_id("ntc", clock=self._clock),
            severity="warning",
            title=f'The session\'s model writes the summary: summary_model = "{wanted}" cannot be used',
            description=error.message,
            topic="switch",
        )
        await session.publish(notice)


def small_model(settings: Settings, *, choice: ResolvedModel, prices: PriceList) -> str:
    """The small model of the chosen one's provider; empty without any whose price is known and lower."""
    profile = provider_profiles(settings).get(choice.target.provider)
    own = prices.cost(choice.target.name, _REQUEST)
    if profile is None or own is None:
        return ""
    usable = profile.section.models
    for model, role in profile.roles.items():
        cost = prices.cost(f"{choice.target.provider}/{model}", _REQUEST)
        if role.small and cost is not None and cost < own and (not usable or model in usable):
            return model
    return ""


def _alone(model: ResolvedModel) -> ResolvedModel:
    """A model with all its keys, but without others that answer when it fails: the session's model does then."""
    name = model.target.name
    return replace(model, fallbacks=tuple(target for target in model.fallbacks if target.name == name))
