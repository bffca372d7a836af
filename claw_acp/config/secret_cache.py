"""Keys that take time to get: from the system's keyring, from a command, or encrypted. They are cached in memory."""

import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Protocol, cast

from claw_acp.config.call_in_thread import ThreadCall
from claw_acp.config.key_reference import KeyReference
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import ConfigError
from claw_acp.core.secret import Secret

KEYRING_TIMEOUT = 10.0  # seconds for a keyring to answer; one that shows a dialog may take longer and is asked again
COMMAND_TIMEOUT = 31.0  # seconds; the command itself is ended a second earlier
COMMAND_FRESH = 300.0  # seconds a key from a command is used: it may be a token that expires within the hour

# Loaded when a key is there to be read, and not before: keyring takes some 50 ms.
KEYRING = "claw_acp.config.system_keyring"
COMMAND = "claw_acp.config.key_command"
ENCRYPTED = "claw_acp.config.encrypted_keys"


class _Keyring(Protocol):
    def read(self, name: str) -> str: ...


class _Encrypted(Protocol):
    def opened(self, text: str, *, passphrase: Secret) -> Secret: ...

    def passphrase_reference(self, environ: Mapping[str, str]) -> KeyReference: ...


class _Command(Protocol):
    def run(self, environ: Mapping[str, str]) -> Secret: ...

    def kill(self) -> None: ...


class SecretCache:
    """Gets each key once, however many callers ask at a time. Usable from any thread."""

    def __init__(self, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._known: Mapping[KeyReference, Secret] = {}
        self._expiring: dict[KeyReference, float] = {}
        self._under_way: dict[KeyReference, ThreadCall[Secret]] = {}
        self._commands: set[_Command] = set()
        self._closed = False

    @property
    def known(self) -> Mapping[KeyReference, Secret]:
        """The cached keys that are still valid: the same value until one is read, dropped or too old."""
        with self._lock:
            now = self._clock.monotonic()
            if expired := {reference for reference, until in self._expiring.items() if now > until}:
                self._known = {reference: key for reference, key in self._known.items() if reference not in expired}
                self._expiring = {each: until for each, until in self._expiring.items() if each not in expired}
            return self._known

    def fetch(self, reference: KeyReference, environ: Mapping[str, str]) -> Secret:
        """The key, read now unless it is cached. Blocks: for worker threads and the command line.

        Raises:
            ConfigError: It cannot be read; the text says why.
        """
        if (known := self.known.get(reference)) is not None:
            return known
        timeout = KEYRING_TIMEOUT if reference.kind == "keyring" else COMMAND_TIMEOUT
        with self._lock:
            call = self._under_way.get(reference)
            if call is None:
                get = self._getter(reference, environ)
                call = self._under_way[reference] = ThreadCall(get, name="key")
        try:
            return call.result(within=timeout)
        except TimeoutError as error:
            raise ConfigError(
                f"{reference.describe()} gave no key within {timeout:g} s; "
                "perhaps a dialog waits for you, or the keyring is locked. Unlock it and try again"
            ) from error

    def clear(self) -> None:
        """Drop all cached keys, so that they are read again."""
        with self._lock:
            self._known, self._expiring = {}, {}

    def close(self) -> None:
        """Kill the commands that still run."""
        self._closed = True
        for command in tuple(self._commands):
            command.kill()

    def _getter(self, reference: KeyReference, environ: Mapping[str, str]) -> Callable[[], Secret]:
        def get() -> Secret:
            try:
                secret = self._read(reference, environ)
                with self._lock:
                    self._known = {**self._known, reference: secret}
                    if reference.kind == "command":
                        self._expiring[reference] = self._clock.monotonic() + COMMAND_FRESH
                return secret
            finally:
                with self._lock:
                    self._under_way.pop(reference, None)

        return get

    def _read(self, reference: KeyReference, environ: Mapping[str, str]) -> Secret:
        if reference.kind == "command":
            return self._run_command(reference.target, environ)
        if reference.kind == "keyring":
            return _read_keyring(reference.target)
        encrypted = cast("_Encrypted", import_module(ENCRYPTED))
        place = encrypted.passphrase_reference(environ)
        passphrase = self._read(place, environ) if place.slow else place.resolve(environ)
        return encrypted.opened(reference.target, passphrase=passphrase)

    def _run_command(self, line: str, environ: Mapping[str, str]) -> Secret:
        make = cast("Callable[[str], _Command]", import_module(COMMAND).KeyCommand)
        command = make(line)
        self._commands.add(command)
        try:
            if self._closed:
                raise ConfigError("the program is ending")
            return command.run(environ)
        finally:
            self._commands.discard(command)


def _read_keyring(name: str) -> Secret:
    return Secret(cast("_Keyring", import_module(KEYRING)).read(name))
