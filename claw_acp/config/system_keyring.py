"""The system's keyring (Secret Service, KWallet, macOS Keychain, Windows vault). Sole user of `keyring`.

Importing this imports it, which takes some 50 ms, and each function may wait for a dialog on the desktop: `ThreadCall`
bounds the wait.
"""

import keyring
from keyring.backends import fail, null
from keyring.errors import PasswordDeleteError

from claw_acp.core.errors import ConfigError

SERVICE = "claw-acp"
"""The service name of our entries; `keyring set claw-acp NAME` adds one by hand."""

_LEAST_PRIORITY = 1  # keyring's own measure: backends below it are not recommended (plain text, asks on the terminal)


def backend_name() -> str | None:
    """The name of the keyring in use, for people; None when there is no usable one."""
    try:
        backend = keyring.get_keyring()
        if isinstance(backend, fail.Keyring | null.Keyring) or backend.priority < _LEAST_PRIORITY:
            return None
    except Exception:  # noqa: BLE001 - a backend that cannot even say what it is may raise anything
        return None
    return backend.name


def read(name: str) -> str:
    """The key stored under `name`.

    Raises:
        ConfigError: There is none, or the keyring is missing, locked or broken.
    """
    try:
        key = keyring.get_password(SERVICE, name)
    except Exception as error:
        raise _failed(f'the key "{name}" cannot be read from', error) from error
    if not key:
        raise ConfigError(
            f'the system keyring holds no key "{name}"; add it with `keyring set {SERVICE} {name}` or log in again'
        )
    return key


def write(name: str, key: str) -> None:
    """Store a key.

    Raises:
        ConfigError: The keyring is missing, locked or broken.
    """
    try:
        keyring.set_password(SERVICE, name, key)
    except Exception as error:
        raise _failed(f'the key "{name}" cannot be kept in', error) from error


def erase(name: str) -> None:
    """Remove a key, which need not exist.

    Raises:
        ConfigError: The keyring is missing, locked or broken.
    """
    try:
        keyring.delete_password(SERVICE, name)
    except PasswordDeleteError:
        return
    except Exception as error:
        raise _failed(f'the key "{name}" cannot be removed from', error) from error


def _failed(what: str, error: Exception) -> ConfigError:
    reason = str(error).strip() or type(error).__name__
    return ConfigError(f"{what} the system keyring: {reason}. Unlock it and try again")
