"""Reading hooks: from our files, from those of other agents that share their shape, and from the settings."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from os.path import normpath
from pathlib import Path
from typing import Final, cast

from claw_acp.config.model import HookCommandSection
from claw_acp.config.safe_read import read_inside, read_plain_file
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.nearest import nearest
from claw_acp.core.printable import printable
from claw_acp.core.value import Value, replace
from claw_acp.hooks.places import FOREIGN_FILES, OWN_FILE, HookFile
from claw_acp.hooks.rule import EVENTS, NOTIFICATION, PROJECT, HookRule

LARGEST_FILE: Final = 1_000_000  # bytes
MOST_RULES: Final = 200  # of one file; more are an accident
MOST_TOLD: Final = 20  # problems of one file
MOST_NAMES: Final = 2_000  # different words in the commands of one file, each of which may name a file
MOST_TOGETHER: Final = 4_000_000  # bytes of the scripts that one file names
LONGEST_MATCHER: Final = 1_000  # characters
LONGEST_TIMEOUT: Final = 3600.0  # seconds
_QUOTES: Final = re.compile(r"[\"'\\]")
_BETWEEN: Final = re.compile(r"[\s();|&<>=`]+")
_KNOWN_KEYS: Final = frozenset({"type", "command", "args", "timeout", "if", "async", "statusMessage"})


class FoundHooks(Value):
    """The hooks that were found, those of the user first, and the problems of those that are none."""

    rules: tuple[HookRule, ...] = ()
    troubles: tuple[str, ...] = ()


def read_hooks(files: Sequence[HookFile], rows: Sequence[HookCommandSection] = ()) -> FoundHooks:
    """Read files, and the rows of the settings, which come first. Blocks: for a worker thread."""
    rules: list[HookRule] = []
    troubles: list[str] = []
    for row in rows:
        entry = {"type": "command", "command": row.command, "timeout": row.timeout}
        rules += _rules(row.event, {"matcher": row.matcher, "hooks": [entry]}, "[[hook_commands]]", troubles)
    for file in files:
        text = _hooks_of(file, troubles)
        if text:
            rules += _read(text, file, troubles)
    return FoundHooks(rules=tuple(dict.fromkeys(rules)), troubles=tuple(map(printable, troubles)))


def project_files(project: Path) -> tuple[Sequence[ProjectFile], Sequence[str]]:
    """The files of a project that hold hooks, with the scripts that those run, and the problems of others."""
    files = [HookFile(path=project / name, project=project) for name in (OWN_FILE, *FOREIGN_FILES)]
    found = read_hooks(files)
    return tuple(dict.fromkeys(file for rule in found.rules for file in rule.files)), found.troubles


def _hooks_of(file: HookFile, troubles: list[str]) -> str:
    """The hooks of a file as JSON, without what else stands in it; empty if it has none."""
    try:
        data = (
            read_plain_file(file.path, limit=LARGEST_FILE)
            if file.project is None
            else read_inside(file.project, file.path, limit=LARGEST_FILE)
        )
        content: object = json.loads(data)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror or error if isinstance(error, OSError) else f"it is not valid JSON ({error})"
        troubles.append(f"{file.path}: {reason}; its hooks are not used")
        return ""
    table = _table(content)
    hooks = table.get("hooks")
    if table.get("disableAllHooks") is True or not hooks:
        return ""
    return json.dumps(hooks, indent=1, ensure_ascii=False)


def _read(text: str, file: HookFile, troubles: list[str]) -> list[HookRule]:
    hooks: object = json.loads(text)
    name = str(file.path) if file.project is None else str(file.path.relative_to(file.project))
    if not isinstance(hooks, dict):
        troubles.append(f'{file.path}: "hooks" has to be a table of events; its hooks are not used')
        return []
    rules: list[HookRule] = []
    faults: list[str] = []
    for event, group in _groups(cast("dict[str, object]", hooks)):
        rules += _rules(event, group, name, faults)
        if len(rules) > MOST_RULES or len(faults) > MOST_TOLD:
            del rules[MOST_RULES:], faults[MOST_TOLD:]
            faults.append(f"{file.path}: only its first {len(rules)} hooks are used, as it holds too much")
            break
    troubles += faults
    if file.project is None:
        return rules
    stands = ProjectFile(kind="hook", project=file.project, path=name, text=text)
    scripts = _Scripts(file.project)
    try:
        return [replace(rule, files=(stands, *scripts.named_in(rule.line))) for rule in rules]
    except _TooMuch:
        troubles.append(f"{file.path}: its hooks are not used, as they name too many files, or too large ones")
        return []


def _groups(hooks: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for event, groups in hooks.items():
        for group in cast("list[object]", groups) if isinstance(groups, list) else [None]:
            yield event, group


class _TooMuch(ValueError):
    """Nobody could look at all of this."""


class _Scripts:
    """The files of a project that the commands of its hooks name: they are what these run. Each is read once.

    Args:
        project: The project.
    """

    def __init__(self, project: Path) -> None:
        self._project = project
        self._known: dict[str, ProjectFile | None] = {}
        self._room = MOST_TOGETHER

    def named_in(self, command: str) -> Sequence[ProjectFile]:
        """The files that a command line names.

        Raises:
            _TooMuch: There are too many, or they are too large to be read whole.
        """
        line = PROJECT.sub(".", _QUOTES.sub("", command))
        found: list[ProjectFile] = []
        for name in dict.fromkeys(normpath(word) for word in _BETWEEN.split(line) if word):
            if name not in self._known:
                if len(self._known) == MOST_NAMES:
                    raise _TooMuch
                self._known[name] = self._read(name)
            if (file := self._known[name]) is not None:
                found.append(file)
        return found

    def _read(self, name: str) -> ProjectFile | None:
        """The file of this name; None: there is none in the project."""
        path, most = self._project / name, min(self._room, LARGEST_FILE)
        try:
            data = read_inside(self._project, path, limit=most + 1)
            place = str(path.relative_to(self._project))
        except (OSError, ValueError):
            return None
        if len(data) > most:
            raise _TooMuch
        self._room -= len(data)
        return ProjectFile(kind="hook", project=self._project, path=place, text=data.decode("utf-8", "surrogateescape"))


def _rules(event: str, group: object, place: str, troubles: list[str]) -> Iterator[HookRule]:
    """The rules of one group of an event."""
    if event not in EVENTS:
        close = nearest(event, EVENTS)
        troubles.append(f"{place}: there is no event {event} here{f'; do you mean {close}?' if close else ''}")
        return
    table = _table(group)
    matcher, entries = table.get("matcher") or "", table.get("hooks")
    if not isinstance(matcher, str) or not isinstance(entries, list) or not _compiles(matcher):
        troubles.append(f"{place}: a hook of {event} needs a `matcher` that is a text, and a list `hooks`")
        return
    for entry in cast("list[object]", entries):
        row = _table(entry)
        kind, command, args, timeout, condition = map(row.get, ("type", "command", "args", "timeout", "if"))
        if kind != "command" or not isinstance(command, str) or not command.strip():
            troubles.append(f"{place}: a hook of {event} is of type {kind!r}; only commands are supported")
            continue
        if args is not None and not _texts(args):
            troubles.append(f"{place}: `args` of a hook of {event} have to be a list of texts")
            continue
        if strange := sorted(key for key in row.keys() - _KNOWN_KEYS if row[key]):
            troubles.append(f"{place}: {', '.join(strange)} of a hook of {event} is not supported; it runs without")
        seconds = float(timeout) if isinstance(timeout, int | float) and timeout > 0 else None
        yield HookRule(
            event=event, matcher=matcher, command=command, place=place,
            args=None if args is None else tuple(cast("list[str]", args)),
            background=event == NOTIFICATION or (row.get("async") is True and event != "SessionEnd"),
            condition=condition if isinstance(condition, str) else "",
            timeout=None if seconds is None else min(seconds, LONGEST_TIMEOUT),
        )  # fmt: skip


def _table(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in cast("list[object]", value))


def _compiles(matcher: str) -> bool:
    try:
        return len(matcher) <= LONGEST_MATCHER and bool(re.compile(matcher))
    except (re.error, RecursionError, OverflowError):
        return matcher == "*"
