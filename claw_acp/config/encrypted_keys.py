"""Keys encrypted with a passphrase, which is nowhere beside them: scrypt, and ChaCha20-Poly1305.

Importing this imports cryptography, and deriving a key from a passphrase takes 64 MB and some 0.2 s: both are the point
of it, and happen once for each key that is read.
"""

import hashlib
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from claw_acp.config.credentials import PASSPHRASE
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.secret_cache import SecretCache
from claw_acp.core.errors import ConfigError
from claw_acp.core.secret import Secret

_FORM: Final = re.compile(r"scrypt-(\d{1,2})-(\d{1,2})-(\d{1,2}):([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)")
_COST, _BLOCK, _LANES = 16, 8, 1  # 2**16 rounds of 8 * 128 bytes: 64 MiB
_MOST_COST, _MOST_BLOCK, _MOST_LANES = 20, 8, 4  # a file that asks for more is not ours
_SALT, _NONCE = 16, 12  # bytes
_PURPOSE: Final = b"claw-acp login"


def sealed(key: Secret, *, passphrase: Secret) -> str:
    """The key as a text that only the passphrase opens."""
    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    box = _box(passphrase, salt=salt, cost=_COST, block=_BLOCK, lanes=_LANES)
    data = nonce + box.encrypt(nonce, key.reveal().encode(), _PURPOSE)
    return f"scrypt-{_COST}-{_BLOCK}-{_LANES}:{b64encode(salt).decode()}:{b64encode(data).decode()}"


def opened(text: str, *, passphrase: Secret) -> Secret:
    """The key in such a text.

    Raises:
        ConfigError: The passphrase is another one, or the text was changed.
    """
    found = _FORM.fullmatch(text)
    cost, block, lanes = map(int, found.groups()[:3]) if found else (0, 0, 0)
    if not (found and 10 <= cost <= _MOST_COST and 1 <= block <= _MOST_BLOCK and 1 <= lanes <= _MOST_LANES):
        raise ConfigError("the encrypted key cannot be read; log in again")
    try:
        data = b64decode(found[5], validate=True)
        box = _box(passphrase, salt=b64decode(found[4], validate=True), cost=cost, block=block, lanes=lanes)
        return Secret(box.decrypt(data[:_NONCE], data[_NONCE:], _PURPOSE).decode())
    except (InvalidTag, ValueError) as error:
        raise ConfigError(
            f"the passphrase in {PASSPHRASE} does not open the encrypted key: it is another one, or the file was "
            "changed. Set the right one, or log in again"
        ) from error


def passphrase_reference(environ: Mapping[str, str]) -> KeyReference:
    """The place of the passphrase.

    Raises:
        ConfigError: None is named.
    """
    text = environ.get(PASSPHRASE, "")
    if not text.strip():
        raise ConfigError(
            f"the key is encrypted, and {PASSPHRASE} is not set. Set it to the passphrase, or better to its place "
            "(command:LINE, file:PATH), where the agent is started"
        )
    try:
        return KeyReference.parse(text)
    except ValueError as error:
        raise ConfigError(f"{PASSPHRASE} {error}") from error


def passphrase(environ: Mapping[str, str]) -> Secret:
    """The passphrase. Blocks: its place may be a keyring or a command.

    Raises:
        ConfigError: None is named, or it cannot be read.
    """
    place = passphrase_reference(environ)
    return SecretCache().fetch(place, environ) if place.slow else place.resolve(environ)


def _box(passphrase: Secret, *, salt: bytes, cost: int, block: int, lanes: int) -> ChaCha20Poly1305:
    rounds = 1 << cost
    key = hashlib.scrypt(
        passphrase.reveal().encode("utf-8", "surrogateescape"),
        salt=salt, n=rounds, r=block, p=lanes, maxmem=2 * 128 * rounds * block, dklen=32,
    )  # fmt: skip
    return ChaCha20Poly1305(key)
