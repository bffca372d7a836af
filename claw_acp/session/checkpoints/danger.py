"""What a command line may destroy, as far as its words tell: rather too much than too little."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from claw_acp.core.value import Value
from claw_acp.workspace.tree_scan import TreeScan

_WORDS: Final = re.compile(r"[\s'\"=;|&<>(){},]+")
_GLOB: Final = re.compile(r"[*?\[]")
_REMOVES: Final = re.compile(
    r"\b(rm|rmdir|unlink|shred|truncate|mv|rsync|rename|trash|rmtree|clean|delete|remove|reset|find|xargs|dd)\b",
    re.IGNORECASE,
)
_VAGUE: Final = re.compile(r"[*?$`~\[]|\.\.|\b(cd|pushd|clean|reset|find|xargs|rmtree|rsync)\b|(?<!\S)-C")
_FROM_ABOVE: Final = re.compile(
    r"\.\.|[$`~]|\.\*|\*\*|\b(cd|pushd|xargs|rmtree|rsync)\b|\bfind\b(?!.*-i?(name|path)\b)"
)
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

    def threatens(self, path: str) -> bool:
        """Return whether the command may be about this file in particular."""
        return self.vague or path in self.named


def danger_of(line: str, *, cwd: Path, scan: TreeScan, roots: Sequence[Path], repositories: Sequence[str]) -> Danger:
    """The danger of a command line to files that a scan found."""
    removes = bool(_REMOVES.search(line))
    vague = removes and bool(_VAGUE.search(line))
    words = [word for word in _WORDS.split(line) if word and "\0" not in word]
    named = _named(words, cwd=cwd, scan=scan, elsewhere=bool(_ELSEWHERE.search(line)))
    above = {os.path.normpath(cwd / word) for word in words}
    whole = removes and (
        bool(_FROM_ABOVE.search(line)) or any(root.is_relative_to(place) for root in roots for place in above)
    )
    lost = {
        directory for directory in repositories if whole or directory in named or (vague and directory in scan.paths)
    }
    return Danger(
        named=named,
        vague=vague,
        repositories=frozenset(repositories if _INSIDE_GIT.search(line) else lost),
    )


def _named(words: Iterable[str], *, cwd: Path, scan: TreeScan, elsewhere: bool) -> frozenset[str]:
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
    patterns = [_pattern(os.path.normpath(cwd / word)) for word in words if _GLOB.search(word)]
    if patterns:
        matches = re.compile("|".join(patterns)).fullmatch
        found |= {path for path in scan.paths if matches(path)}
    if elsewhere:
        ends = tuple(f"/{os.path.normpath(word).lstrip('/.')}" for word in plain if "/" in word or "." in word)
        found |= {path for path in scan.paths if path.endswith(ends)} if ends else set()
    folders = tuple(f"{place}/" for place in found if place in scan.listed)
    return frozenset(found | {path for path in scan.paths if path.startswith(folders)} if folders else found)


def _pattern(path: str) -> str:
    """A regular expression for what the shell makes of a path with stars and question marks."""
    signs = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*|\*|\?|\[[^]/]*\])", path)
    return "".join(signs.get(part) or ("[^/]" if part.startswith("[") else re.escape(part)) for part in parts)
