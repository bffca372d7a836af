"""A keyring for tests, in one JSON file that `KEYRING_FILE` names: `PYTHON_KEYRING_BACKEND` makes the program use it.

`KEYRING_MOOD` makes it behave as real ones do: `locked` (every call fails), `hangs` (a dialog that is never answered).
"""

import json
import os
import threading
from pathlib import Path
from typing import ClassVar

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

BACKEND = "tests.support.file_keyring.FileKeyring"


class FileKeyring(KeyringBackend):
    """A keyring without any protection."""

    priority: ClassVar[float] = 5  # pyright: ignore[reportIncompatibleMethodOverride, reportIncompatibleVariableOverride]

    def get_password(self, service: str, username: str) -> str | None:
        return _entries().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        _write({**_entries(), f"{service}/{username}": password})

    def delete_password(self, service: str, username: str) -> None:
        entries = _entries()
        if entries.pop(f"{service}/{username}", None) is None:
            raise PasswordDeleteError("no such password")
        _write(entries)


def keyring_environment(file: Path, *, mood: str = "") -> dict[str, str]:
    """The environment of a program that uses this keyring."""
    root = str(Path(__file__).parents[2])
    return {"PYTHON_KEYRING_BACKEND": BACKEND, "KEYRING_FILE": str(file), "KEYRING_MOOD": mood, "PYTHONPATH": root}


NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
"""The environment of a machine without a keyring, whatever machine runs the tests."""


def _entries() -> dict[str, str]:
    mood = os.environ.get("KEYRING_MOOD")
    if mood == "locked":
        raise KeyringLocked("the collection is locked")
    if mood == "hangs":
        threading.Event().wait()
    file = Path(os.environ["KEYRING_FILE"])
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def _write(entries: dict[str, str]) -> None:
    Path(os.environ["KEYRING_FILE"]).write_text(json.dumps(entries), encoding="utf-8")
