"""Storing and removing keys: in the system's keyring if there is one, else in `credentials.toml`.

The file also records which keys the keyring holds, so that the keyring is not searched in vain. Everything here blocks:
for worker threads and the command line.
"""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol, TypeVar, cast

from claw_acp.config.atomic_file import only_writer, put_in_place, toml_text
from claw_acp.config.call_in_thread import ThreadCall
from claw_acp.config.credentials import Login, exposed, parse_logins
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.locations import HOME_VARIABLE, Locations, private_directory
from claw_acp.config.provider_section import ProviderSection
from claw_acp.config.secret_cache import KEYRING
from claw_acp.core.errors import ConfigError
from claw_acp.core.secret import Secret

KEYRING_TIMEOUT = 30.0  # seconds for a keyring; it may show a dialog, and a person is there who has just typed a key

Store = Literal["keyring", "file"]

_BARE_KEY = r"[A-Za-z0-9_-]+"
_HEAD = "# Keys of model providers, kept by `claw-acp login`; `claw-acp logout` forgets them. For your eyes only."
_T = TypeVar("_T")


class _Keyring(Protocol):
    def backend_name(self) -> str | None: ...

    def write(self, name: str, key: str) -> None: ...

    def erase(self, name: str) -> None: ...


def keyring_name(*, within: float = KEYRING_TIMEOUT) -> str | None:
    """The name of the system's keyring for people; None when there is none, or it does not answer."""
    try:
        return ThreadCall(lambda: _keyring().backend_name(), name="keyring").result(within=within)
    except TimeoutError:
        return None


class CredentialStore:
    """The logins of one user.

    Args:
        locations: The location of the file.
        environ: Shows whether the home is a special one, whose keyring entries must not mix with the usual ones.
    """

    def __init__(self, locations: Locations, environ: Mapping[str, str]) -> None:
        self._path = locations.credentials_file
        self._tag = f"@{_short_hash(str(self._path))}" if environ.get(HOME_VARIABLE) else ""

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def keep(
        self, provider: str, key: Secret | None, *, section: ProviderSection | None = None, prefer: Store = "keyring"
    ) -> Store:
        """Store a key, replacing an earlier one. Returns the store that was used.

        Args:
            provider: The provider of the key.
            key: None for a service that needs none.
            section: The kind, address and models of a service of the user's own.
            prefer: The keyring is used only if there is one that works.

        Raises:
            ConfigError: It cannot be stored; nothing was changed.
        """
        self._check()
        reference, store = self._put(provider, key, prefer=prefer)
        login = Login(provider=provider, reference=reference, section=section, place="")
        try:
            before = self._change(lambda logins: {**logins, provider: login}).get(provider)
        except ConfigError:
            if reference is not None and reference.slow:
                _bounded(partial(_keyring().erase, reference.target))
            raise
        old = None if before is None else before.reference
        if old is not None and old.slow and old != reference:
            _bounded(partial(_keyring().erase, old.target))
        return store

    def forget(self, provider: str) -> bool:
        """Remove one login; False when there was none.

        Raises:
            ConfigError: The file cannot be changed, or the keyring keeps its entry.
        """
        if not self._path.exists():
            return False
        self._check()
        return self._forget(lambda name: name == provider) != []

    def forget_all(self) -> list[str]:
        """Remove every login; returns the providers. An unreadable file is removed.

        Raises:
            ConfigError: As for `forget`.
        """
        if not self._path.exists():
            return []
        return self._forget(lambda _: True)

    # ------------------------------------------------------------------ the keyring

    def _put(self, provider: str, key: Secret | None, *, prefer: Store) -> tuple[KeyReference | None, Store]:
        if key is None:
            return None, "file"
        if prefer == "keyring" and keyring_name() is not None:
            name = provider + self._tag
            try:
                _bounded(partial(_keyring().write, name, key.reveal()))
            except ConfigError:
                pass  # locked, or its service is gone: the file is as good, and where it went is told
            else:
                return KeyReference(kind="keyring", target=name), "keyring"
        return KeyReference(kind="text", secret=key), "file"

    # ------------------------------------------------------------------ the file

    def _check(self) -> None:
        """Refuse to rewrite a file with content that we cannot read."""
        mistakes = [mistake for mistake in (exposed(self._path), *parse_logins(self._path).diagnostics) if mistake]
        if mistakes:
            raise ConfigError(f"{mistakes[0].text()}. Mend or remove the file and try again")

    def _forget(self, chosen: Callable[[str], bool]) -> list[str]:
        before = self._change(lambda logins: {name: login for name, login in logins.items() if not chosen(name)})
        gone = {name: login for name, login in before.items() if chosen(name)}
        for login in gone.values():
            if login.reference is not None and login.reference.slow:
                _bounded(partial(_keyring().erase, login.reference.target))
        return list(gone)

    def _change(self, change: Callable[[Mapping[str, Login]], Mapping[str, Login]]) -> Mapping[str, Login]:
        """Rewrite the file from its present content. Returns that content."""
        path = Path(os.path.realpath(self._path))  # a link to the file stays one
        private_directory(path.parent)
        try:
            with only_writer(path):
                before = parse_logins(path).by_provider
                after = change(before)
                if after:
                    put_in_place(path, _rendered(after))
                else:
                    path.unlink(missing_ok=True)
        except (OSError, UnicodeEncodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not valid text"
            raise ConfigError(f"{path} cannot be written: {reason}; check that it is yours to write") from error
        return before


def _keyring() -> _Keyring:
    return cast("_Keyring", import_module(KEYRING))


def _bounded(call: Callable[[], _T]) -> _T:
    try:
        return ThreadCall(call, name="keyring").result(within=KEYRING_TIMEOUT)
    except TimeoutError as error:
        raise ConfigError(
            f"the system keyring did not answer within {KEYRING_TIMEOUT:g} s; unlock it and try again"
        ) from error


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _rendered(logins: Mapping[str, Login]) -> str:
    lines = [_HEAD]
    for name, login in logins.items():
        lines += ["", f"[{name if re.fullmatch(_BARE_KEY, name) else toml_text(name)}]"]
        if login.section is not None:
            section = login.section
            lines += [f"{field} = {toml_text(str(value))}" for field, value in _described(section) if value]
            if section.models:
                lines.append(f"models = [{', '.join(toml_text(model) for model in section.models)}]")
        reference = login.reference
        if reference is not None:
            field, text = ("keyring", reference.target) if reference.slow else ("key", reference.secret.reveal())
            lines.append(f"{field} = {toml_text(text)}")
    return "\n".join(lines) + "\n"


def _described(section: ProviderSection) -> list[tuple[str, str | None]]:
    return [("kind", section.kind), ("base_url", section.base_url)]
