"""Pairing: a short code, which a person carries to another machine, becomes a token there."""

import hmac
import logging
import secrets
from typing import Final

from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError, InvalidRequest
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value
from claw_acp.gateway.access.guess_limit import GuessLimit
from claw_acp.gateway.access.scope import Scope
from claw_acp.gateway.access.token_store import TokenStore

log = logging.getLogger(__name__)

ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # nothing that looks like something else
LENGTH: Final = 8
VALID: Final = 600.0  # seconds
MOST: Final = 3  # codes at once
TRIES: Final = 5  # different wrong codes from one address before it has to wait
LOCKED: Final = 600.0  # seconds
MOST_WRONG: Final = 1000  # wrong codes from everywhere before those that wait are dropped


class WrongCode(ClawError):
    """The code is wrong, used or too old."""

    code = -31041


class PairingLocked(ClawError):
    """Too many wrong codes came from an address."""

    code = -31042


class _Pending(Value):
    code: str
    scopes: frozenset[Scope]
    lifetime: float | None
    until: float


class Pairing:
    """The codes of one server. They live in memory only.

    Args:
        tokens: Where tokens are stored.
        clock: Time.
    """

    def __init__(self, tokens: TokenStore, *, clock: Clock) -> None:
        self._tokens = tokens
        self._clock = clock
        self._pending: list[_Pending] = []
        self._wrong = 0
        self._guesses = GuessLimit(clock, guesses=TRIES, window=LOCKED)

    def begin(self, scopes: frozenset[Scope], *, lifetime: float | None) -> str:
        """A new code for a token with `scopes` that lasts `lifetime` seconds (None: for ever).

        Raises:
            InvalidRequest: Too many codes are waiting.
        """
        self._expire()
        if len(self._pending) >= MOST:
            raise InvalidRequest(f"{MOST} codes are waiting to be used; they last {VALID / 60:.0f} minutes")
        code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
        until = self._clock.monotonic() + VALID
        self._pending.append(_Pending(code=code, scopes=scopes, lifetime=lifetime, until=until))
        return code

    def finish(self, code: str, name: str, *, address: str) -> tuple[Secret, frozenset[Scope]]:
        """The token for a code, which cannot be used again, and its scopes.

        Raises:
            WrongCode: It is wrong, used or too old.
            PairingLocked: Too many wrong codes came from `address`.
            InvalidRequest: The name is taken or not usable; the code stays.
        """
        self._expire()
        if left := self._guesses.wait(address):
            raise PairingLocked(
                f"too many wrong codes came from this address; it can pair again in {left / 60:.0f} minutes"
            )
        found = self._found(code.upper().replace("-", "").replace(" ", ""))
        if found is None:
            self._count_wrong(code, address=address)
            raise WrongCode("the code is wrong, used, or too old; `claw-acp serve pair` makes a new one")
        token = self._tokens.add(name, found.scopes, lifetime=found.lifetime)
        self._pending.remove(found)
        self._wrong = 0
        log.info("paired", extra={"client": name, "address": address, "scopes": " ".join(sorted(found.scopes))})
        return token, found.scopes

    def _found(self, code: str) -> _Pending | None:
        found = None
        for pending in self._pending:  # all, so that the time tells nothing
            if hmac.compare_digest(pending.code.encode(), code.encode("utf-8", "surrogatepass")):
                found = pending
        return found

    def _count_wrong(self, code: str, *, address: str) -> None:
        if not self._pending:
            return  # there is nothing to guess
        self._guesses.note(address, code)
        self._wrong += 1
        if self._wrong >= MOST_WRONG:
            log.warning("codes for pairing are dropped: too many wrong ones came", extra={"wrong": self._wrong})
            self._pending.clear()
            self._wrong = 0

    def _expire(self) -> None:
        now = self._clock.monotonic()
        self._pending = [pending for pending in self._pending if pending.until > now]
