"""Checkpoints: signed statements that the log had this line at this place. Sole user of Ed25519 here.

A checkpoint proves that whoever has the key saw the log up to its line, so nobody without the key can rewrite what
lies before it. Who has the key, as every program of the same user can have, could sign another log: against those only
a copy of the checkpoints helps that lies where they cannot write. Importing this takes some 50 ms.
"""

import os
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from claw_acp.audit.line import Head, encoded, parsed
from claw_acp.config.safe_read import read_plain_file
from claw_acp.core.json_value import JsonObject

_PURPOSE: Final = b"claw-acp audit checkpoint\n"  # signed too, so that the key's signatures mean nothing elsewhere
_LENGTH: Final = 32  # bytes of a key


def signing_key(path: Path) -> Ed25519PrivateKey:
    """The key in a file that only its owner can read; made when there is none. The caller holds the log's lock.

    Raises:
        OSError: It cannot be read or written.
    """
    try:
        return _read(path)
    except FileNotFoundError:
        key = Ed25519PrivateKey.generate()
        made = path.with_name(f".{path.name}.{os.getpid()}")
        descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key.private_bytes_raw().hex().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        made.replace(path)
        return key


def public_key(path: Path) -> str | None:
    """The public half of the key in a file, in hexadecimal; None: there is none.

    Raises:
        OSError: It cannot be read.
    """
    try:
        return _read(path).public_key().public_bytes_raw().hex()
    except FileNotFoundError:
        return None


def signed(head: Head, *, at: str, key: Ed25519PrivateKey) -> bytes:
    """The line of a checkpoint."""
    facts: JsonObject = {
        "at": at,
        "digest": head.digest,
        "key": key.public_key().public_bytes_raw().hex(),
        "seq": head.seq,
    }
    return encoded({**facts, "signature": key.sign(_PURPOSE + encoded(facts)).hex()})


def checked(line: bytes, *, key: str) -> Head | str:
    """The line of the log that a checkpoint vouches for; a text for people if it was not signed with this key."""
    facts = dict(parsed(line) or {})
    signature, by = facts.pop("signature", None), facts.get("key")
    seq, digest = facts.get("seq"), facts.get("digest")
    if not (isinstance(signature, str) and isinstance(seq, int) and isinstance(digest, str) and isinstance(by, str)):
        return "it is not a checkpoint"
    if by != key:
        return f"it is signed with another key, {by[:16]}..."
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(
            bytes.fromhex(signature), _PURPOSE + encoded(facts)
        )
    except (InvalidSignature, ValueError):
        return "its signature is wrong"
    return Head(seq=seq, digest=digest)


def _read(path: Path) -> Ed25519PrivateKey:
    text = read_plain_file(path, limit=4 * _LENGTH)
    try:
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text.decode("ascii").strip()))
    except ValueError as error:
        raise OSError(
            0, "it holds no key; move it away, and verify older lines with the key they were signed with"
        ) from error
