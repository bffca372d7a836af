"""The files and directories in git's settings from which git takes commands or more settings."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from claw_acp.config.safe_read import read_plain_file

LARGEST: Final = 256 * 1024  # bytes of one file of settings
MOST_FILES: Final = 8  # files of settings that include each other

_LINE = re.compile(r'\s*(?:\[([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\])?\s*(?:([A-Za-z][\w-]*)\s*=\s*(.*))?')
_INCLUDES = frozenset({"include", "includeif"})
_NO_PATHS = frozenset({"user", "branch", "remote", "submodule", "color", "advice", "url", "author", "committer"})
_WORD = re.compile(r"[^\s'\"!;|&()<>`$]+")


def paths_in_settings(root: Path, *, home: Path) -> Iterator[tuple[str, Path]]:
    """Each setting that names a path, with that path; each word of a shell line counts."""
    waiting = [_git_directory(root) / "config", home / ".gitconfig", home / ".config" / "git" / "config"]
    seen: set[Path] = set()
    while waiting and len(seen) < MOST_FILES:
        file = waiting.pop(0)
        if file in seen:
            continue
        seen.add(file)
        for section, key, value in _settings(file):
            if section in _NO_PATHS:
                continue
            for word in _WORD.findall(value):
                base = file.parent if section in _INCLUDES else root
                place = home / word[2:] if word.startswith("~/") else base / word
                if section in _INCLUDES:
                    waiting.append(place)
                elif "/" not in word and not place.exists():
                    continue  # `true`, `main`, `vimdiff`
                yield f"{section}.{key}", place


def _git_directory(root: Path) -> Path:
    """Git's directory; for a linked work tree the shared one."""
    git = root / ".git"
    found = re.match(r"gitdir: (.+)", _text(git)) if git.is_file() else None
    if found:
        git = root / found[1]
    common = _text(git / "commondir").strip()
    return git / common if common else git


def _settings(file: Path) -> Iterator[tuple[str, str, str]]:
    section = ""
    for line in re.sub(r"\\\r?\n", "", _text(file)).splitlines():
        found = _LINE.match(line)
        if found:
            section = (found[1] or section).casefold().partition(".")[0]
            if found[2]:
                yield section, found[2].casefold(), found[3]


def _text(file: Path) -> str:
    try:
        return read_plain_file(file, limit=LARGEST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
