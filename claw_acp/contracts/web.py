"""Ports of the tools that reach the web: the services that search it, and the secrets that requests may carry."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Literal, TypeAlias

from claw_acp.contracts.tool import FetchesUrl
from claw_acp.core.value import Value

SearchKind: TypeAlias = Literal["searxng", "brave", "tavily", "duckduckgo"]


def _no_key() -> str:
    return ""


class SearchService(Value):
    """A service that searches the web.

    Attributes:
        kind: Its interface.
        address: Where it is, without a slash at the end.
        key: Returns its key, empty where it needs none; blocks, and raises ConfigError where it cannot be read.
        own: The person named the address, so that it may be on their own network.
    """

    kind: SearchKind
    address: str
    key: Callable[[], str] = _no_key
    own: bool = False


class SearchServices(Value):
    """A port: the services to ask, in order, each if those before it failed."""

    services: Sequence[SearchService]


class NamedSecret(Value):
    """A secret that a request may carry in a header; the model knows its name only.

    Attributes:
        name: Its name.
        header: The header.
        hosts: The hosts that it may be sent to: names, or `*.` and a name for all below it.
        before: Text before it in the header.
        value: Returns it; blocks, and raises ConfigError where it cannot be read.
    """

    name: str
    header: str
    hosts: Sequence[str]
    before: str
    value: Callable[[], str]


class NamedSecrets(Value):
    """A port: the secrets of the person's settings."""

    secrets: Sequence[NamedSecret]


class Browsing(Value):
    """A port: what a browser needs beyond one call.

    Attributes:
        start: Starts work that goes on after the call; whoever starts it ends it.
        may_reach: Returns whether the rules and the mode allow requests without a question: True, False, or None where
            a person would be asked.
    """

    start: Callable[[Callable[[], Coroutine[object, object, None]]], object]
    may_reach: Callable[[Sequence[FetchesUrl]], bool | None]
