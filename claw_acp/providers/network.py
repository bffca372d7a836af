"""Factories of the providers that speak HTTP. Importing this imports httpx; only the entry points name it."""

from typing import TYPE_CHECKING

from claw_acp.contracts.provider import Provider
from claw_acp.contracts.provider_setup import ProviderFactory, ProviderSetup
from claw_acp.net.http import DEFAULT_TIMEOUTS, Timeouts
from claw_acp.providers.anthropic import AnthropicProvider
from claw_acp.providers.known import ANTHROPIC, OPENAI
from claw_acp.providers.openai_chat import OpenAIChatProvider
from claw_acp.providers.retry import RetryingProvider


def openai(setup: ProviderSetup) -> Provider:
    """OpenAI chat completions, retried."""
    provider = OpenAIChatProvider(
        name=setup.name,
        api_key=_key(setup),
        base_url=setup.base_url or OPENAI.base_url,
        headers=_headers(setup),
        secrets=setup.secrets,
        timeouts=_timeouts(setup),
        clock=setup.clock,
    )
    return RetryingProvider(provider, clock=setup.clock)


def anthropic(setup: ProviderSetup) -> Provider:
    """Anthropic messages, retried."""
    provider = AnthropicProvider(
        name=setup.name,
        api_key=_key(setup),
        base_url=setup.base_url.removesuffix("/v1") or ANTHROPIC.base_url,  # people write it both ways
        headers=_headers(setup),
        secrets=setup.secrets,
        timeouts=_timeouts(setup),
        clock=setup.clock,
    )
    return RetryingProvider(provider, clock=setup.clock)


def _key(setup: ProviderSetup) -> str | None:
    return setup.api_key.reveal() if setup.api_key else None


def _headers(setup: ProviderSetup) -> dict[str, str]:
    return {name: value.reveal() for name, value in setup.headers}


def _timeouts(setup: ProviderSetup) -> Timeouts:
    if setup.timeout is None:
        return DEFAULT_TIMEOUTS
    return Timeouts(first_byte=setup.timeout, idle=setup.timeout)


if TYPE_CHECKING:
    _factories: tuple[ProviderFactory, ...] = (openai, anthropic)
