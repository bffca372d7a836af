"""Git's index, read without git: names and modes (git's `index-format`, versions 2 and 3)."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

LARGEST_INDEX: Final = 4 * 1024 * 1024  # bytes

_GITLINK: Final = 0o160000
_DIRECTORY: Final = 0o040000  # of a sparse index, which git may unfold


def submodules(git: Path) -> Iterator[str]:
    """Directories in a git index that are repositories of their own.

    Raises:
        ValueError: The index cannot be read as far as needed.
    """
    index = git / "index"
    if not index.exists():
        return
    if any(git.glob("sharedindex.*")):
        raise ValueError("a split index")
    data = _bytes(index)
    if any(struct.pack(">I", mode) in data for mode in (_GITLINK, _DIRECTORY)):  # else there are none for certain
        for mode, name in entries(index):
            if mode == _DIRECTORY:
                raise ValueError("a sparse index")
            if mode == _GITLINK:
                yield name


def entries(index: Path) -> Iterator[tuple[int, str]]:
    """Mode and name of every entry.

    Raises:
        ValueError, struct.error: It is too large, damaged, or of another version.
    """
    data = _bytes(index)
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in {2, 3}:
        raise ValueError("an index of another version")
    position = 12
    for _ in range(count):
        (mode,) = struct.unpack_from(">I", data, position + 24)
        (flags,) = struct.unpack_from(">H", data, position + 60)
        start = position + 62 + (2 if flags & 0x4000 else 0)
        end = data.index(b"\0", start)
        yield mode, data[start:end].decode("utf-8", "surrogateescape")
        position += (end - position + 8) // 8 * 8


def _bytes(index: Path) -> bytes:
    if index.stat().st_size > LARGEST_INDEX:
        raise ValueError("an index that is too large")
    return index.read_bytes()
