"""Files that are looked at again and again, and read only when they have changed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Generic, TypeVar

_T = TypeVar("_T")


class KeptFiles(Generic[_T]):
    """Keeps what was made of each file, as of one look at all of them."""

    def __init__(self) -> None:
        self._kept: Mapping[Path, tuple[tuple[int, ...], _T]] = {}

    def look(self, files: Mapping[Path, Callable[[], _T]]) -> "Mapping[Path, _T | OSError]":
        """Make something of each file that is new or has changed, and return what each is now. Blocks.

        A file that cannot be looked at is an OSError.
        """
        kept: dict[Path, tuple[tuple[int, ...], _T]] = {}
        made: dict[Path, _T | OSError] = {}
        for path, make in files.items():
            try:
                status = path.stat()
            except OSError as error:
                made[path] = error
                continue
            seen = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
            known = self._kept.get(path)
            kept[path] = known if known is not None and known[0] == seen else (seen, make())
            made[path] = kept[path][1]
        self._kept = kept
        return made
