"""Control groups: they limit the superuser's processes, whom the kernel does not count otherwise."""

import itertools
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_V1: Final = Path("/sys/fs/cgroup/pids")
_V2: Final = Path("/sys/fs/cgroup")
_PREFIX: Final = "claw-acp."
_OURS: Final = 4  # processes between us and the program

_numbers = itertools.count()
_left: set[Path] = set()  # groups whose processes had not all disappeared yet


class ControlGroup:
    """A group with a limit of processes. `remove` it when its processes have ended.

    Raises:
        OSError: No group can be made here.
    """

    def __init__(self, processes: int) -> None:
        for directory in tuple(_left):
            _remove(directory)
        self._directory = _root() / f"{_PREFIX}{os.getpid()}.{next(_numbers)}"
        self._directory.mkdir()
        try:
            (self._directory / "pids.max").write_text(str(processes + _OURS), encoding="ascii")
        except OSError:
            self.remove()
            raise

    @property
    def members(self) -> Path:
        """The file that a process writes its id to, to become a member with all it starts."""
        return self._directory / "cgroup.procs"

    def remove(self) -> None:
        """Remove it. Idempotent; one that still has processes is removed with the next group."""
        _remove(self._directory)


def _remove(directory: Path) -> None:
    try:
        directory.rmdir()
    except FileNotFoundError:
        _left.discard(directory)
    except OSError:
        _left.add(directory)
    else:
        _left.discard(directory)


def groups_work() -> bool:
    """Return whether groups can be made here, and remove what killed processes left."""
    try:
        for group in _root().glob(f"{_PREFIX}*"):
            if not Path("/proc", group.name.split(".")[1]).exists():
                with suppress(OSError):
                    group.rmdir()
        ControlGroup(1).remove()
    except OSError:
        return False
    return True


def _root() -> Path:
    return _V1 if _V1.is_dir() else _V2
