"""The services and secrets of the settings for tools that reach the web."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from claw_acp.config.key_reference import KeyReference
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.web import NamedSecret, NamedSecrets, SearchKind, SearchService, SearchServices
from claw_acp.core.secret import Secret
from claw_acp.security.rules import host_of

KEY_VARIABLES: Final[Mapping[SearchKind, str]] = {"brave": "BRAVE_API_KEY", "tavily": "TAVILY_API_KEY"}
_ADDRESSES: Final = {
    "brave": "https://api.search.brave.com",
    "tavily": "https://api.tavily.com",
    "duckduckgo": "https://html.duckduckgo.com",
}


def search_services(settings: Settings, secrets: SecretCache) -> SearchServices:
    """The services that search the web, in the order in which they are asked."""
    return SearchServices(services=tuple(_services(settings, secrets)))


def named_secrets(settings: Settings, secrets: SecretCache) -> NamedSecrets:
    """The secrets that requests may carry."""
    return NamedSecrets(
        secrets=tuple(
            NamedSecret(
                name=name,
                header=entry.header,
                hosts=entry.hosts,
                before=entry.before,
                value=_reading(entry.secret, settings, secrets),
            )
            for name, entry in settings.request_secrets.items()
        )
    )


def _services(settings: Settings, secrets: SecretCache) -> Iterator[SearchService]:
    search, environ = settings.search, settings.environ
    own = search.searxng or environ.get("SEARXNG_URL", "").strip().rstrip("/")
    if host_of(own) is not None:
        yield SearchService(kind="searxng", address=own, own=True)
    keys: dict[SearchKind, KeyReference | None] = {
        "brave": search.brave or _in_variable(settings, KEY_VARIABLES["brave"]),
        "tavily": search.tavily or _in_variable(settings, KEY_VARIABLES["tavily"]),
    }
    for kind, reference in keys.items():
        if reference is not None:
            yield SearchService(kind=kind, address=_ADDRESSES[kind], key=_reading(reference, settings, secrets))
    if search.duckduckgo:
        yield SearchService(kind="duckduckgo", address=_ADDRESSES["duckduckgo"])


def _in_variable(settings: Settings, name: str) -> KeyReference | None:
    value = settings.environ.get(name, "").strip()
    return KeyReference(kind="text", secret=Secret(value)) if value else None


def _reading(reference: KeyReference, settings: Settings, secrets: SecretCache) -> Callable[[], str]:
    return partial(_read, reference, settings=settings, secrets=secrets)


def _read(reference: KeyReference, *, settings: Settings, secrets: SecretCache) -> str:
    environ = settings.environ
    found = secrets.fetch(reference, environ) if reference.slow else reference.resolve(environ)
    return found.reveal()
