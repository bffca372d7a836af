"""What a command line may destroy, as far as its words tell: rather too much than too little."""

import os
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

from claw_acp.core.value import Value
from claw_acp.workspace.tree_scan import TreeScan

_WORDS: Final = re.compile(r"[\s'\"=;|&<>(){},]+")
_LONGEST: Final = 32_768  # characters of a line that are looked at
_MOST_PATTERNS: Final = 50
_SIGNS: Final = re.compile(r"[*?\[\]]")
_GLOB: Final = re.compile(r"[*?\[]")
_REMOVES: Final = re.compile(
    r"\b(rm|rmdir|unlink|shred|truncate|mv|rsync|rename|trash|rmtree|clean|delete|remove|reset|find|xargs|dd)\b",
    re.IGNORECASE,
)
_VAGUE: Final = re.compile(r"[$`~]|\.\.|\b(cd|pushd|clean|reset|find|xargs|rmtree|rsync)\b|(?<!\S)-C")
_FROM_ABOVE: Final = re.compile(r"\.\.|[$`~]|\.\*|\*\*|\b(cd|pushd|xargs|rmtree|rsync)\b")
_FIND: Final = re.compile(r"\bfind\b")
_CHOOSES: Final = re.compile(r"-i?(name|path)\b")
_INSIDE_GIT: Final = re.compile(r"\.git(?![\w-])|\b(gc|prune|repack)\b")
_ELSEWHERE: Final = re.compile(r"\b(cd|pushd)\b|(?<!\S)-C|[$`]")


class Danger(Value):
    """The files that a command line may destroy.

    Attributes:
        named: Those that it names, and those in directories that it names.
        vague: It removes or replaces files, and does not name them all.
        repositories: The directories of git repositories that it may destroy together with their files.
    """

    named: frozenset[str]
    vague: bool
    repositories: frozenset[str]


def danger_of(line: str, *, cwd: Path, scan: TreeScan, roots: Sequence[Path], repositories: Sequence[str]) -> Danger:
    """The danger of a command line to files that a scan found."""
    line = line[:_LONGEST]
    removes = bool(_REMOVES.search(line))
    vague = removes and bool(_VAGUE.search(line))
    words = {word for word in _WORDS.split(line) if word and "\0" not in word}
    named = _named(words, cwd=cwd, scan=scan, elsewhere=bool(_ELSEWHERE.search(line)))
    chooses = _FIND.search(line) and _CHOOSES.search(line)
    above = {os.path.normpath(cwd / word) for word in words if not (chooses and word == ".")}
    whole = removes and (
        bool(_FROM_ABOVE.search(line) or (_FIND.search(line) and not chooses))
        or any(root.is_relative_to(place) for root in roots for place in above)
    )
    lost = {
        directory for directory in repositories if whole or directory in named or (vague and directory in scan.paths)
    }
    return Danger(
        named=named,
        vague=vague,
        repositories=frozenset(repositories if _INSIDE_GIT.search(line) else lost),
    )


def _named(words: set[str], *, cwd: Path, scan: TreeScan, elsewhere: bool) -> frozenset[str]:
    """The paths that the words name, and those in directories that they name.

    Args:
        words: Names, patterns and other words.
        cwd: The directory that they are relative to.
        scan: All paths.
        elsewhere: They may be relative to other directories as well.
    """
    plain = [word for word in words if not _GLOB.search(word)]
    places = {os.path.normpath(cwd / word) for word in plain}
    found = {place for place in places if place in scan.paths}
    for word in sorted(words.difference(plain), key=len)[:_MOST_PATTERNS]:
        found |= _matching(os.path.normpath(cwd / word), scan)
    if elsewhere:
        ends = tuple(f"/{os.path.normpath(word).lstrip('/.')}" for word in plain if "/" in word or "." in word)
        found |= {path for path in scan.paths if path.endswith(ends[:_MOST_PATTERNS])} if ends else set()
    folders = found & scan.listed
    return frozenset(found | {path for path in scan.paths if _is_inside(path, folders)} if folders else found)


def _matching(pattern: str, scan: TreeScan) -> set[str]:
    """The paths that a pattern of the shell may match: told by what is before its first sign and after its last."""
    signs = [sign.start() for sign in _SIGNS.finditer(pattern)]
    before, after, depth = pattern[: signs[0]], pattern[signs[-1] + 1 :], pattern.count(os.sep)
    deep = "**" in pattern
    return {
        path
        for path in scan.paths
        if path.startswith(before) and path.endswith(after) and (deep or path.count(os.sep) == depth)
    }


def _is_inside(path: str, folders: AbstractSet[str]) -> bool:
    while (end := path.rfind(os.sep)) > 0:
        path = path[:end]
        if path in folders:
            return True
    return False
