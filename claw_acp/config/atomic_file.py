"""Private files that several processes may write: replaced atomically, by one writer at a time."""

import fcntl
import json
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


def toml_text(text: str) -> str:
    """A TOML string: as in JSON, but with letters beyond ASCII unescaped and DEL escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def put_in_place(path: Path, text: str) -> None:
    """Replace the content of a file atomically. Readers see the old text or the new one.

    Raises:
        OSError: It cannot be written; the old text stays.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # only its owner can read it
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)  # gone already when all went well


@contextmanager
def only_writer(path: Path, *, wait: bool = True) -> Generator[None]:
    """Hold the lock file beside `path`; writers hold it for one small file, so the wait is short.

    Raises:
        OSError: The lock file cannot be created, or is held by another writer and nobody should `wait`.
    """
    descriptor = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)  # releases the lock
