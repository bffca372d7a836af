"""Factories of the providers that need no network."""

from typing import TYPE_CHECKING

from claw_acp.contracts.provider import Provider
from claw_acp.contracts.provider_setup import ProviderFactory, ProviderSetup
from claw_acp.core.errors import ConfigError
from claw_acp.providers.offline import OfflineProvider
from claw_acp.providers.scripted import ScriptedProvider


def offline(setup: ProviderSetup) -> Provider:
    """The built-in assistant."""
    return OfflineProvider(name=setup.name)


def scripted(setup: ProviderSetup) -> Provider:
    """Answers played back from a file.

    Raises:
        ConfigError: There is no script, or it is not one.
    """
    if setup.script is None:
        raise ConfigError(f'the provider "{setup.name}" plays a script; name it: script = "PATH"')
    return ScriptedProvider.from_file(setup.script, name=setup.name)


if TYPE_CHECKING:
    _factories: tuple[ProviderFactory, ...] = (offline, scripted)
