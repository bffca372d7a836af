"""The files that the words of a command name, as far as this can be told."""

import os
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal

from claw_acp.core.value import Value
from claw_acp.security.forbidden import harmless_device
from claw_acp.security.shell_command import SimpleCommand

MOST_DIRECTORIES = 8  # directories a line may have changed into


class CopiedProject(Value):
    """A copy of a project that stands for it: rules about the project hold for the copy.

    `roots` are the directories of the session that works in the project itself.
    """

    copy: Path
    project: Path
    roots: tuple[Path, ...]


class UntrustedText(Value):
    """The untrusted text in a conversation.

    Attributes:
        sources: Its sources, in the order in which they came in.
        touched: Returns whether the conversation worked on a file before, or the person named it.
        given: Returns whether the person or a source gave this address, word for word.
    """

    sources: tuple[str, ...]
    touched: Callable[[Path], bool]
    given: Callable[[str], bool]


class PolicyContext(Value):
    """The environment of a decision.

    Attributes:
        roots: Resolved directories of the session; the first is its working directory.
        home: The user's home directory.
        protected: The agent's own directories and files.
        search_path: The directories of programs (`PATH`).
        results: The resolved directory of the session's stored tool results, which lies below a protected one, beside
            those of other sessions.
        copied: Set where the session works in a copy of a project.
        commands: The sandbox of commands: each runs in one, none does (so they all reach the whole machine), or none
            works here, so that auto mode asks about those that do more than read.
        temporary: A directory that the commands have to themselves, besides what they are given of the real one.
        untrusted: The untrusted text in the conversation; None: there is none.
        names_host: Returns whether the person named a host in the conversation; None: there is no conversation.
    """

    roots: tuple[Path, ...]
    home: Path
    protected: tuple[Path, ...] = ()
    search_path: tuple[Path, ...] = ()
    results: Path | None = None
    copied: CopiedProject | None = None
    commands: Literal["sandboxed", "open", "unprotected"] = "open"
    temporary: Path | None = None
    untrusted: UntrustedText | None = None
    names_host: Callable[[str], bool] | None = None

    def in_rules(self, path: Path) -> tuple[Path, tuple[Path, ...]]:
        """A resolved path as rules name it, and the directories that their patterns begin at."""
        copied = self.copied
        if copied is None or not path.is_relative_to(copied.copy):
            return path, self.roots
        return copied.project / path.relative_to(copied.copy), copied.roots

    def inside(self, path: Path) -> bool:
        """Return whether a resolved path lies inside a root, or only in the commands' own temporary directory."""
        if any(path.is_relative_to(root) for root in self.roots):
            return True
        return self.temporary is not None and path.is_relative_to(self.temporary) and not self._is_real(path)

    def _is_real(self, path: Path) -> bool:
        """Return whether a temporary file is one of this machine; the directory itself is none."""
        return path != self.temporary and os.path.lexists(path)

    def is_result(self, path: Path) -> bool:
        """Return whether a resolved path is a stored result. Its name is its permission: nobody can guess it.

        A copy of a session knows results of the original.
        """
        own = self.results
        return own is not None and path.parent.parent == own.parent and path.suffix == ".txt"

    def is_own_result(self, path: Path) -> bool:
        """Return whether a resolved path is a result of this session, so that a search may come across it."""
        return path.parent == self.results and path.suffix == ".txt"


