"""The state of all providers, for the command line."""

from collections.abc import Iterator

from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.settings import Settings
from claw_acp.core.address import shown_address
from claw_acp.core.errors import AuthRequired, ClawError
from claw_acp.core.value import Value
from claw_acp.providers.registry.keys import find_key, further_keys
from claw_acp.providers.registry.profiles import ProviderProfile, provider_profiles
from claw_acp.providers.registry.wire_families import is_known, nearest


class ProviderState(Value):
    """One provider.

    Attributes:
        name: As configured.
        aliases: Its other names.
        kind: The wire family; empty when the configuration lacks it.
        base_url: The address in force without secrets, and its origin; empty when there is none.
        key_variables: The variables of its key.
        key_source: The source of its key (a variable's name, a reference), never the key; None without one.
        further_keys: The number of its further keys.
        models: The models it offers.
        ready: Whether it can be used now.
        problem: The problem; None when ready.
        configured: Whether the user's file mentions it.
        local: Whether it is a model server on this machine.
        wrong_key: Whether it has an unusable key.
    """

    name: str
    aliases: tuple[str, ...]
    kind: str
    base_url: str
    base_url_origin: str
    key_variables: tuple[str, ...]
    key_source: str | None
    further_keys: int
    models: tuple[str, ...]
    ready: bool
    problem: str | None
    configured: bool
    local: bool
    wrong_key: bool


def provider_states(settings: Settings) -> list[ProviderState]:
    """Every known and configured provider, in the order in which one is chosen."""
    return [_state(profile, settings=settings) for profile in provider_profiles(settings).values()]


def unknown_kinds(settings: Settings) -> Iterator[Diagnostic]:
    """A diagnostic for each provider whose `kind` is not installed."""
    for name, section in settings.providers.items():
        if section.kind is not None and not is_known(section.kind):
            key = f"providers.{name}.kind"
            file, _, line = settings.origin(key).place.rpartition(":")
            yield Diagnostic(
                severity="error",
                file=file,
                line=int(line) if line.isdecimal() else None,
                key=key,
                message=f'there is no kind "{section.kind}", so the provider is not used',
                suggestion=nearest(section.kind),
            )


def _state(profile: ProviderProfile, *, settings: Settings) -> ProviderState:
    key_source: str | None = None
    problem: str | None = None
    wrong_key = False
    # Generic keys serve a provider that a model's name asks for; here that is the configured one.
    named = (settings.model or "").partition("/")[0] == profile.name
    try:
        profile.check()
        found = find_key(profile, settings=settings, named=named)
        key_source = found.source if found else None
    except ClawError as error:
        problem, wrong_key = error.message, isinstance(error, AuthRequired)
    else:
        problem = None if found and not profile.local else _lack(profile, settings=settings)
    service = profile.service
    return ProviderState(
        name=profile.name,
        aliases=service.aliases if service else (),
        kind=profile.kind,
        base_url=shown_address(profile.base_url),
        base_url_origin=profile.base_url_origin.text(),
        key_variables=service.key_variables if service else (),
        key_source=key_source,
        further_keys=sum(1 for _ in further_keys(profile, settings=settings)),
        models=profile.models,
        ready=problem is None,
        problem=problem,
        configured=profile.name in settings.providers or profile.invalid is not None,
        local=profile.local,
        wrong_key=wrong_key,
    )


def _lack(profile: ProviderProfile, *, settings: Settings) -> str | None:
    """The reason a provider cannot be used without a key."""
    service = profile.service
    if profile.sign_in == "missing":
        return f"its credentials need a package; run pip install 'claw-acp[{profile.kind}]'"
    if profile.needs_key:
        return f"no key; set {service.key_variable}" if service else "no key"
    if service is None or not service.local or profile.overridden or profile.section.base_url:
        return None
    if profile.found is None:
        return "not running" if settings.local_servers else "not looked for"
    if not profile.found.locked:
        return None
    advice = f"set {service.key_variable}" if service.key_variable else "set api_key"
    return f"it needs a key; {advice}"
