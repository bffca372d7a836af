"""The files that sandboxes need, in a private directory of ours: the filter of system calls, and what hides others."""

import os
import platform
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from socket import AddressFamily
from typing import Final

from claw_acp.core.private_directory import make_private
from claw_acp.sandbox.placeholders import Placeholders
from claw_acp.sandbox.system_calls import INSIDE, filter_program

_PRIVATE: Final = 0o700


class SandboxFiles:
    """The files below a directory, written when they are needed for the first time."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.placeholders = Placeholders(directory / "placeholders")
        self._filters: dict[tuple[AddressFamily, ...], Path] = {}
        self._hidden: Path | None = None

    def filter(self, families: Iterable[AddressFamily] = INSIDE) -> Path:
        """The filter of system calls for this machine, which must be one of `system_calls.ARCHITECTURES`.

        Raises:
            OSError: It cannot be written.
        """
        key = tuple(families)
        if key not in self._filters:
            program = filter_program(platform.machine(), families=key)
            self._filters[key] = self.stored("filter", program)
        return self._filters[key]

    def stored(self, name: str, content: bytes, *, suffix: str = "") -> Path:
        """A file with a content, whose hash is part of its name.

        Raises:
            OSError: It cannot be written.
        """
        return self._written(f"{name}-{sha256(content).hexdigest()[:16]}{suffix}", content, mode=0o400)

    def hidden(self) -> Path:
        """An empty file that nobody can read, to be put in place of unreadable ones.

        Raises:
            OSError: It cannot be written.
        """
        if self._hidden is None:
            self._hidden = self._written("hidden", b"", mode=0)
        return self._hidden

    def _written(self, name: str, content: bytes, *, mode: int) -> Path:
        """Write a file anew, whatever is there: once in the life of a process, and whole at every moment."""
        make_private(self.directory)
        path, new = self.directory / name, self.directory / f".{name}.{os.getpid()}"
        with suppress(FileNotFoundError):
            new.unlink()
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        return new.replace(path)
