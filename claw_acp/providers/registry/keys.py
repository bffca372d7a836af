"""Finding the key of a provider: the configuration, the vendor's variable, a login, then the generic variables."""

import logging
from collections.abc import Iterator, Mapping

from claw_acp.config.key_reference import KeyReference
from claw_acp.config.settings import Settings
from claw_acp.core.errors import AuthRequired, ClawError, ConfigError
from claw_acp.core.printable import full_sentence
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value
from claw_acp.providers.registry.profiles import Card
from claw_acp.providers.registry.services import (
    GENERIC_KEY_VARIABLES,
    SERVICES,
    services_with_key,
    stranger_at,
    vendor_of_key,
)

log = logging.getLogger(__name__)


class FoundKey(Value):
    """A key and where it is.

    Attributes:
        secret: The key; None while it has not been read, which takes time: `slow` says from where.
        source: Where it is, in words that may be shown.
        brief: The same without any path, for other programs.
        slow: The reference to be read by a `KeyShelf`, None for a key that was there at once.
    """

    secret: Secret | None
    source: str
    brief: str
    slow: KeyReference | None = None


def find_key(card: Card, *, settings: Settings, named: bool) -> FoundKey | None:
    """The provider's key, None when there is none. Generic keys serve only a provider the user `named`.

    Raises:
        AuthRequired: The configured reference leads nowhere, or the key is another vendor's.
    """
    if card.overridden:
        return None  # a client has said what is sent, and all of it
    found = (
        _configured(card, settings=settings)
        or _in_environment(_own_variable(card), settings=settings)
        or _logged_in(card, settings=settings)
        or (_in_environment(_generic_variables(card), settings=settings) if named else None)
    )
    if found is not None:
        _check_vendor(found, card=card)
    return found


def require_key(card: Card, *, settings: Settings, given: str | None = None) -> FoundKey | None:
    """The key of a provider the user named, `given` before all others; None only where requests may go without one.

    Raises:
        AuthRequired: There is none, or none that can be used; the text says which variable to set.
    """
    if given:
        found = FoundKey(secret=Secret(given.strip()), source="the key that was given", brief="given")
        _check_vendor(found, card=card)
        return found
    found = find_key(card, settings=settings, named=True)
    if found is None and card.needs_key and not card.sign_in:
        variable = card.service.key_variable if card.service else ""
        raise AuthRequired(
            f'there is no key for "{card.name}"; run `claw-acp login {card.name}` in a terminal, '
            f"set the environment variable {variable}, or api_key under [providers.{card.name}] in config.toml"
        )
    return found


def further_keys(card: Card, *, settings: Settings) -> Iterator[FoundKey]:
    """The keys that are used when the first one is refused or limited (`api_keys`).

    One that leads nowhere, or to another vendor, is left out with a line in the log.
    """
    keys = card.section.api_keys if card.section.api_key else card.section.api_keys[1:]
    for reference in () if card.overridden else keys:
        source = f"{reference.describe()} in api_keys"
        try:
            found = _referred(reference, source=source, brief="config.toml", settings=settings)
            _check_vendor(found, card=card)
        except ClawError as error:
            log.info("key left out", extra={"provider": card.name, "key": source, "reason": error.message})
        else:
            yield found


def foreign_vendor(card: Card, key: Secret) -> str | None:
    """Whom a key plainly belongs to that is not the vendor asked. A gateway of the user's own may take any key."""
    if card.service is None or not card.at_home:
        return None
    return stranger_at(card.service.vendor, key.reveal())


def _configured(card: Card, *, settings: Settings) -> FoundKey | None:
    reference = card.section.api_key or next(iter(card.section.api_keys), None)
    if reference is None:
        return None
    origin = settings.origin(f"providers.{card.name}.api_key")
    source = f"{reference.describe()} in {origin.place or 'the configuration'}"
    try:
        return _referred(reference, source=source, brief="config.toml", settings=settings)
    except ConfigError as error:
        raise AuthRequired(f'there is no key for "{card.name}": {error.message}') from error


def _logged_in(card: Card, *, settings: Settings) -> FoundKey | None:
    login = settings.logins.get(card.name)
    if login is None or login.reference is None:
        return None
    return _referred(login.reference, source=login.source, brief="claw-acp login", settings=settings)


def _referred(reference: KeyReference, *, source: str, brief: str, settings: Settings) -> FoundKey:
    if reference.slow:
        return FoundKey(secret=settings.keys.known(reference), source=source, brief=brief, slow=reference)
    return FoundKey(secret=reference.resolve(settings.environ), source=source, brief=brief)


def _in_environment(variables: tuple[str, ...], *, settings: Settings) -> FoundKey | None:
    for variable in variables:
        if value := settings.environ.get(variable, "").strip():
            return FoundKey(secret=Secret(value), source=variable, brief=variable)
    return None


def _own_variable(card: Card) -> tuple[str, ...]:
    return card.service.key_variables if card.service else ()


def _generic_variables(card: Card) -> tuple[str, ...]:
    """None where no key is taken, nor where one would take the place of AWS credentials that were meant."""
    return () if card.kind in {"offline", "scripted", "bedrock"} else GENERIC_KEY_VARIABLES


def misplaced_keys(cards: Mapping[str, Card], *, settings: Settings) -> Iterator[str]:
    """Keys in the environment that no provider uses by itself, since they stand in the wrong variable; a sentence each.

    That is another vendor's key, or the key of a known vendor in a variable of nobody in particular.
    """
    for name in services_with_key(settings.environ):
        try:
            find_key(cards[name], settings=settings, named=False)
        except AuthRequired as error:
            yield full_sentence(error.message[:1].upper() + error.message[1:])
    for variable in GENERIC_KEY_VARIABLES:
        vendor = vendor_of_key(settings.environ.get(variable, "").strip())
        home = None if vendor is None else _home_of(vendor)
        if home is not None:
            yield f"The key in {variable} looks like one of {vendor}: set {home} to it."


def _home_of(vendor: str) -> str | None:
    """The variable where the keys of a vendor belong."""
    return next((each.key_variable for each in SERVICES.values() if each.vendor == vendor and each.key_variable), None)


def _check_vendor(found: FoundKey, *, card: Card) -> None:
    vendor = None if found.secret is None else foreign_vendor(card, found.secret)
    if vendor is not None and card.service is not None:
        home = _home_of(vendor)
        belongs = f", or {home} to this one" if home else ""
        raise AuthRequired(
            f'the key for "{card.name}" ({found.source}) looks like a key of {vendor}; '
            f"set {card.service.key_variable} to a key of {card.service.vendor}{belongs}"
        )
