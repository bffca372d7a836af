"""Takes an archive apart that comes on its input: prints a line of JSON about its entries, then the wanted contents.

Runs in a process of its own, since a small archive may unpack to more than there is.
"""

import json
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from lzma import LZMAError
from typing import BinaryIO, Final

from claw_acp.core.value import Value, as_dict
from claw_acp.tools.worker_limits import limit_this_process

MAX_ENTRIES: Final = 20_000
MAX_CONTENT: Final = 100_000_000  # bytes of all contents together
_BROKEN: Final = (
    OSError, EOFError, ValueError, zlib.error, LZMAError, zipfile.BadZipFile, tarfile.TarError, NotImplementedError,
)  # fmt: skip


class ArchiveEntry(Value):
    """An entry: its name as written there, its kind (`file`, `directory`, `other`), its size."""

    name: str
    kind: str
    size: int


class _Fault(Exception):
    """An archive that is not taken apart; the text is for the model."""


_Opener = Callable[[], BinaryIO | None]


def main(source: BinaryIO, output: BinaryIO) -> int:
    """Read a line with the wish (`list` or `contents`), then the archive. Returns the exit code."""
    limit_this_process()
    wish = source.readline().strip()
    try:
        found = list(_entries(source.read()))
        entries = [entry for entry, _ in found]
        output.write(json.dumps([as_dict(entry) for entry in entries]).encode() + b"\n")
        if wish == b"contents":
            _print_contents(found, output)
    except _Fault as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    except RuntimeError as error:  # zipfile's only word about passwords
        sys.stderr.write(f"{error}\n")
        return 1
    except _BROKEN as error:
        sys.stderr.write(f"it is broken or no archive: {' '.join(str(error).split())}\n")
        return 1
    return 0


def _print_contents(found: list[tuple[ArchiveEntry, _Opener]], output: BinaryIO) -> None:
    """Print the length and the bytes of each file, in order. A length is what comes, not what is claimed."""
    room = MAX_CONTENT
    for entry, opener in found:
        if entry.kind != "file":
            continue
        opened = opener()
        content = b"" if opened is None else opened.read(room + 1)
        room -= len(content)
        if room < 0:
            raise _Fault(f"it holds more than {MAX_CONTENT:,} bytes")
        output.write(len(content).to_bytes(8, "big") + content)


def _entries(data: bytes) -> Iterator[tuple[ArchiveEntry, _Opener]]:
    source = _zip_entries(data) if zipfile.is_zipfile(BytesIO(data)) else _tar_entries(data)
    for count, entry in enumerate(source):
        if count >= MAX_ENTRIES:
            raise _Fault(f"it has more than {MAX_ENTRIES:,} entries")
        yield entry


def _zip_entries(data: bytes) -> Iterator[tuple[ArchiveEntry, _Opener]]:
    archive = zipfile.ZipFile(BytesIO(data))
    for info in archive.infolist():
        mode = info.external_attr >> 16
        kind = "directory" if info.is_dir() else "file" if stat.S_IFMT(mode) in {0, stat.S_IFREG} else "other"
        entry = ArchiveEntry(name=info.filename, kind=kind, size=info.file_size)
        yield entry, lambda info=info: archive.open(info)  # type: ignore[return-value]


def _tar_entries(data: bytes) -> Iterator[tuple[ArchiveEntry, _Opener]]:
    archive = tarfile.open(fileobj=BytesIO(data), mode="r:*")  # noqa: SIM115 - the process ends with it
    for info in archive:
        kind = "directory" if info.isdir() else "file" if info.isreg() else "other"
        entry = ArchiveEntry(name=info.name, kind=kind, size=info.size)
        yield entry, lambda info=info: archive.extractfile(info)  # type: ignore[return-value]


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
