"""Storing and removing keys: in the system's keyring, or in `credentials.toml`, encrypted or not.

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
from typing import Final, Literal, Protocol, TypeVar, cast, get_args

from claw_acp.config.atomic_file import only_writer, put_in_place, toml_text
from claw_acp.config.call_in_thread import ThreadCall
from claw_acp.config.credentials import PASSPHRASE, Login, exposed, parse_logins
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.locations import HOME_VARIABLE, Locations, private_directory
from claw_acp.config.provider_section import ProviderSection
from claw_acp.config.secret_cache import ENCRYPTED, KEYRING
from claw_acp.core.errors import ConfigError
from claw_acp.core.secret import Secret

KEYRING_TIMEOUT = 30.0  # seconds for a keyring; it may show a dialog, and a person is there who has just typed a key

Store = Literal["keyring", "encrypted", "plain"]
"""The system's keyring; `credentials.toml`, encrypted with a passphrase; the same file as plain text."""

STORES: Final[tuple[Store, ...]] = get_args(Store)

_BARE_KEY = r"[A-Za-z0-9_-]+"
_HEAD = "# Keys of model providers, kept by `claw-acp login`; `claw-acp logout` forgets them. For your eyes only."
_T = TypeVar("_T")


class _Encrypted(Protocol):
    def sealed(self, key: Secret, *, passphrase: Secret) -> str: ...

    def passphrase(self, environ: Mapping[str, str]) -> Secret: ...


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


def default_store(environ: Mapping[str, str]) -> Store:
    """The best store here: the keyring if one works, encryption if a passphrase is named, else plain text."""
    if keyring_name() is not None:
        return "keyring"
    return "encrypted" if environ.get(PASSPHRASE, "").strip() else "plain"


class CredentialStore:
    """The logins of one user.

    Args:
        locations: The location of the file.
        environ: Shows whether the home is a special one, whose keyring entries must not mix with the usual ones; names
            the passphrase.
    """

    def __init__(self, locations: Locations, environ: Mapping[str, str]) -> None:
        self._path = locations.credentials_file
        self._environ = environ
        self._tag = f"@{_short_hash(str(self._path))}" if environ.get(HOME_VARIABLE) else ""

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def keep(
        self,
        provider: str,
        key: Secret | None,
        *,
        store: Store,
        section: ProviderSection | None = None,
        passphrase: Secret | None = None,
    ) -> None:
        """Store a key, replacing an earlier one.

        Args:
            provider: The provider of the key.
            key: None for a service that needs none.
            store: Where to keep it; nothing else is taken instead.
            section: The kind, address and models of a service of the user's own.
            passphrase: Encrypts the key, in the store `encrypted`; None: the one that the environment names.

        Raises:
            ConfigError: It cannot be stored; nothing was changed.
        """
        self._check()
        reference = None if key is None else self._put(provider, key, store=store, passphrase=passphrase)
        login = Login(provider=provider, reference=reference, section=section, place="")
        try:
            before = self._change(lambda logins: {**logins, provider: login}).get(provider)
        except ConfigError:
            _erase(reference)
            raise
        old = None if before is None else before.reference
        if old != reference:
            _erase(old)

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

    def _put(self, provider: str, key: Secret, *, store: Store, passphrase: Secret | None) -> KeyReference:
        if store == "keyring":
            name = provider + self._tag
            _bounded(partial(_keyring().write, name, key.reveal()))
            return KeyReference(kind="keyring", target=name)
        if store == "plain":
            return KeyReference(kind="text", secret=key)
        encrypted = cast("_Encrypted", import_module(ENCRYPTED))
        phrase = encrypted.passphrase(self._environ) if passphrase is None else passphrase
        return KeyReference(kind="encrypted", target=encrypted.sealed(key, passphrase=phrase))

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
            _erase(login.reference)
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


def _erase(reference: KeyReference | None) -> None:
    """Remove the entry of the keyring, if that is where a key was."""
    if reference is not None and reference.kind == "keyring":
        _bounded(partial(_keyring().erase, reference.target))


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
            plain = reference.kind == "text"
            field, text = ("key", reference.secret.reveal()) if plain else (reference.kind, reference.target)
            lines.append(f"{field} = {toml_text(text)}")
    return "\n".join(lines) + "\n"


def _described(section: ProviderSection) -> list[tuple[str, str | None]]:
    return [("kind", section.kind), ("base_url", section.base_url)]
