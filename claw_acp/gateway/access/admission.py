"""Admission of requests: by the owner's token, or by one with the scope that the request needs."""

import logging
from collections.abc import Collection
from typing import Final

from claw_acp.core.clock import Clock
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value
from claw_acp.gateway.access.guess_limit import GuessLimit
from claw_acp.gateway.access.scope import EVERYTHING, Scope, covers
from claw_acp.gateway.access.token_store import TokenStore
from claw_acp.gateway.http.exchange import Head
from claw_acp.gateway.http.http_error import HttpError
from claw_acp.gateway.http.token_check import shown_token

log = logging.getLogger(__name__)

_REALM: Final = 'Bearer realm="acp"'


class Client(Value):
    """The holder of a token.

    Attributes:
        name: The token's name.
        scopes: What it may do.
        lifetime: Seconds until the token ends; None: it does not.
    """

    name: str
    scopes: frozenset[Scope]
    lifetime: float | None = None

    def may_grant(self, scopes: Collection[Scope], *, lifetime: float | None) -> bool:
        """Return whether this client may get another one a token: never for more, or for longer, than its own."""
        lasts = self.lifetime is None or (lifetime is not None and lifetime <= self.lifetime)
        return lasts and all(covers(self.scopes, scope) for scope in scopes)


OWNER: Final = Client(name="owner", scopes=EVERYTHING)
ANYONE: Final = Client(name="", scopes=frozenset())


class Admission:
    """Decides about requests by their tokens.

    Args:
        owner: The owner's token; None admits everyone as the owner.
        tokens: The other ones.
        clock: Time.
    """

    def __init__(self, owner: Secret | None, tokens: TokenStore, *, clock: Clock) -> None:
        self._owner = owner
        self._tokens = tokens
        self._clock = clock
        self._guesses = GuessLimit(clock)

    @property
    def needs_token(self) -> bool:
        """Return whether clients must show a token."""
        return self._owner is not None

    def admit(self, head: Head, scope: Scope) -> Client:
        """The client that a request comes from.

        Raises:
            HttpError: 401, no token or a wrong one; 403, one of other scopes; 429, too many wrong ones.
        """
        if self._owner is None:
            return OWNER
        shown = shown_token(head)
        if shown is None:
            raise HttpError(
                401, "a token is needed: `Authorization: Bearer TOKEN`", headers={"www-authenticate": _REALM}
            )
        client = self._holder(head, shown)
        if not covers(client.scopes, scope):
            challenge = f'{_REALM}, error="insufficient_scope", scope="{scope}"'
            raise HttpError(403, f"this token does not have the scope {scope}", headers={"www-authenticate": challenge})
        return client

    def _holder(self, head: Head, shown: str) -> Client:
        if wait := self._guesses.wait(head.address):
            raise HttpError(
                429, "too many wrong tokens came from this address", headers={"retry-after": f"{wait + 1:.0f}"}
            )
        if Secret(shown) == self._owner:  # in constant time
            return OWNER
        token = self._tokens.holder(shown)
        if token is None:
            self._guesses.note(head.address, shown)
            raise HttpError(401, "the token is wrong", headers={"www-authenticate": f'{_REALM}, error="invalid_token"'})
        lifetime = None if token.expires_at is None else token.expires_at - self._clock.now()
        return Client(name=token.name, scopes=token.scopes, lifetime=lifetime)
