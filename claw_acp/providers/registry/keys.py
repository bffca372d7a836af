"""Finding the key of a provider: the configuration, the vendor's variable, a login, then the generic variables."""

import logging
from collections.abc import Iterator, Mapping

from claw_acp.config.key_reference import KeyReference
from claw_acp.config.settings import Settings
from claw_acp.core.errors import AuthRequired, ClawError, ConfigError
from claw_acp.core.printable import full_sentence
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value
from claw_acp.providers.registry.profiles import ProviderProfile
from claw_acp.providers.registry.services import (
    GENERIC_KEY_VARIABLES,
    SERVICES,
    other_vendor,
    services_with_key,
    vendor_of_key,
)

log = logging.getLogger(__name__)


class FoundKey(Value):
    """A key and its source.

    Attributes:
        secret: The key; None while it has not been read, which takes time: `slow` is its source.
        source: The source, for people.
        brief: The source without any path, for other programs.
        slow: The reference to be read by a `SecretCache`, None for a key that was available at once.
    """

    secret: Secret | None
    source: str
    brief: str
    slow: KeyReference | None = None


def find_key(profile: ProviderProfile, *, settings: Settings, named: bool) -> FoundKey | None:
    """The provider's key, if any. Generic keys serve only a provider the user `named`.

    Raises:
        AuthRequired: The configured reference cannot be resolved, or the key is another vendor's.
    """
    if profile.overridden:
        return None  # a client has said what is sent, and all of it
    found = (
        _configured(profile, settings=settings)
        or _in_environment(_own_variable(profile), settings=settings)
        or _logged_in(profile, settings=settings)
        or (_in_environment(_generic_variables(profile), settings=settings) if named else None)
    )
    if found is not None:
        _check_vendor(found, profile=profile)
    return found


def require_key(profile: ProviderProfile, *, settings: Settings, given: str | None = None) -> FoundKey | None:
    """The key of a provider the user named, with `given` before all others; None only if it can do without.

    Raises:
        AuthRequired: There is no usable one; the text says which variable to set.
    """
    if given:
        found = FoundKey(secret=Secret(given.strip()), source="the key that was given", brief="given")
        _check_vendor(found, profile=profile)
        return found
    found = find_key(profile, settings=settings, named=True)
    if found is None and profile.needs_key and not profile.sign_in:
        variable = profile.service.key_variable if profile.service else ""
        raise AuthRequired(
            f'there is no key for "{profile.name}"; run `claw-acp login {profile.name}` in a terminal, '
            f"set the environment variable {variable}, or api_key under [providers.{profile.name}] in config.toml"
        )
    return found


def further_keys(profile: ProviderProfile, *, settings: Settings) -> Iterator[FoundKey]:
    """The keys that are used when the first one is refused or limited (`api_keys`).

    Unresolved ones and those of another vendor are left out with a line in the log.
    """
    keys = profile.section.api_keys if profile.section.api_key else profile.section.api_keys[1:]
    for reference in () if profile.overridden else keys:
        source = f"{reference.describe()} in api_keys"
        try:
            found = _referred(reference, source=source, brief="config.toml", settings=settings)
            _check_vendor(found, profile=profile)
        except ClawError as error:
            log.info("key left out", extra={"provider": profile.name, "key": source, "reason": error.message})
        else:
            yield found


def foreign_vendor(profile: ProviderProfile, key: Secret) -> str | None:
    """The vendor this key evidently belongs to, if not the provider's. A gateway of the user's own may take any key."""
    if profile.service is None or not profile.at_home:
        return None
    return other_vendor(profile.service.vendor, key.reveal())


def _configured(profile: ProviderProfile, *, settings: Settings) -> FoundKey | None:
    reference = profile.section.api_key or next(iter(profile.section.api_keys), None)
    if reference is None:
        return None
    origin = settings.origin(f"providers.{profile.name}.api_key")
    source = f"{reference.describe()} in {origin.place or 'the configuration'}"
    try:
        return _referred(reference, source=source, brief="config.toml", settings=settings)
    except ConfigError as error:
        raise AuthRequired(f'there is no key for "{profile.name}": {error.message}') from error


def _logged_in(profile: ProviderProfile, *, settings: Settings) -> FoundKey | None:
    login = settings.logins.get(profile.name)
    if login is None or login.reference is None:
        return None
    return _referred(login.reference, source=login.source, brief="claw-acp login", settings=settings)


def _referred(reference: KeyReference, *, source: str, brief: str, settings: Settings) -> FoundKey:
    if reference.slow:
        return FoundKey(secret=settings.secrets.get(reference), source=source, brief=brief, slow=reference)
    return FoundKey(secret=reference.resolve(settings.environ), source=source, brief=brief)


def _in_environment(variables: tuple[str, ...], *, settings: Settings) -> FoundKey | None:
    for variable in variables:
        if value := settings.environ.get(variable, "").strip():
            return FoundKey(secret=Secret(value), source=variable, brief=variable)
    return None


def _own_variable(profile: ProviderProfile) -> tuple[str, ...]:
    return profile.service.key_variables if profile.service else ()


def _generic_variables(profile: ProviderProfile) -> tuple[str, ...]:
    """The generic variables; none if no key is needed, or if a key would replace AWS credentials."""
    return () if profile.kind in {"offline", "scripted", "bedrock"} else GENERIC_KEY_VARIABLES


def misplaced_keys(profiles: Mapping[str, ProviderProfile], *, settings: Settings) -> Iterator[str]:
    """A sentence for each key in the environment that is unused because it is in the wrong variable.

    That is another vendor's key, or the key of a known vendor in a generic variable.
    """
    for name in services_with_key(settings.environ):
        try:
            find_key(profiles[name], settings=settings, named=False)
        except AuthRequired as error:
            yield full_sentence(error.message[:1].upper() + error.message[1:])
    for variable in GENERIC_KEY_VARIABLES:
        vendor = vendor_of_key(settings.environ.get(variable, "").strip())
        home = None if vendor is None else _home_of(vendor)
        if home is not None:
            yield f"The key in {variable} looks like one of {vendor}: set {home} to it."


def _home_of(vendor: str) -> str | None:
    """The variable for the keys of a vendor."""
    return next((each.key_variable for each in SERVICES.values() if each.vendor == vendor and each.key_variable), None)


def _check_vendor(found: FoundKey, *, profile: ProviderProfile) -> None:
    vendor = None if found.secret is None else foreign_vendor(profile, found.secret)
    if vendor is not None and profile.service is not None:
        home = _home_of(vendor)
        belongs = f", or {home} to this one" if home else ""
        raise AuthRequired(
            f'the key for "{profile.name}" ({found.source}) looks like a key of {vendor}; '
            f"set {profile.service.key_variable} to a key of {profile.service.vendor}{belongs}"
        )
