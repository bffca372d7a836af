"""The harm that a parsed command could do, in words."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from claw_acp.core.value import Value, replace
from claw_acp.security.command_paths import Places, named_paths
from claw_acp.security.forbidden import forbidden, forbidden_to_write, harmless_device
from claw_acp.security.guarded import guarded
from claw_acp.security.guarded_words import guarded_word
from claw_acp.security.own_program import own_words, refused_of_itself
from claw_acp.security.program_risk import Level, Risk, program_risk
from claw_acp.security.read_only.commands import looks_by_itself
from claw_acp.security.read_only.programs import ANY_WORDS, PROGRAMS
from claw_acp.security.risk import UNKNOWN
from claw_acp.security.shell_command import SimpleCommand, names
from claw_acp.security.shell_wrappers import git_arguments
from claw_acp.security.tool_risk import TOOL_JUDGES

WRITERS = names(
    """rm rmdir unlink mv cp ln install touch mkdir tee dd truncate shred chmod chown chgrp patch unzip split csplit
    rsync mkfifo mknod setfacl"""
)
_MOVES = frozenset({"cd", "pushd", "popd"})
_EDITORS = frozenset({"sed", "perl", "gsed"})  # their first word is a script that may look like a path
_USUALLY_LOOK = frozenset({*PROGRAMS, *ANY_WORDS, "test", "[", "printf", "date", "awk", "jq", "ps"})
_SECRET_FILE = re.compile(r"(?i)\.env(\..*)?|.*(secret|credential|password|token).*|.*\.(pem|key|p12|pfx)")


class Assessment(Value):
    """The risk assessment of one command.

    Attributes:
        level: From "only reads" (wherever that is) to "may do harm that cannot be undone".
        reason: The end of a sentence that begins with the command.
        outside: Places outside the session's roots that it names.
        forbidden: The reason it must never run, or None.
        reads: Every path its words name.
        writes: The paths it is known to change.
        distrusted: Whether files it reads may make it run something, so that no rule about the command suffices.
    """

    level: Level
    reason: str
    outside: tuple[Path, ...] = ()
    forbidden: str | None = None
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    distrusted: bool = False


def assess(command: SimpleCommand, *, places: Places) -> Assessment:
    """Judge one command of a line that may do more than read; `places` are its possible directories."""
    patterns = frozenset(index - 1 for index in command.patterns)
    named = [place for _, place in named_paths(command.argv[1:], patterns=patterns, places=places)]
    if command.program in _EDITORS:
        named = [place for place in named if os.path.exists(place)]  # noqa: PTH110 - of a name too long, Path raises
    reads, writes, unknown = _redirected(command, places=places)
    changed = (*writes, *_changed(command, named=named))
    level, reason = _level(command)
    if unknown and any(redirect.writes and redirect.target is None for redirect in command.redirects):
        level, reason = "high", "writes to a file whose name is known only when it runs"
    if (
        any(places.expand(command.argv[index + 1] or "*") is None for index in patterns if index >= 0)
        and level != "high"
    ):
        level, reason = "high", "names files by a wildcard that cannot be followed"
    if level != "high" and (harm := _harm_here(command, reads=reads, places=places)):
        level, reason = "high", harm
    found = _Touched(named=tuple(named), reads=tuple(reads), writes=changed)
    return _assessment(command, found, places=places, level=level, reason=reason)


def judge_touched(command: SimpleCommand, *, named: Sequence[Path], places: Places, doubt: str | None) -> Assessment:
    """Judge one command that only reads the files `named`, unless there is a doubt."""
    reads, writes, unknown = _redirected(command, places=places)
    unknown = unknown or not places.bases
    doubt = doubt or ("which files it reads or writes is known only when it runs" if unknown else None)
    level, reason = ("medium", doubt) if doubt else ("read_only", "only reads")
    found = _Touched(named=tuple(named), reads=tuple(reads), writes=tuple(writes))
    return _assessment(command, found, places=places, level=level, reason=reason)


class _Touched(Value):
    """The paths that one command names, reads by redirection, and changes."""

    named: tuple[Path, ...]
    reads: tuple[Path, ...]
    writes: tuple[Path, ...]


def _assessment(command: SimpleCommand, found: _Touched, *, places: Places, level: Level, reason: str) -> Assessment:
    context = places.context
    touched = (*found.named, *found.reads, *found.writes)
    starts = () if command.program in _MOVES or not command.argv else places.bases  # `ls` alone reads where it runs
    outside = tuple(dict.fromkeys(place for place in (*touched, *starts) if not context.inside(place)))
    outside_writes = tuple(place for place in found.writes if not context.inside(place))
    if outside_writes and level != "high":
        level, reason = "high", f"writes outside the project: {outside_writes[0]}"
    elif outside and level == "read_only":
        reason = f"reads outside the project: {outside[0]}"
    guard = guarded(*found.writes, context=context)
    if guard and level != "high":
        level, reason = "high", f"changes a protected file: {guard}"
    return Assessment(
        level=level,
        reason=reason,
        outside=outside,
        forbidden=_forbidden(touched, found.writes, places=places) or _refused_of_itself(command),
        reads=(*found.named, *found.reads),
        writes=found.writes,
    )


def _changed(command: SimpleCommand, *, named: list[Path]) -> list[Path]:
    return named if command.program in WRITERS or command.program in _EDITORS else []


def _redirected(command: SimpleCommand, *, places: Places) -> tuple[list[Path], list[Path], bool]:
    """The files its redirections read and write, and whether one of them is unknown."""
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


def _refused_of_itself(command: SimpleCommand) -> str | None:
    own = own_words(command.program, _known(command))
    return None if own is None else refused_of_itself(own)


def _harm_here(command: SimpleCommand, *, reads: Sequence[Path], places: Places) -> str | None:
    """The harm that a command may do to the files here; None when none is known."""
    if looks_by_itself(command) or not command.argv:
        return None
    guard = guarded_word(command, places=places)
    if guard:
        return f"may change a protected file: {guard}"
    secret = next((path for path in reads if _SECRET_FILE.fullmatch(path.name)), None)
    if secret and program_risk(command.program, _known(command))[0] != "low":
        return f"is given {secret.name}, which may hold secrets"
    words = [word for word in git_arguments(command.argv)[1:] if word] if command.program == "git" else []
    if words[:1] == ["checkout"] and any(os.path.lexists(b / word) for word in words[1:] for b in places.bases):
        return "throws away changes of files"
    return None


def _known(command: SimpleCommand) -> tuple[str, ...]:
    return tuple(UNKNOWN if word is None else word for word in command.argv[1:])


def _level(command: SimpleCommand) -> Risk:
    if command.elevated:
        return "high", "runs as another user"
    if not command.argv:
        return "medium", "sets variables that change what programs do" if command.env_prefix else "writes a file"
    if command.argv[0] is None:
        return "high", "runs a program whose name is known only when it runs"
    if looks_by_itself(command):
        return "medium", "only reads, but the line around it is not plain enough to be sure of what runs"
    if command.program in {"sed", "gsed"} and looks_by_itself(_without_in_place(command)):
        return "medium", "changes files in place"
    tool = TOOL_JUDGES.get(command.program)
    if tool and (risk := tool(_known(command))) and risk[0] == "high":
        return risk
    if command.program in _USUALLY_LOOK:
        return "medium", "may do more than read the project: its words or the line around it are not plain"
    return program_risk(command.program, _known(command))


def _without_in_place(command: SimpleCommand) -> SimpleCommand:
    words = command.argv[1:]
    kept = tuple(w for w in words if w is None or not w.startswith(("-i", "--in-place")))
    return replace(command, argv=(*command.argv[:1], *kept), patterns=frozenset[int]())
