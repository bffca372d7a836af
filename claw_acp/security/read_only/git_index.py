"""Git's index, read without git: names and modes (git's `index-format`, versions 2 to 4)."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from claw_acp.config.safe_read import read_plain_file

LARGEST_INDEX: Final = 4 * 1024 * 1024  # bytes

_STATUS: Final = struct.Struct(">10I")
_SECOND: Final = 1_000_000_000
_COMPRESSED: Final = 4  # version
_EXTENDED: Final = 0x4000
_UNSURE: Final = 0xB000  # assumed to be unchanged, or one side of a conflict
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


class IndexEntry(NamedTuple):
    """A file of the index: its content, and the status it had when git last compared it with that."""

    name: str
    blob: str
    mode: int
    size: int
    inode: int
    changed: int  # nanoseconds, of the content
    touched: int  # nanoseconds, of anything


def compared_files(index: Path, *, largest: int = LARGEST_INDEX) -> Iterator[IndexEntry]:
    """The regular files of an index that git compares by their status; none in conflict or assumed to be unchanged.

    Raises:
        OSError, ValueError, struct.error: It cannot be read, is too large, damaged, or of another version.
    """
    for data, position, name in _entries(index, largest=largest):
        c_seconds, c_nanoseconds, seconds, nanoseconds, _, inode, mode, _, _, size = _STATUS.unpack_from(data, position)
        (flags,) = struct.unpack_from(">H", data, position + 60)
        extended = flags & _EXTENDED and any(data[position + 62 : position + 64])
        if mode in {0o100644, 0o100755} and not flags & _UNSURE and not extended:
            changed, touched = seconds * _SECOND + nanoseconds, c_seconds * _SECOND + c_nanoseconds
            yield IndexEntry(name, data[position + 40 : position + 60].hex(), mode, size, inode, changed, touched)


def entries(index: Path) -> Iterator[tuple[int, str]]:
    """Mode and name of every entry.

    Raises:
        ValueError, struct.error: It is too large, damaged, or of another version.
    """
    for data, position, name in _entries(index):
        (mode,) = struct.unpack_from(">I", data, position + 24)
        yield mode, name


def _entries(index: Path, *, largest: int = LARGEST_INDEX) -> Iterator[tuple[bytes, int, str]]:
    """The bytes of the index, and for each entry its beginning and its name."""
    data = _bytes(index, largest=largest)
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in {2, 3, _COMPRESSED}:
        raise ValueError("an index of another version")
    position, name = 12, b""
    compressed = version == _COMPRESSED
    for _ in range(count):
        (flags,) = struct.unpack_from(">H", data, position + 60)
        start = position + 62 + (2 if flags & _EXTENDED else 0)
        if compressed:  # a name begins like the one before it
            dropped, start = _number(data, start)
            if dropped > len(name):
                raise ValueError("a damaged index")
            name = name[: len(name) - dropped]
        end = data.index(b"\0", start)
        name = name + data[start:end] if compressed else data[start:end]
        yield data, position, name.decode("utf-8", "surrogateescape")
        position = end + 1 if compressed else position + (end - position + 8) // 8 * 8


def _number(data: bytes, position: int) -> tuple[int, int]:
    """A number of variable length, as packs have them, and the position behind it."""
    value = -1
    for after, byte in enumerate(data[position : position + 8], position + 1):
        value = ((value + 1) << 7) | (byte & 0x7F)
        if not byte & 0x80:
            return value, after
    raise ValueError("a damaged index")


def _bytes(index: Path, *, largest: int = LARGEST_INDEX) -> bytes:
    data = read_plain_file(index, limit=largest + 1)
    if len(data) > largest:
        raise ValueError("an index that is too large")
    return data
