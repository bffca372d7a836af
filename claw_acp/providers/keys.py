"""Finding the key of a provider: the configuration, the vendor's variable, then the generic variables."""

from claw_acp.config.settings import Settings
from claw_acp.core.errors import AuthRequired, ConfigError
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value
from claw_acp.providers.cards import Card
from claw_acp.providers.known import GENERIC_KEY_VARIABLES, vendor_of_key


class FoundKey(Value):
    """A key and where it was; `source` may be shown."""

    secret: Secret
    source: str


def find_key(card: Card, *, settings: Settings, named: bool) -> FoundKey | None:
    """The provider's key, None when there is none. Generic keys serve only a provider the user `named`.

    Raises:
        AuthRequired: The configured reference leads nowhere, or the key is another vendor's.
    """
    found = _configured(card, settings=settings) or _in_environment(card, settings=settings, named=named)
    if found is not None:
        _check_vendor(found, card=card)
    return found


def require_key(card: Card, *, settings: Settings) -> FoundKey | None:
    """The key of a provider the user named; None only where requests may go without one.

    Raises:
        AuthRequired: There is none, or none that can be used; the text says which variable to set.
    """
    found = find_key(card, settings=settings, named=True)
    if found is None and card.needs_key:
        variable = card.service.key_variable if card.service else ""
        raise AuthRequired(
            f'there is no key for "{card.name}"; set the environment variable {variable}, '
            f"or api_key under [providers.{card.name}] in config.toml"
        )
    return found


def _configured(card: Card, *, settings: Settings) -> FoundKey | None:
    reference = card.section.api_key
    if reference is None:
        return None
    try:
        secret = reference.resolve(settings.environ)
    except ConfigError as error:
        raise AuthRequired(f'there is no key for "{card.name}": {error.message}') from error
    origin = settings.origin(f"providers.{card.name}.api_key")
    return FoundKey(secret=secret, source=f"{reference.describe()} in {origin.place or 'the configuration'}")


def _in_environment(card: Card, *, settings: Settings, named: bool) -> FoundKey | None:
    own = (card.service.key_variable,) if card.service and card.service.key_variable else ()
    takes_keys = card.kind not in {"offline", "scripted"}
    for variable in own + (GENERIC_KEY_VARIABLES if named and takes_keys else ()):
        if value := settings.environ.get(variable, "").strip():
            return FoundKey(secret=Secret(value), source=variable)
    return None


def _check_vendor(found: FoundKey, *, card: Card) -> None:
    """Refuse a key that plainly belongs to someone else. A gateway of the user's own may take any key."""
    if card.service is None or not card.at_home:
        return
    vendor = vendor_of_key(found.secret.reveal())
    if vendor not in {None, card.service.vendor}:
        raise AuthRequired(
            f'the key for "{card.name}" ({found.source}) looks like a key of {vendor}; '
            f"set {card.service.key_variable} to a key of {card.service.vendor}"
        )
