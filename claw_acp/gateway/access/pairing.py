"""Pairing: a short code, which a person carries to another machine, becomes a token there."""

import hmac
import logging
import secrets
from typing import Final

from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError, InvalidRequest
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value
from claw_acp.gateway.access.scope import Scope
from claw_acp.gateway.access.token_store import TokenStore

log = logging.getLogger(__name__)

ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # nothing that looks like something else
LENGTH: Final = 8
VALID: Final = 600.0  # seconds
MOST: Final = 3  # codes at once
TRIES: Final = 5  # wrong codes before pairing is locked
LOCKED: Final = 600.0  # seconds


class WrongCode(ClawError):
    """The code is wrong, used or too old."""

    code = -31041


class PairingLocked(ClawError):
    """Too many wrong codes were tried."""

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
        self._locked_until = 0.0

    def begin(self, scopes: frozenset[Scope], *, lifetime: float | None) -> str:
        """A new code for a token with `scopes` that lasts `lifetime` seconds (None: for ever).

        Raises:
            InvalidRequest: Too many codes are waiting.
            PairingLocked: Too many wrong codes were tried.
        """
        self._expire()
        self._check_lock()
        if len(self._pending) >= MOST:
            raise InvalidRequest(f"{MOST} codes are waiting to be used; they last {VALID / 60:.0f} minutes")
        code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
        until = self._clock.monotonic() + VALID
        self._pending.append(_Pending(code=code, scopes=scopes, lifetime=lifetime, until=until))
        return code

    def finish(self, code: str, name: str) -> tuple[Secret, frozenset[Scope]]:
        """The token for a code, which cannot be used again, and its scopes.

        Raises:
            WrongCode: It is wrong, used or too old.
            PairingLocked: Too many wrong codes were tried.
            InvalidRequest: The name is taken or not usable; the code stays.
        """
        self._expire()
        self._check_lock()
        found = self._found(code.upper().replace("-", "").replace(" ", ""))
        if found is None:
            self._count_wrong()
            raise WrongCode("the code is wrong, used, or too old; `claw-acp serve pair` makes a new one")
        token = self._tokens.add(name, found.scopes, lifetime=found.lifetime)
        self._pending.remove(found)
        self._wrong = 0
        log.info("paired", extra={"client": name, "scopes": " ".join(sorted(found.scopes))})
        return token, found.scopes

    def _found(self, code: str) -> _Pending | None:
        found = None
        for pending in self._pending:  # all, so that the time tells nothing
            if hmac.compare_digest(pending.code.encode(), code.encode("utf-8", "surrogateescape")):
                found = pending
        return found

    def _count_wrong(self) -> None:
        if not self._pending:
            return  # there is nothing to guess
        self._wrong += 1
        if self._wrong >= TRIES:
            log.warning("pairing is locked after wrong codes", extra={"tries": self._wrong, "seconds": LOCKED})
            self._pending.clear()
            self._wrong = 0
            self._locked_until = self._clock.monotonic() + LOCKED

    def _check_lock(self) -> None:
        left = self._locked_until - self._clock.monotonic()
        if left > 0:
            raise PairingLocked(
                f"too many wrong codes were tried; pairing is possible again in {left / 60:.0f} minutes"
            )

    def _expire(self) -> None:
        now = self._clock.monotonic()
        self._pending = [pending for pending in self._pending if pending.until > now]
