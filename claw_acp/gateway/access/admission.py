"""Admission of requests: by the owner's token, or by one with the scope that the request needs."""

from typing import Final

from claw_acp.core.clock import Clock
from claw_acp.core.secret import Secret
from claw_acp.gateway.access.client import OWNER, Client
from claw_acp.gateway.access.guess_limit import GuessLimit
from claw_acp.gateway.access.scope import Scope, covers
from claw_acp.gateway.access.token_store import TokenStore
from claw_acp.gateway.access.visits import Visits
from claw_acp.gateway.http.exchange import Head
from claw_acp.gateway.http.http_error import HttpError
from claw_acp.gateway.http.token_check import shown_token

GUESSES: Final = 10  # different wrong tokens from one address within the window
WINDOW: Final = 60.0  # seconds

_REALM: Final = 'Bearer realm="acp"'


class Admission:
    """Decides about requests by their tokens.

    Args:
        owner: The owner's token; None admits everyone as the owner.
        tokens: The other ones.
        clock: Time.
        chosen: Whether a person chose the owner's token. Those that we make cannot be guessed.

    Attributes:
        visits: What has to end together with a token.
    """

    def __init__(self, owner: Secret | None, tokens: TokenStore, *, clock: Clock, chosen: bool = False) -> None:
        self._owner = owner
        self._tokens = tokens
        self._clock = clock
        self._chosen = chosen
        self._guesses = GuessLimit(clock, guesses=GUESSES, window=WINDOW)
        self.visits = Visits(tokens, clock=clock)

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
            reason = f"this token does not have the scope {scope}"
            raise HttpError(403, reason, headers={"www-authenticate": challenge}, client=client.name)
        return client

    def _holder(self, head: Head, shown: str) -> Client:
        """The holder of a token. Only one that a person chose can be guessed, and is not looked at after guesses.

        Those who guess so do not lock out the others, whose address they may share.
        """
        token = self._tokens.find(shown)
        if token is not None and not self._tokens.has_expired(token):
            lifetime = None if token.expires_at is None else token.expires_at - self._clock.now()
            return Client(name=token.name, scopes=token.scopes, lifetime=lifetime, token=token, visits=self.visits)
        is_owner = Secret(shown) == self._owner  # in constant time
        wait = self._guesses.wait(head.address)
        if is_owner and not (wait and self._chosen):
            return OWNER
        if wait:
            raise HttpError(
                429, "too many wrong tokens came from this address", headers={"retry-after": f"{wait + 1:.0f}"}
            )
        challenge = {"www-authenticate": f'{_REALM}, error="invalid_token"'}
        if token is not None:
            raise HttpError(401, "the token has expired", headers=challenge, client=token.name)
        self._guesses.note(head.address, shown)
        raise HttpError(401, "the token is wrong", headers=challenge)
