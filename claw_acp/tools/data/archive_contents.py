"""The entries and contents of archives, as far as they may be unpacked."""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from claw_acp.core.errors import ToolError
from claw_acp.core.value import Value
from claw_acp.security.guarded_names import guarded_by_name
from claw_acp.tools.display import printable
from claw_acp.tools.worker import run_worker

ARCHIVE_LIMIT: Final = 100_000_000  # bytes
_WORKER: Final = "claw_acp.tools.data.archive_worker"
_MAX_DEPTH: Final = 50  # directories
_MAX_NAME: Final = 255  # bytes of one name


class ArchivedFile(Value):
    """An entry of an archive. `refused` is why it is not unpacked; empty for a file that may be."""

    name: str
    size: int
    refused: str = ""


async def listed(data: bytes, *, shown: str, into: str = "") -> Sequence[ArchivedFile]:
    """The files of an archive, and what else is in it besides directories.

    Args:
        data: The archive.
        shown: Its path for people.
        into: The name of the directory that they are for, if they are to be unpacked.

    Raises:
        ToolError: It is none, or too large.
    """
    return _files(await _run("list", data, shown=shown), shown=shown, into=into)


async def unpacked(data: bytes, *, shown: str, into: str) -> Sequence[tuple[ArchivedFile, bytes]]:
    """The entries with their contents, which are empty for those that are refused; `into` is as in `listed`.

    Raises:
        ToolError: It is no archive, is too large, or has two entries for one path.
    """
    printed = await _run("contents", data, shown=shown)
    files = _files(printed, shown=shown, into=into)
    kinds = [row["kind"] for row in json.loads(printed.partition(b"\n")[0]) if row["kind"] != "directory"]
    contents = _contents(printed.partition(b"\n")[2])
    found = [(file, next(contents) if kind == "file" else b"") for file, kind in zip(files, kinds, strict=True)]
    _refuse_doubles([file for file, _ in found if not file.refused], shown=shown)
    return found


async def _run(wish: str, data: bytes, *, shown: str) -> bytes:
    end = await run_worker(_WORKER, f"{wish}\n".encode() + data)
    if end.reason:
        raise ToolError(f"{shown} cannot be unpacked: {end.reason}.")
    return end.printed


def _files(printed: bytes, *, shown: str, into: str) -> list[ArchivedFile]:
    rows = [row for row in json.loads(printed.partition(b"\n")[0]) if row["kind"] != "directory"]
    if not rows:
        raise ToolError(f"{shown} holds no files.")
    return [
        ArchivedFile(name=row["name"], size=row["size"], refused=_refusal(row["name"], kind=row["kind"], into=into))
        for row in rows
    ]


def _contents(printed: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(printed):
        length = int.from_bytes(printed[place : place + 8], "big")
        yield printed[place + 8 : place + 8 + length]
        place += 8 + length


def _refusal(name: str, *, kind: str, into: str) -> str:
    """The reason an entry is not unpacked."""
    if kind != "file":
        return "it is a link or a device"
    parts = name.split("/")
    leaves = name.startswith("/") or "\\" in name or ".." in parts or ":" in parts[0]
    if leaves or any(character < " " or character == "\x7f" for character in name):
        return "its name leads out of the directory"
    named = [part for part in parts if part not in {"", "."}]
    if not named or name.endswith("/") or len(named) > _MAX_DEPTH:
        return "its name is no path of a file"
    if any(len(part.encode("utf-8", "replace")) > _MAX_NAME for part in named) or not _is_text(name):
        return "its name is too long, or no text"
    if guarded_by_name(PurePosixPath(into)):  # about that the person is asked
        into = ""
    return guarded_by_name(PurePosixPath(into, *named)) or ""


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _refuse_doubles(files: Sequence[ArchivedFile], *, shown: str) -> None:
    """Check that every file gets a path of its own, on file systems that fold names, too."""
    taken: set[PurePosixPath] = set()
    for file in files:
        path = PurePosixPath(unicodedata.normalize("NFC", file.name).casefold())
        if path in taken:
            raise ToolError(f"{shown} has {printable(file.name)} twice, or in two spellings. Nothing was unpacked.")
        taken.add(path)
    for path in taken:
        if not taken.isdisjoint(path.parents):
            raise ToolError(f"{shown} has {printable(str(path))} below a file. Nothing was unpacked.")
