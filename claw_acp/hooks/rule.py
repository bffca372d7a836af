"""One hook command with the rule when it runs, and the events by their published names."""

import re
import shlex
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from claw_acp.contracts.hook import (
    AfterModel,
    AfterTool,
    AnswerGiven,
    BeforeModel,
    BeforeSummary,
    BeforeTool,
    HookEvent,
    HookEventKind,
    PermissionAsked,
    PromptGiven,
    SessionEnded,
    SessionStarted,
    SubagentStarted,
    TurnEnding,
)
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.value import Value
from claw_acp.hooks.foreign_tools import all_names, foreign_name, git_command

EVENTS: Final[Mapping[str, HookEventKind]] = {
    "PreToolUse": BeforeTool, "PermissionRequest": PermissionAsked, "Notification": PermissionAsked,
    "PostToolUse": AfterTool, "PostToolUseFailure": AfterTool,
    "UserPromptSubmit": PromptGiven, "SessionStart": SessionStarted, "SessionEnd": SessionEnded,
    "SubagentStart": SubagentStarted, "Stop": TurnEnding, "SubagentStop": TurnEnding, "PreCompact": BeforeSummary,
    "BeforeModel": BeforeModel, "AfterModel": AfterModel, "AfterAgent": AnswerGiven,
}  # fmt: skip
NOTIFICATION: Final = "Notification"
"""Its commands only look on, so nobody waits for them."""
_PERMISSION_PROMPT: Final = "permission_prompt"
PROJECT: Final = re.compile(r"\$(?:\{(?:CLAUDE|CLAW|GEMINI)_PROJECT_DIR\}|(?:CLAUDE|CLAW|GEMINI)_PROJECT_DIR\b)")
"""The names that commands have for the directory of the project."""
_NAMES: Final = re.compile(r"[\w|, -]*")
_CONDITION: Final = re.compile(r"(\w+)(?:\((.*)\))?", re.DOTALL)


class HookRule(Value):
    """A command that runs at an event.

    Attributes:
        event: The published name of the event.
        matcher: The subjects of the event that it is for: names joined by `|`, or a regular expression; empty: all.
        condition: A tool, or `Tool(PATTERN)` for calls whose command, file or address fits; empty: all.
        command: The command line; with `args`, the program.
        args: The arguments of the program, which is started without a shell then; None: it is a command line.
        background: Nobody waits for it, and its answer has no effect.
        timeout: Seconds it may take; None: as the settings say.
        place: The file that it stands in, for people.
        files: The files of the project that have to be trusted, the one that it stands in and the scripts that it runs;
            none: it is the user's own.
    """

    event: str
    command: str
    args: tuple[str, ...] | None = None
    background: bool = False
    matcher: str = ""
    condition: str = ""
    timeout: float | None = None
    place: str = ""
    files: tuple[ProjectFile, ...] = ()

    @property
    def line(self) -> str:
        """The command line, for people."""
        return self.command if self.args is None else shlex.join((self.command, *self.args))

    def argv(self, project: Path) -> tuple[str, ...]:
        """The program to start, and its arguments. The names of the directory are replaced where no shell does it."""
        if self.args is None:
            return "/bin/sh", "-c", self.command
        return tuple(PROJECT.sub(str(project).replace("\\", r"\\"), word) for word in (self.command, *self.args))

    @property
    def kind(self) -> HookEventKind:
        """The kind of event."""
        return EVENTS[self.event]

    def fits(self, event: HookEvent) -> bool:
        """Return whether it runs at this event."""
        if type(event) is not self.kind:
            return False
        if isinstance(event, AfterTool) and event.failed is not (self.event == "PostToolUseFailure"):
            return False
        if isinstance(event, TurnEnding) and bool(event.agent) is not (self.event == "SubagentStop"):
            return False
        subjects = frozenset({_PERMISSION_PROMPT}) if self.event == NOTIFICATION else _subjects(event)
        return subjects is None or (matches(self.matcher, subjects) and self._meant(event))

    def _meant(self, event: HookEvent) -> bool:
        found = _CONDITION.fullmatch(self.condition)
        if found is None or not isinstance(event, BeforeTool | AfterTool | PermissionAsked):
            return True
        tool, pattern = found[1], found[2]
        if tool not in all_names(event.tool):
            return False
        named = [event.arguments.get(key) for key in ("command", "path", "url", "pattern")]
        words = [git_command(event.tool, event.arguments), *named]
        text = next((word for word in words if isinstance(word, str)), "")
        return pattern is None or fnmatchcase(text, pattern.removesuffix(":*") + "*" * pattern.endswith(":*"))


def matches(matcher: str, subjects: frozenset[str]) -> bool:
    """Return whether a matcher fits one of these names: plain names fit exactly, all else is a regular expression."""
    if matcher in {"", "*"}:
        return True
    if _NAMES.fullmatch(matcher):
        return not subjects.isdisjoint(name.strip() for name in re.split(r"[|,]", matcher))
    return any(re.search(matcher, subject) for subject in subjects)


def _subjects(event: HookEvent) -> frozenset[str] | None:
    """The names that a matcher is compared with; None: the event has none."""
    match event:
        case BeforeTool(tool=tool) | AfterTool(tool=tool) | PermissionAsked(tool=tool):
            return all_names(tool) | {foreign_name(tool, {})}
        case SessionStarted(source=source):
            return frozenset({source})
        case SessionEnded(reason=reason):
            return frozenset({reason})
        case BeforeSummary(trigger=trigger):
            return frozenset({trigger})
        case SubagentStarted(agent=agent):
            return frozenset({agent})
        case TurnEnding(agent=agent) if agent:
            return frozenset({agent})
        case _:
            return None