class Places(Value):
    """The possible starts of relative paths; empty when unknown."""

    bases: tuple[Path, ...]
    context: PolicyContext

    def resolve(self, text: str) -> tuple[Path, ...]:
        """All possible targets of `text`, symlinks followed; empty when unknown."""
        if text == "~" or text.startswith("~/"):
            return (_real(self.context.home / text[2:]),)
        if text.startswith("~"):
            return (Path("/", text),)  # another user's home: outside, wherever it is
        if text.startswith("/"):
            return (_real(Path(text)),)
        return tuple(_real(base / text) for base in self.bases)

    def expand(self, pattern: str) -> tuple[Path, ...] | None:
        """Every present match of a wildcard, and the directory it searches; None when that cannot be told.

        It cannot be told if there are too many, if shells disagree about the pattern, or if a name could be taken for
        an option.
        """
        if "[" in pattern or "\\" in pattern:
            return None
        start = pattern.split("*", maxsplit=1)[0].split("?", maxsplit=1)[0].rpartition("/")[0]
        fixed = self.resolve(start or ("/" if pattern.startswith("/") else "."))
        if not fixed or not all(self.context.inside(place) for place in fixed):
            return fixed or None
        found: list[Path] = []
        for base in self.bases:
            matches = wildcard_matches(pattern, base=base)
            if matches is None or any(match[:1] in {"-", "@", "+"} for match in matches):
                return None
            found += [base / match for match in matches]
        return (*fixed, *map(_real, found))

    def inside_of(self, directory: str) -> "Places":
        """The starts of paths in a directory that is named from here."""
        return Places(bases=self.resolve(directory), context=self.context) if directory else self

    def leads_straight(self, target: str) -> bool:
        """True if the path has no links: shells resolve `..` after a link differently from the disk."""
        start = str(self.context.home) + target[1:] if target == "~" or target.startswith("~/") else target
        ways = [os.path.normpath(base / start) for base in self.bases]
        return all(os.path.realpath(base / start) == way for base, way in zip(self.bases, ways, strict=True))

    def moved(self, target: str) -> "Places":
        """The starts of paths after `cd target` was certainly run."""
        return Places(bases=tuple(dict.fromkeys(self.resolve(target))), context=self.context)

    def after(self, command: SimpleCommand) -> "Places":
        """The starts of paths after `command`: `cd` adds one, because it may or may not have been reached."""
        if command.program not in {"cd", "pushd", "popd"}:
            return self
        words = [word for word in command.argv[1:] if word not in {"--", "-P", "-L"}]
        target = words[0] if words else "~"
        if target is None or target.startswith("-") or command.program == "popd" or command.patterns:
            return Places(bases=(), context=self.context)
        if not self.leads_straight(target):
            return Places(bases=(), context=self.context)
        bases = tuple(dict.fromkeys((*self.bases, *self.resolve(target))))
        return Places(bases=bases if self.bases and len(bases) <= MOST_DIRECTORIES else (), context=self.context)


def named_paths(words: Sequence[str | None], *, patterns: frozenset[int], places: Places) -> Iterator[tuple[str, Path]]:
    """The words (option values too) that name a file, each with its target; several targets give several pairs."""
    only_operands = False
    for index, word in enumerate(words):
        if word is None:
            continue
        if index in patterns:
            for place in places.expand(word) or ():
                yield word, place
            continue
        texts = (word,) if only_operands else _path_texts(word)
        only_operands = only_operands or word == "--"
        for text in texts:
            for place in places.resolve(text):
                if not harmless_device(text):
                    yield text, place


def _path_texts(word: str) -> Iterator[str]:
    if len(word) > 4_096 or "\0" in word or "\n" in word:
        return
    if not word.startswith("-"):
        yield word
        if "=" in word:
            yield word.split("=", 1)[1]  # `if=/dev/sda`
        if word.startswith("@"):
            yield word[1:]  # `curl -d @file`
        if ":" in word and "://" not in word:
            yield from (part for part in word.split(":") if part.startswith(("/", "~")))  # `docker -v ~/x:/y`
        return
    if "=" in word:
        yield word.split("=", 1)[1]
    elif not word.startswith("--"):
        # `-f/etc/passwd`: the value is glued to the letter
        glued = min((word.find(mark) for mark in "/~." if mark in word), default=-1)
        if glued > 0 and word[glued:] != "/":  # `cut -d/`: a separator
            yield word[glued:]


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError, RecursionError):  # the last of links without end
        return Path("/", "unknown")


MOST_MATCHES: Final = 2_000
MOST_ENTRIES: Final = 10_000
"""The most directory entries to compare with the parts of one pattern."""


def wildcard_matches(pattern: str, *, base: Path) -> list[str] | None:
    """The matches as the shell writes them, relative to `base`; None if there are too many entries to check.

    Only `*` and `?` are known. `**` is `*`; a leading dot is matched only by a dot; links to directories are followed.
    """
    found, seen = [""], 0
    parts = pattern.split("/")
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        names: list[str] = []
        for prefix in found:
            for name in _names(base / prefix, part):
                seen += 1
                if seen > MOST_ENTRIES:
                    return None
                if name is not None:
                    names.append(f"{prefix}{name}" if last else f"{prefix}{name}/")
        found = names
        if len(found) > MOST_MATCHES:
            return None
    return found


def _names(directory: Path, part: str) -> Iterator[str | None]:
    """Each entry of a directory that matches one part of a pattern; None for each that does not."""
    if "*" not in part and "?" not in part:
        yield part if os.path.lexists(directory / part) else None
        return
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                hidden = entry.name.startswith(".") and not part.startswith(".")
                yield entry.name if not hidden and fnmatchcase(entry.name, part) else None
    except OSError:
        return
