"""How much harm a parsed command could do, in words."""

from pathlib import Path

from claw_acp.core.value import Value
from claw_acp.security.command_paths import Places, named_paths
from claw_acp.security.forbidden import forbidden, forbidden_to_write, guarded, harmless_device, holds_forbidden
from claw_acp.security.program_risk import Level, Risk, program_risk
from claw_acp.security.read_only_commands import looks_only, usually_looks
from claw_acp.security.shell_command import SimpleCommand, names

WRITERS = names(
    """rm rmdir unlink mv cp ln install touch mkdir tee dd truncate shred chmod chown chgrp patch unzip split csplit
    rsync mkfifo mknod setfacl"""
)
_MOVES = frozenset({"cd", "pushd", "popd"})
_EDITORS = frozenset({"sed", "perl", "gsed"})  # their first word is a script that may look like a path
_RECURSIVE_READERS = frozenset({"grep", "egrep", "fgrep", "zgrep", "rg"})


class Assessment(Value):
    """What is known about one command.

    Attributes:
        level: From "only reads" (wherever that is) to "may do harm that cannot be undone".
        reason: Why, as the end of a sentence that begins with the command.
        outside: Places outside the session's roots that it names.
        forbidden: Why it must never run, or None.
        reads: Every place its words name.
        writes: The places it is known to change.
    """

    level: Level
    reason: str
    outside: tuple[Path, ...] = ()
    forbidden: str | None = None
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()


def assess(command: SimpleCommand, *, places: Places) -> Assessment:
    """Judge one command of a line; `places` is where it may run."""
    context = places.context
    looking = looks_only(command)
    words = command.argv[1:] if looking is None else looking
    patterns = frozenset(index - 1 for index in command.patterns)
    named = [place for _, place in named_paths(words, patterns=patterns, places=places)]
    reads, writes, unknown = _redirected(command, places=places)
    touched = (*named, *reads, *writes)
    changed = tuple(writes) if looking is not None else (*writes, *_changed(command, named=named))
    why_never = _forbidden(touched, changed, places=places)
    starts = () if command.program in _MOVES or not command.argv else places.bases  # `ls` alone reads where it runs
    outside = tuple(dict.fromkeys(place for place in (*touched, *starts) if not context.inside(place)))
    level, reason = _level(command, looking=looking is not None)
    outside_writes = tuple(place for place in changed if not context.inside(place))
    if level == "read_only" and (unknown or not places.bases or _reaches_secrets(command, places=places)):
        level, reason = "medium", "which files it reads or writes is known only when it runs"
    if unknown and any(redirect.writes and redirect.target is None for redirect in command.redirects):
        level, reason = "high", "writes to a file whose name is known only when it runs"
    if outside_writes and level != "high":
        level, reason = "high", f"writes outside the project: {outside_writes[0]}"
    elif outside and level == "read_only":
        reason = f"reads outside the project: {outside[0]}"
    guard = next(filter(None, (guarded(place, roots=context.roots) for place in changed)), None)
    if guard and level != "high":
        level, reason = "high", f"changes a protected file: {guard}"
    return Assessment(
        level=level, reason=reason, outside=outside, forbidden=why_never, reads=(*named, *reads), writes=tuple(changed)
    )


def _changed(command: SimpleCommand, *, named: list[Path]) -> list[Path]:
    if command.program in _EDITORS:
        return [place for place in named if place.exists()]
    return named if command.program in WRITERS else []


def _redirected(command: SimpleCommand, *, places: Places) -> tuple[list[Path], list[Path], bool]:
    """Files its redirections read and write, and whether one of them is not known."""
    reads: list[Path] = []
    writes: list[Path] = []
    unknown = False
    for redirect in command.redirects:
        if redirect.target is None:
            unknown = unknown or not redirect.operator.startswith("<<")
        elif not harmless_device(redirect.target):
            found = places.resolve(redirect.target)
            unknown = unknown or not found
            (writes if redirect.writes else reads).extend(found)
    return reads, writes, unknown


def _forbidden(touched: tuple[Path, ...], changed: tuple[Path, ...], *, places: Places) -> str | None:
    context = places.context
    for place in touched:
        reason = forbidden(place, home=context.home, protected=context.protected)
        if reason:
            return f"it reaches {place}, and {reason}"
    for place in changed:
        reason = forbidden_to_write(place, home=context.home, roots=context.roots, protected=context.protected)
        if reason:
            return f"it writes to {place}, and {reason}"
    return None


def _reaches_secrets(command: SimpleCommand, *, places: Places) -> bool:
    """Whether a search through whole directories starts above the places that are never read."""
    context = places.context
    return command.program in _RECURSIVE_READERS and any(
        holds_forbidden(base, home=context.home, protected=context.protected) for base in places.bases
    )


def _level(command: SimpleCommand, *, looking: bool) -> Risk:
    if looking:
        return "read_only", "only reads"
    if command.elevated:
        return "high", "runs as another user"
    if not command.argv:
        return "medium", "sets variables that change what programs do" if command.env_prefix else "writes a file"
    if command.argv[0] is None:
        return "high", "runs a program whose name is known only when it runs"
    if usually_looks(command.program) and command.program not in _EDITORS | {"git", "find", "command"}:
        return "medium", "may do more than read the project: it has arguments that are unusual or not known yet"
    return program_risk(command.program, tuple("\0" if word is None else word for word in command.argv[1:]))
