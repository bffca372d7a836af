"""The price of a model: set by the user, free, the service's, a published one, or unknown."""

import re
from collections.abc import Mapping
from functools import cached_property
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from claw_acp.config.model import PriceSection
from claw_acp.config.settings import Settings
from claw_acp.contracts.model_price import Price, Rate, price_at
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.messages import Usage
from claw_acp.core.money import per_token
from claw_acp.providers.registry.profiles import ProviderProfile, provider_profiles

_BUILT_IN: Final = frozenset({"offline", "scripted"})
_GATEWAYS: Final = frozenset({"litellm"})  # run on this machine, and pass requests on to services that charge
_CLOUD: Final = re.compile(r"[:-]cloud$")  # models that Ollama does not run itself


class PriceList:
    """Prices under given settings, cached after the first lookup."""

    def __init__(self, settings: Settings, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._settings = settings
        self._clock = clock
        self._known: dict[str, tuple[Price, ...]] = {}
        self._cards = provider_profiles(settings)

    def price(self, name: str) -> Price | None:
        """The current price of `provider/model`; None when it is not known."""
        if name not in self._known:
            self._known[name] = self._find(name)
        return price_at(self._known[name], self._clock.now())

    def cost(self, name: str, usage: Usage) -> int | None:
        """The cost of a request to `provider/model`, in picodollars; None when its price is not known."""
        price = self.price(name)
        return None if price is None else cost_of(usage, price)

    def _find(self, name: str) -> tuple[Price, ...]:
        provider, model = self._called(name)
        profile = self._cards.get(provider)
        if profile is not None and profile.section.replay is not None:
            return (FREE,)
        own = self._own.get((provider, model)) or self._own.get((provider, "*"))
        if own is not None:
            return (_price_of(own),)
        if profile is None:
            return ()
        if profile.kind in _BUILT_IN or _costs_nothing(profile, model):
            return (FREE,)
        known = profile.about(model)
        return () if known is None else known.prices

    @cached_property
    def _own(self) -> Mapping[tuple[str, str], PriceSection]:
        """The user's prices, with services by their canonical names."""
        return {self._called(name): price for name, price in self._settings.prices.items()}

    def _called(self, name: str) -> tuple[str, str]:
        """The canonical name of the provider, which may have others, and the model."""
        provider, _, model = name.partition("/")
        profile = self._cards.get(provider)
        return (provider if profile is None else profile.name), model


def _price_of(price: PriceSection) -> Price:
    return Price(rate=rate_of(price.input, price.output, price.cached_read, price.cached_write))


def _costs_nothing(profile: ProviderProfile, model: str) -> bool:
    """True if the model runs on the user's own machine."""
    local = profile.service is not None and profile.service.local and profile.name not in _GATEWAYS
    return local and not _CLOUD.search(model) and _is_near(urlsplit(profile.base_url).hostname or "")


def _is_near(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False


FREE = Price(rate=Rate(input=0, output=0))


def rate_of(
    input_price: float, output_price: float, cached_read: float | None = None, cached_write: float | None = None
) -> Rate:
    """A rate from US dollars for a million tokens."""
    return Rate(
        input=per_token(input_price),
        output=per_token(output_price),
        cached_read=None if cached_read is None else per_token(cached_read),
        cached_write=None if cached_write is None else per_token(cached_write),
    )


def cost_of(usage: Usage, price: Price) -> int:
    """The cost in picodollars. Thoughts are part of the output, cached tokens part of the input (see `Usage`)."""
    rate = price.long if price.long is not None and usage.input_tokens > price.above else price.rate
    read, written = usage.cached_read_tokens, usage.cached_write_tokens
    plain = max(0, usage.input_tokens - read - written)
    return (
        plain * rate.input
        + read * (rate.input if rate.cached_read is None else rate.cached_read)
        + written * (rate.input if rate.cached_write is None else rate.cached_write)
        + usage.output_tokens * rate.output
    )
