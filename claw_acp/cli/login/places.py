"""Where `claw-acp login` keeps keys: chosen with words, listed, and changed."""

import os
from getpass import getpass

from claw_acp.cli.current_settings import audit_here, locations_here, settings_here
from claw_acp.cli.terminal.paint import columns
from claw_acp.config.credential_store import CredentialStore, Store, default_store, keyring_name
from claw_acp.config.credentials import PASSPHRASE, Login
from claw_acp.config.encrypted_keys import passphrase
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.secret_cache import SecretCache
from claw_acp.core.errors import ConfigError
from claw_acp.core.quantity import quantity
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value

LEAST = 8  # characters of a passphrase


class Place(Value):
    """A store, with what it needs."""

    store: Store
    passphrase: Secret | None = None

    def words(self) -> str:
        """The place, for people."""
        file = locations_here().credentials_file
        match self.store:
            case "keyring":
                return f"in the system keyring ({keyring_name()})"
            case "encrypted":
                return f"encrypted in {file}; agents find the passphrase in {PASSPHRASE}, or its place"
            case "plain":
                return f"unencrypted in {file}, which only you can read"


def choose_place(store: Store | None, *, by_hand: bool) -> Place:
    """The place that was named, else the keyring or what a passphrase encrypts, else the one that the person chooses.

    Raises:
        ConfigError: There is nobody to choose, or no passphrase.
    """
    best = default_store(os.environ) if store is None else store
    if store is None and best == "plain" and by_hand:
        return ask_place()
    if store is None and best == "plain":
        raise ConfigError(
            "no keyring of the system works here, so say where to keep the key: --store encrypted, with the passphrase "
            f"in {PASSPHRASE}, or --store plain, in a file that only you can read"
        )
    return Place(store=best, passphrase=_passphrase(by_hand) if best == "encrypted" else None)


def ask_place() -> Place:
    """Ask where to keep the key, when the keyring does not do."""
    print(f"\nNo keyring of the system works here. The key can be kept in {locations_here().credentials_file}:\n")
    rows = [
        ("1", "encrypted", f"with a passphrase, which agents find in {PASSPHRASE}, or its place"),
        ("2", "plain", "as it is, in a file that only you can read: whoever has the disk or a backup has the key"),
    ]
    for line in columns(rows):
        print(f"  {line}")
    while True:
        answer = input("\nNumber: ").strip()
        if answer in {"1", "encrypted"}:
            return Place(store="encrypted", passphrase=_passphrase(by_hand=True))
        if answer in {"2", "plain"}:
            return Place(store="plain")


def show_places() -> int:
    """Print each login and where its key is."""
    logins = settings_here().logins
    for line in columns([(name, _where(login)) for name, login in logins.items()]):
        print(line)
    if not logins:
        print("You are not logged in.")
    elif plain := [name for name, login in logins.items() if login.reference and login.reference.kind == "text"]:
        print(f"\nUnencrypted: {quantity(len(plain), 'key')}; `claw-acp login --move encrypted` changes that.")
    return 0


def move_keys(store: Store, *, by_hand: bool) -> int:
    """Keep all keys elsewhere. One that cannot be read ends it; those before it are moved."""
    place = choose_place(store, by_hand=by_hand)
    kept, secrets = CredentialStore(locations_here(), os.environ), SecretCache()
    for name, login in settings_here().logins.items():
        if login.reference is not None:
            key = _read(login.reference, secrets)
            audit_here().record("login", {"by": "claw-acp login", "moved_to": store, "provider": name})
            kept.keep(name, key, store=place.store, section=login.section, passphrase=place.passphrase)
            print(f"{name} is {place.words()}.")
    return 0


def _where(login: Login) -> str:
    if login.reference is None:
        return "needs no key"
    return {"keyring": "in the system keyring", "encrypted": f"encrypted in {login.place}"}.get(
        login.reference.kind, f"unencrypted in {login.place}"
    )


def _read(reference: KeyReference, secrets: SecretCache) -> Secret:
    return secrets.fetch(reference, os.environ) if reference.slow else reference.resolve(os.environ)


def _passphrase(by_hand: bool) -> Secret:  # noqa: FBT001 - see choose_place
    """The passphrase of the environment, else a new one.

    Raises:
        ConfigError: It cannot be read, or nobody can be asked.
    """
    if os.environ.get(PASSPHRASE, "").strip() or not by_hand:
        return passphrase(os.environ)
    while True:
        phrase = getpass("Passphrase (it is not shown): ")
        if len(phrase) < LEAST:
            print(f"It needs {LEAST} characters at least.")
        elif getpass("The same again: ") != phrase:
            print("These two differ.")
        else:
            return Secret(phrase)
