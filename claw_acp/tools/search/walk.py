"""Walking a directory tree on disk: ignored entries left out, symbolic links listed but not followed."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from claw_acp.tools.search.ignore_rules import ALWAYS_HIDDEN, IgnoreRules

EntryKind = Literal["directory", "file", "link", "other"]


class WalkStopped(Exception):
    """Raised by a pulse to end a walk early; entries found so far stay."""


Pulse = Callable[[], None]
"""Called once for every directory; may raise to end the walk."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One directory entry; `path` is absolute below the start of the walk."""

    name: str
    path: str
    kind: EntryKind


@dataclass(frozen=True, slots=True)
class Contents:
    """The entries of one directory, by name; `rules` are those inside it, `hidden` counts ignored ones."""

    entries: tuple[Entry, ...]
    rules: IgnoreRules
    hidden: int = 0
    readable: bool = True


def contents(directory: str, *, rules: IgnoreRules) -> Contents:
    """The entries of a directory that `rules` (in force inside it) do not ignore."""
    entries: list[Entry] = []
    hidden = 0
    try:
        with os.scandir(directory) as found:
            for item in found:
                kind = _kind(item)
                if item.name == ALWAYS_HIDDEN:
                    continue
                if rules.ignore(item.path, directory=kind == "directory"):
                    hidden += 1
                else:
                    entries.append(Entry(item.name, item.path, kind))
    except OSError:  # vanished, or not ours to read: the caller shows that
        return Contents((), rules, readable=False)
    entries.sort(key=lambda entry: entry.name)
    return Contents(tuple(entries), rules, hidden)


def walk(start: str, *, rules: IgnoreRules, pulse: Pulse) -> Iterator[Entry]:
    """Everything below `start` that is not ignored, in the order of the paths; `rules` are those inside `start`."""
    pending = [iter(contents(start, rules=rules).entries)]
    chain = [rules]
    pulse()
    while pending:
        entry = next(pending[-1], None)
        if entry is None:
            pending.pop()
            chain.pop()
            continue
        yield entry
        if entry.kind == "directory":
            pulse()
            inside = chain[-1].entering(entry.path)
            chain.append(inside)
            pending.append(iter(contents(entry.path, rules=inside).entries))


def _kind(item: os.DirEntry[str]) -> EntryKind:
    if item.is_symlink():
        return "link"
    if item.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if item.is_file(follow_symlinks=False) else "other"
