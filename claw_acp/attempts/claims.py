"""Folders of attempts, and the claims that tell those in use from those that a killed program left behind."""

import fcntl
import json
import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from claw_acp.attempts.worktrees import forget_worktrees, take_back_refs
from claw_acp.config.atomic_file import put_in_place
from claw_acp.core.errors import ToolError
from claw_acp.core.private_directory import make_private

log = logging.getLogger(__name__)

_LOCK: Final = ".lock"
_FACTS: Final = "facts.json"


class Claim:
    """The folder of one set of attempts. As long as its lock is held, nobody else clears it. Everything here blocks.

    Attributes:
        folder: The folder, without links in its path.
        marker: The name under which programs of the attempts use git.
        sessions: The sessions of the attempts.
    """

    def __init__(self, folder: Path, descriptor: int) -> None:
        self.folder = folder
        self.marker = f"{folder.name}@attempts.invalid"
        self.sessions: Sequence[str] = ()
        self._commons: Sequence[str] = ()
        self._descriptor = descriptor

    @classmethod
    def new(cls, directory: Path, name: str) -> "Claim":
        """Claim a new folder below `directory`.

        Raises:
            ToolError: It cannot be made.
        """
        try:
            make_private(directory)
            place = directory.resolve() / name
            descriptor = _locked(place.with_name(f"{name}{_LOCK}"))
            assert descriptor is not None
            place.mkdir(mode=0o700)
        except OSError as error:
            raise ToolError(f"{directory} cannot be used for attempts: {error.strerror or error}") from error
        return cls(place, descriptor)

    @classmethod
    def abandoned(cls, directory: Path) -> "Iterator[Claim]":
        """Claim, one after the other, the folders whose owners are gone."""
        for lock in sorted(directory.resolve().glob(f"*{_LOCK}")) if directory.is_dir() else ():
            with suppress(OSError):
                descriptor = _locked(lock)
                if descriptor is not None:
                    claim = cls(lock.with_suffix(""), descriptor)
                    claim._read()
                    yield claim

    def note(self, *, commons: Sequence[Path], sessions: Sequence[str]) -> None:
        """Write down what there will be to remove, before it is made.

        Raises:
            ToolError: It cannot be written.
        """
        self._commons, self.sessions = [str(common) for common in commons], sessions
        facts = json.dumps({"repositories": self._commons, "sessions": list(sessions)})
        try:
            put_in_place(self.folder / _FACTS, facts)
        except OSError as error:
            raise ToolError(f"{self.folder} cannot be written: {error.strerror or error}") from error

    def clear(self) -> None:
        """Remove the worktrees with all that git knows of them, the folder, and the claim."""
        for common in map(Path, self._commons):
            try:
                take_back_refs(common, marker=self.marker)
            except (ToolError, OSError) as error:
                log.warning("refs of attempts stay", extra={"repository": str(common), "reason": str(error)})
            with suppress(OSError):
                forget_worktrees(common, below=self.folder)
        _remove(self.folder)
        if self.folder.exists():
            log.warning("copies of attempts stay for now", extra={"folder": str(self.folder)})
        else:
            with suppress(OSError):
                self.folder.with_name(f"{self.folder.name}{_LOCK}").unlink()
        os.close(self._descriptor)

    def _read(self) -> None:
        try:
            facts: dict[str, Any] = json.loads((self.folder / _FACTS).read_text(encoding="utf-8"))
            self._commons = [str(common) for common in facts["repositories"]]
            self.sessions = [str(session) for session in facts["sessions"]]
        except (OSError, ValueError, KeyError, TypeError):
            pass  # killed before there was anything to note


def _locked(path: Path) -> int | None:
    """A descriptor that holds the lock of a claim; None when somebody else does, or the claim is gone."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(path.stat(), os.fstat(descriptor)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None


def _remove(folder: Path) -> None:
    """Remove a folder, also where a program has made directories in it unwritable."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return
    for place, names, _ in os.walk(folder):
        for name in names:
            directory = Path(place, name)
            if not directory.is_symlink():
                with suppress(OSError):
                    directory.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
