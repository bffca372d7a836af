"""The agent's own keys, from all sources."""

from collections.abc import Iterable, Iterator

from claw_acp.config.key_reference import KeyReference
from claw_acp.config.secret_text import SecretText
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider_setup import SECRET_NAME_PARTS
from claw_acp.core.child_environment import is_key
from claw_acp.core.errors import ConfigError
from claw_acp.core.value_shapes import is_wordy

_LEAST_LENGTH = 12  # characters; what stands in a variable for no key (`lm-studio`) is shorter


def own_keys(settings: Settings) -> frozenset[str]:
    """All keys available at once: of the configuration, of logins, of variables, of the keyring and commands.

    Not only those of the model that answers: a command may print any of them. A slow key that was not needed yet is not
    known, and cannot appear in our output.
    """
    found = {key for reference in _references(settings) if (key := _read(reference, settings=settings))}
    said = {value.strip() for name, value in settings.environ.items() if is_key(name)}
    return frozenset(found | {key for key in said if len(key) >= _LEAST_LENGTH and not is_wordy(key)})


def _references(settings: Settings) -> Iterator[KeyReference]:
    for section in settings.providers.values():
        if section.api_key is not None:
            yield section.api_key
        yield from section.api_keys
        yield from _named_as_secrets((*section.headers.items(), *section.env.items()))
    for agent in settings.agents.values():
        yield from _named_as_secrets(agent.env.items())
    yield from (key for key in (settings.search.brave, settings.search.tavily) if key is not None)
    yield from (entry.secret for entry in settings.request_secrets.values())
    if (key := settings.memory.embedding.key) is not None:
        yield key
    for login in settings.logins.values():
        if login.reference is not None:
            yield login.reference


def _named_as_secrets(texts: Iterable[tuple[str, SecretText]]) -> Iterator[KeyReference]:
    """Those of some headers or variables that are references to secrets, or named like secrets."""
    for name, text in texts:
        if text.is_kept or any(word in name.lower() for word in SECRET_NAME_PARTS):
            yield text.reference


def _read(reference: KeyReference, *, settings: Settings) -> str:
    try:
        key = settings.secrets.get(reference) if reference.slow else reference.resolve(settings.environ)
    except ConfigError:
        return ""  # whoever needs it is told so
    return "" if key is None else key.reveal()
