"""The files that `.gitignore` files leave out, with or without a Git repository around them."""

import logging
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from claw_acp.registry.reference import Ref

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_SPEC: Final["Ref[type[GitIgnoreSpec]]"] = Ref("pathspec:GitIgnoreSpec")  # 12 ms to load: only where a file is read
_PATTERN: Final["Ref[type[GitIgnoreSpecPattern]]"] = Ref("pathspec.patterns.gitignore.spec:GitIgnoreSpecPattern")
_log = logging.getLogger(__name__)

ALWAYS_HIDDEN = ".git"
MAX_RULES = 100_000  # characters of a .gitignore that are read
MAX_LINES = 2_000  # of its lines that count
MAX_CROSSINGS = 4  # `**` in one line

_STAR = "[^/]*"  # what a `*` becomes


@dataclass(frozen=True, slots=True)
class _Layer:
    """One ignore file: its patterns apply to a path without its first `skip` characters."""

    skip: int
    spec: "GitIgnoreSpec"


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules in force inside one directory, outermost first."""

    layers: tuple[_Layer, ...] = ()

    @classmethod
    def at(cls, start: Path, *, roots: Sequence[Path]) -> "IgnoreRules":
        """The rules for the entries of `start`, from the top of its repository or workspace root down to it.

        An ignored directory that is named explicitly is searched: the rules above it do not count then.
        """
        rules = cls()
        for directory in _down_to(start, _top(start, roots)):
            if rules.ignore(str(directory), directory=True):
                rules = cls()
            rules = rules.entering(str(directory))
        return rules

    def reach_above(self, start: Path) -> bool:
        """Return whether any of the rules come from above `start`."""
        return any(layer.skip <= len(str(start)) for layer in self.layers)

    def entering(self, directory: str) -> "IgnoreRules":
        """The rules inside a directory, including its own file."""
        spec = _load(os.path.join(directory, ".gitignore"))  # noqa: PTH118 - walks join a hundred thousand of these
        return IgnoreRules((*self.layers, _Layer(len(directory.rstrip("/")) + 1, spec))) if spec else self

    def ignore(self, path: str, *, directory: bool) -> bool:
        """Return whether an entry of this directory is ignored; the innermost file with a matching rule decides."""
        name = f"{path}/" if directory else path
        for layer in reversed(self.layers):
            verdict = layer.spec.check_file(name[layer.skip :]).include
            if verdict is not None:
                return verdict
        return False


class IgnoreLookup:
    """Lookups for single files below `start`, in any order, with the result of a walk with `rules`."""

    def __init__(self, start: Path, *, rules: IgnoreRules) -> None:
        self._inside: dict[Path, IgnoreRules | None] = {start: rules}

    def ignores(self, path: Path) -> bool:
        """Return whether the file, or a directory on its path, is ignored."""
        rules = self._rules(path.parent)
        return rules is None or path.name == ALWAYS_HIDDEN or rules.ignore(str(path), directory=False)

    def _rules(self, directory: Path) -> IgnoreRules | None:
        """The rules inside a directory; None if it is ignored itself."""
        if directory not in self._inside:
            above = self._rules(directory.parent) if directory != directory.parent else IgnoreRules()
            hidden = directory.name == ALWAYS_HIDDEN or above is None or above.ignore(str(directory), directory=True)
            self._inside[directory] = None if above is None or hidden else above.entering(str(directory))
        return self._inside[directory]


def _top(start: Path, roots: Sequence[Path]) -> Path:
    for directory in (start, *start.parents):
        if (directory / ALWAYS_HIDDEN).exists():
            return directory
    return next((root for root in roots if start.is_relative_to(root)), start)


def _down_to(start: Path, top: Path) -> list[Path]:
    return [directory for directory in (*reversed(start.parents), start) if directory.is_relative_to(top)]


def _load(path: str) -> "GitIgnoreSpec | None":
    if not os.path.isfile(path):  # noqa: PTH113 - as above
        return None
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - as above
            lines = file.read(MAX_RULES).splitlines()
    except OSError as error:
        _log.warning("ignore file not readable", extra={"path": path, "error": error.strerror})
        return None
    return _spec(lines, path)


def _spec(lines: Sequence[str], path: str) -> "GitIgnoreSpec":
    patterns: list[GitIgnoreSpecPattern] = []
    for line in lines[:MAX_LINES]:
        pattern = _pattern(line) if line.strip() else None
        if pattern is not None:
            patterns.append(pattern)
        elif line.strip():
            _log.warning("ignore pattern not used", extra={"path": path})
    return _SPEC.load()(patterns, backend="simple")


def _pattern(line: str) -> "GitIgnoreSpecPattern | None":
    """A line as a pattern with bounded matching time; None for a line that cannot be one."""
    try:
        pattern = _PATTERN.load()(line)
    except ValueError:
        return None
    compiled = cast("re.Pattern[str] | None", pattern.regex)  # pyright: ignore[reportUnknownMemberType]
    expression = "" if compiled is None else compiled.pattern
    if expression.count(_STAR) < 2:
        return pattern
    first, *inner, last = expression.split(_STAR)
    if expression.count(".+") > MAX_CROSSINGS or any(".+" in piece for piece in inner):
        return None
    # The first place where a piece fits is as good as any: without a way back the time does not explode.
    pattern.regex = re.compile(first + "".join(f"(?>{_STAR}?{piece})" for piece in inner) + _STAR + last)
    return pattern
