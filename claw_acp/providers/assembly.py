"""Building providers: plain from a setup, resilient from a resolved model."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias, cast

import anyio

from claw_acp.contracts.provider import ModelInfo, Provider
from claw_acp.contracts.provider_setup import BackgroundTasks, ProviderFactory, ProviderSetup
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import ConfigError
from claw_acp.core.value import replace
from claw_acp.providers.fallback.plan import Health
from claw_acp.providers.fallback.reliable import Reliable
from claw_acp.providers.fallback.succession import Successions, SuccessorProvider
from claw_acp.providers.foreign_providers import make_provider
from claw_acp.providers.registry.wire_families import families, nearest
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.providers.text_tools.provider import TextToolProvider, ToolModes
from claw_acp.registry.entry_points import load_extension
from claw_acp.registry.reference import Ref

BUILT_IN = frozenset({"offline", "scripted"})
"""Kinds that answer locally: their failures would repeat, and tests want to see them."""

NEVER_IN_TEXT = frozenset({"offline"})
"""Kinds whose text is never read for tool calls: they repeat what files hold, and make their own calls."""

MakePlain: TypeAlias = Callable[[ProviderSetup], Provider]

log = logging.getLogger(__name__)


def factory_of(setup: ProviderSetup) -> ProviderFactory:
    """The factory of the setup's wire family.

    Raises:
        ConfigError: There is no such family, or it cannot be loaded.
    """
    reference = families().get(setup.kind)
    if reference is None:
        raise ConfigError(f'[providers.{setup.name}] has the unknown kind "{setup.kind}"; {nearest(setup.kind)}')
    factory = load_extension(cast("Ref[ProviderFactory]", reference), kind="providers", name=setup.kind)
    if factory is None:
        raise ConfigError(f'the provider kind "{setup.kind}" ({reference.text}) cannot be loaded; the log says why')
    return factory


def plain(
    setup: ProviderSetup,
    *,
    tool_modes: ToolModes | None = None,
    clock: Clock = SYSTEM_CLOCK,
    about: Callable[[str, str, str], ModelInfo | None] | None = None,
    tasks: BackgroundTasks | None = None,
) -> Provider:
    """A new provider with one key and no retries. Its wire family is imported now. Close it with `aclose`.

    Args:
        setup: Its settings.
        tool_modes: The models that need tools described in text; None: all get native tools.
        clock: The time.
        about: The facts about a model, by provider, address and name; None: only those derived from its name.
        tasks: Runs its work beside requests; None: tasks of its own.

    Raises:
        ConfigError: There is no such wire family, or it cannot be loaded, or its setup is wrong.
    """
    known = setup.about if about is None else partial(about, setup.name, setup.base_url)
    provider = make_provider(factory_of(setup), replace(setup, clock=clock, about=known, tasks=tasks))
    if tool_modes is None or setup.kind in NEVER_IN_TEXT:
        return provider
    return TextToolProvider(provider, memory=tool_modes)


def resilient(
    model: ResolvedModel,
    *,
    make: MakePlain = plain,
    health: Health | None = None,
    clock: Clock = SYSTEM_CLOCK,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    successions: Successions | None = None,
) -> Provider:
    """The provider of a model, including its fallbacks.

    Args:
        model: The model, with its keys.
        make: Makes the plain providers.
        health: The targets that cool down.
        clock: Time for waits.
        sleep: Waits.
        successions: The retired models and their successors; None: not tracked.

    Raises:
        ConfigError: The chosen provider cannot be made; fallbacks that cannot are left out, with a line in the log.
    """
    assert not model.target.unread, "the key is still to be read: see resolve_ready"
    chosen = make(model.setup)
    within = model.setup.kind in BUILT_IN
    if within and not model.fallbacks:
        return chosen
    targets, providers = [model.target], {model.setup: chosen}
    for target in model.fallbacks:
        try:
            providers[target.setup] = providers.get(target.setup) or make(target.setup)
        except ConfigError as error:
            log.warning("fallback left out", extra={"fallback": target.name, "reason": error.message})
            continue
        targets.append(target)
    provider = Reliable(targets, providers=providers, health=health, secrets=model.secrets, clock=clock, sleep=sleep)
    return provider if successions is None or within else SuccessorProvider(provider, model, memory=successions)
