"""Contents that a git repository has of its files, so that they need not be kept again. Everything here blocks."""

import re
import stat
import struct
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.config.safe_read import read_plain_file
from claw_acp.core.child_environment import without_keys
from claw_acp.core.environment import current_environment
from claw_acp.process.blocking import BlockingChild
from claw_acp.process.outer_path import system_program
from claw_acp.security.read_only.git_index import compared_files
from claw_acp.workspace.tree_scan import PathStatus

_LARGEST_INDEX: Final = 16 * 1024 * 1024  # bytes, for more files than are looked at
_MOST_ATTRIBUTES: Final = 1024 * 1024  # bytes of a file of them
_AT_ONCE: Final = 1000  # blobs in one run of git
_SECONDS: Final = 30.0
_WORD: Final = 0xFFFFFFFF  # git keeps only the lower bits
_CONVERTS: Final = re.compile(rb"\b(filter|ident|working-tree-encoding)\b")
_FETCH: Final = 'git="$1"; shift; printf "%s\\n" "$@" | "$git" --no-replace-objects --git-dir="$0" cat-file --batch'


class TrackedFiles:
    """The files of one repository that are as git has them; for each the name of its content there.

    A repository whose files differ from their contents in git (filters, keywords, encodings) has none.

    Args:
        directory: Where it is.
        attributes: Its `.gitattributes` files.
    """

    def __init__(self, directory: str, *, attributes: Sequence[str] = ()) -> None:
        self.git = git_directory(Path(directory))
        self._blobs: dict[str, tuple[tuple[int, int, int, int, int], str]] = {}
        try:
            index = self.git / "index"
            written = index.stat().st_mtime_ns
            if _may_convert(attributes, self.git) or any(self.git.glob("sharedindex.*")):
                return
            for entry in compared_files(index, largest=_LARGEST_INDEX):
                if entry.changed < written:  # else it may have been changed in the same moment, unseen
                    status = (entry.mode, entry.size, entry.changed, entry.touched, entry.inode & _WORD)
                    self._blobs[f"{directory}/{entry.name}"] = status, entry.blob
        except (OSError, ValueError, struct.error):
            self._blobs = {}

    def find(
        self, among: Iterable[str], paths: Mapping[str, PathStatus], found: MutableMapping[str, tuple[str, str]]
    ) -> None:
        """Add those of some files that are still as git has them, each with git's directory and its name there."""
        git, blobs = str(self.git), self._blobs
        for path in among:
            known = blobs.get(path)
            if known is None:
                continue
            expected, blob = known
            mode, size, changed, touched, inode = paths[path]
            kind = mode & 0o170100
            if kind & ~0o100 == stat.S_IFREG:
                executable = 0o100755 if kind & 0o100 else 0o100644
                if (executable, size & _WORD, changed, touched, inode & _WORD) == expected:
                    found[path] = git, blob


def read_blobs(git: Path, blobs: Sequence[str]) -> Mapping[str, bytes]:
    """The contents by their names in git, without those that it does not have any more."""
    contents: dict[str, bytes] = {}
    environment = {
        name: value for name, value in without_keys(current_environment()).items() if not name.startswith("GIT_")
    }
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_OPTIONAL_LOCKS": "0"}
    program = system_program("git") or "git"
    for start in range(0, len(blobs), _AT_ONCE):
        wanted = blobs[start : start + _AT_ONCE]
        try:
            child = BlockingChild(["/bin/sh", "-c", _FETCH, str(git), program, *wanted], env=environment)
            contents |= _parsed(child.finish(within=_SECONDS).stdout)
        except (OSError, ValueError, TimeoutError):
            continue
    return contents


def _parsed(output: bytes) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        name, kind, *rest = output[position:end].split(b" ")
        position = end + 1
        if kind == b"blob":
            size = int(rest[0])
            contents[name.decode()] = output[position : position + size]
            position += size + 1
    return contents


def git_directory(directory: Path) -> Path:
    """The directory with the index; `.git` of a worktree or submodule is a file that names it."""
    git = directory / ".git"
    try:
        text = read_plain_file(git, limit=_MOST_ATTRIBUTES).decode() if git.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return git
    return directory / text.removeprefix("gitdir:").strip() if text.startswith("gitdir:") else git


def _may_convert(attributes: Sequence[str], git: Path) -> bool:
    for path in (*map(Path, attributes), git / "info/attributes"):
        try:
            if _CONVERTS.search(read_plain_file(path, limit=_MOST_ATTRIBUTES)):
                return True
        except FileNotFoundError:
            continue
    return False
