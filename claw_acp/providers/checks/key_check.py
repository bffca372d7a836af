"""Testing a key with a small real request, before it is relied on."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio
from anyio import to_thread

from claw_acp.contracts.provider import ChatOptions, ChatRequest, ModelInfo, Provider
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import (
    AuthRequired,
    ProviderAuthFailed,
    ProviderError,
    ProviderTimeout,
    ProviderUnreachable,
)
from claw_acp.core.messages import Message
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value
from claw_acp.providers.assembly import factory_of
from claw_acp.providers.models.chat_models import for_chat
from claw_acp.providers.registry.keys import foreign_vendor
from claw_acp.providers.registry.profiles import ProviderProfile, with_list
from claw_acp.providers.selection.setups import connection_of, quirks_of

TRIAL_TIMEOUT = 20.0  # seconds for everything that is asked
CLOSE_TIMEOUT = 1.0  # seconds to let go of the connections

_FORBIDDEN = 403  # the key is known, but not for this: some keys may ask models and not list them


class KeyCheck(Value):
    """A service's answer to a key.

    Attributes:
        models: The models to choose from; empty when unknown.
        proven: Whether the answer depended on the key; some services answer any request.
        listed: The chat models that the service lists.
    """

    models: tuple[str, ...]
    proven: bool
    listed: tuple[ModelInfo, ...] = ()


async def check_key(profile: ProviderProfile, key: Secret | None) -> KeyCheck:
    """Ask the service of a profile for its models and, if that proves nothing, for one word.

    Raises:
        AuthRequired: The key plainly belongs to another vendor.
        ProviderAuthFailed: The service refused the key; the text quotes it.
        ProviderError: It could not be reached.
        ConfigError: The profile is not complete.
    """
    profile.check()
    vendor = None if key is None else foreign_vendor(profile, key)
    if vendor is not None:
        raise AuthRequired(f'that looks like a key of {vendor}, and "{profile.name}" needs one of its own')
    try:
        with anyio.fail_after(TRIAL_TIMEOUT):
            return await _checked(profile, key)
    except TimeoutError as error:
        text = f"{profile.name}: {profile.base_url} did not answer within {TRIAL_TIMEOUT:g} s. Try again in a moment."
        raise ProviderTimeout(text, provider=profile.name) from error


async def _checked(profile: ProviderProfile, key: Secret | None) -> KeyCheck:
    async with _provider(profile, key) as provider:
        try:
            listed = for_chat(await provider.models())
        except (ProviderUnreachable, ProviderTimeout):
            raise
        except ProviderError as error:
            if isinstance(error, ProviderAuthFailed) and (error.status != _FORBIDDEN or not profile.models):
                raise
            if not await _answers(provider, profile.models):
                raise
            return KeyCheck(models=profile.models, proven=key is not None)
        models = with_list(profile, listed).models if listed else ()
        proven = key is not None
        if proven and not profile.at_home and not await _refuses_others(profile):
            proven = await _answers(provider, models or profile.models)
        return KeyCheck(models=models, proven=proven, listed=listed)


async def _refuses_others(profile: ProviderProfile) -> bool:
    """True if listing models requires a valid key, so that a list proves it."""
    async with _provider(profile, None) as stranger:
        try:
            await stranger.models()
        except ProviderAuthFailed:
            return True
        except ProviderError:
            return False
    return False


async def _answers(provider: Provider, models: Sequence[str]) -> bool:
    """True if the first model answers.

    Raises:
        ProviderAuthFailed: The key is refused.
    """
    if not models:
        return False
    request = ChatRequest(model=models[0], messages=[Message.user("Hi")], options=ChatOptions(max_tokens=1))
    try:
        await provider.chat(request)
    except ProviderAuthFailed:
        raise
    except ProviderError:
        return False  # out of credit, overloaded, no such model: all this says nothing about the key
    return True


@asynccontextmanager
async def _provider(profile: ProviderProfile, key: Secret | None) -> AsyncGenerator[Provider]:
    setup = ProviderSetup(
        name=profile.name,
        kind=profile.kind,
        base_url=profile.base_url,
        api_key=key,
        timeout=TRIAL_TIMEOUT,
        headers=profile.headers,
        quirks=quirks_of(profile),
        connection=connection_of(profile.section),
        region=profile.section.region or "",
        api_version=profile.section.api_version or "",
    )
    provider = await to_thread.run_sync(partial(_made, setup))  # imports the wire family
    try:
        yield provider
    finally:
        with anyio.move_on_after(CLOSE_TIMEOUT, shield=True):
            await provider.aclose()


def _made(setup: ProviderSetup) -> Provider:
    return factory_of(setup)(setup)
