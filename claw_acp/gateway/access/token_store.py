"""Tokens for clients beside the owner's: each with a name, scopes and perhaps an end. Only their hashes are stored."""

import hashlib
import hmac
import json
import logging
import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

from claw_acp.config.atomic_file import only_writer, put_in_place
from claw_acp.config.locations import private_directory
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ConfigError, InvalidRequest
from claw_acp.core.json_value import JsonObject
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value
from claw_acp.gateway.access.scope import SCOPES, Scope

log = logging.getLogger(__name__)

FILE: Final = "serve-tokens.json"
MOST: Final = 200

_NAME: Final = re.compile(r"[\w][\w .@-]{0,63}")
_CHANCE: Final = 32  # bytes: nobody guesses that, so a plain hash is enough


class StoredToken(Value):
    """A token without its text; times are seconds since the epoch, `expires_at` None: it does not expire."""

    name: str
    scopes: frozenset[Scope]
    sha256: str
    created_at: float
    expires_at: float | None = None


class TokenStore:
    """The tokens in a directory. Changes by other processes count at once.

    Args:
        directory: The state directory.
        clock: Time.
        note: Called with the facts of each change before it is made; if it raises a ClawError, nothing is changed.

    Attributes:
        file: Where they are stored.
    """

    def __init__(self, directory: Path, *, clock: Clock, note: Callable[[JsonObject], object] | None = None) -> None:
        self.file = directory / FILE
        self._note = note
        self._clock = clock
        self._known: tuple[int, int] | None = None
        self._tokens: tuple[StoredToken, ...] = ()

    def all(self) -> Sequence[StoredToken]:
        """All tokens, also expired ones.

        Raises:
            ConfigError: The file cannot be read.
        """
        try:
            status = self.file.stat()
            if self._known != (known := (status.st_mtime_ns, status.st_ino)):
                self._tokens = tuple(_parsed(json.loads(self.file.read_text("utf-8"))))
                self._known = known
        except FileNotFoundError:
            self._tokens, self._known = (), None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"the tokens in {self.file} cannot be read: {error}; remove it, and add them anew"
            ) from error
        return self._tokens

    def add(self, name: str, scopes: frozenset[Scope], *, lifetime: float | None) -> Secret:
        """Add a token that lasts `lifetime` seconds (None: for ever); returns its text, which is not stored.

        Raises:
            InvalidRequest: The name is taken or not usable, or there are too many tokens.
            ConfigError: The file cannot be read or written.
        """
        if not _NAME.fullmatch(name):
            raise InvalidRequest("a token's name has at most 64 letters, digits, spaces, `.`, `_`, `-` or `@`")
        token = Secret(f"claw_{secrets.token_urlsafe(_CHANCE)}")
        now = self._clock.now()
        added = StoredToken(
            name=name, scopes=scopes, sha256=_digest(token.reveal()), created_at=now,
            expires_at=None if lifetime is None else now + lifetime,
        )  # fmt: skip
        private_directory(self.file.parent)
        try:
            with only_writer(self.file):
                usable = [token for token in self.all() if not self.has_expired(token)]
                if any(token.name == name for token in usable):
                    raise InvalidRequest(f'there is a token "{name}" already; remove it, or choose another name')
                if len(usable) >= MOST:
                    raise InvalidRequest(f"there are {MOST} tokens already; remove some")
                self._tell({"change": "added", "name": name, "scopes": sorted(scopes)})
                self._write([*usable, added])
        except OSError as error:
            raise ConfigError(f"the tokens in {self.file} cannot be written: {error.strerror}") from error
        return token

    def remove(self, name: str) -> bool:
        """Remove a token; False: there is none with this name.

        Raises:
            ConfigError: The file cannot be read or written.
        """
        if not self.all():
            return False
        try:
            with only_writer(self.file):
                tokens = self.all()
                left = [token for token in tokens if token.name != name]
                if len(left) < len(tokens):
                    self._tell({"change": "removed", "name": name})
                    self._write(left)
        except OSError as error:
            raise ConfigError(f"the tokens in {self.file} cannot be written: {error.strerror}") from error
        return len(left) < len(tokens)

    def find(self, shown: str) -> StoredToken | None:
        """The token with this text, also an expired one. Takes the same time wherever it is found."""
        digest, found = _digest(shown), None
        for token in self._readable():
            if hmac.compare_digest(token.sha256, digest):
                found = token
        return found

    def is_valid(self, token: StoredToken) -> bool:
        """Return whether a token counts now: it was not removed, and has not expired."""
        return not self.has_expired(token) and any(each.sha256 == token.sha256 for each in self._readable())

    def has_expired(self, token: StoredToken) -> bool:
        """Return whether the time of a token is over."""
        return token.expires_at is not None and token.expires_at <= self._clock.now()

    def _tell(self, facts: JsonObject) -> None:
        if self._note is not None:
            self._note(facts)

    def _readable(self) -> Sequence[StoredToken]:
        try:
            return self.all()
        except ConfigError as error:
            log.error("no token but the owner's counts", extra={"reason": error.message})  # noqa: TRY400
            return ()

    def _write(self, tokens: Sequence[StoredToken]) -> None:
        rows = [
            {"name": token.name, "scopes": sorted(token.scopes), "sha256": token.sha256,
             "createdAt": token.created_at, "expiresAt": token.expires_at}
            for token in tokens
        ]  # fmt: skip
        put_in_place(self.file, json.dumps({"tokens": rows}, indent=2) + "\n")
        self._known = None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _parsed(content: Any) -> list[StoredToken]:  # noqa: ANN401 - JSON of a file
    return [
        StoredToken(
            name=str(row["name"]),
            scopes=frozenset(cast("Scope", scope) for scope in row["scopes"] if scope in SCOPES),
            sha256=str(row["sha256"]),
            created_at=float(row["createdAt"]),
            expires_at=None if row["expiresAt"] is None else float(row["expiresAt"]),
        )
        for row in content["tokens"]
    ]
