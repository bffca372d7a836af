"""The contract of a slash command: something a person types as `/name argument` instead of a prompt."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from claw_acp.core.events import Event
from claw_acp.core.messages import ContentPart
from claw_acp.core.spending import Bill
from claw_acp.core.value import Value


class Said(Value):
    """The command's answer, as Markdown. It is shown and kept, but models never see it."""

    text: str


class Asks(Value):
    """The command stands for this prompt; it goes to the model, with what is attached (pictures, documents)."""

    prompt: str
    attachments: tuple[ContentPart, ...] = ()


CommandResult: TypeAlias = Said | Asks


class Option(Value):
    """A value a session setting can take."""

    value: str
    name: str
    description: str | None = None


Chosen: TypeAlias = str | bool
"""The value of a setting: the name of an option, or whether it is on."""


class Setting(Value):
    """Something that can be set in a session: to one of its `options`, or, without any, on or off.

    `category` is what the protocol calls such settings, if it does.
    """

    id: str
    name: str
    current: Chosen
    options: Sequence[Option] = ()
    description: str | None = None
    category: str | None = None


class CommandGroup(Value):
    """Commands of one origin, under its name."""

    name: str
    commands: Sequence["Command"]


class CommandContext(Value):
    """The parts of a session that a command may see and change."""

    session: str
    cwd: str
    title: str | None
    mode: str
    model: str
    settings: Sequence[Setting]
    """All that can be set, mode and model among them; switches are choices of `on` and `off`."""
    groups: Sequence[CommandGroup]
    """All commands that can be typed now."""
    rules: Sequence[str]
    """Permission rules in force, each with where it came from."""
    bill: Callable[[], Awaitable[Bill]]
    """The cost of the session so far, and how the budgets stand."""
    events: Callable[[], Awaitable[Sequence[Event]]]
    """The session's whole journal."""
    markdown: Callable[[], Awaitable[str]]
    """The session's whole conversation, to read."""
    save: Callable[[str, str], Awaitable[Path]]
    """Write a text into a new file of the project, as far as the policy lets a person; raises ToolError."""
    choose: Callable[[str, str], Awaitable[None]]
    """Change a setting, by its id; raises InvalidRequest."""
    fork: Callable[[], Awaitable[str]]
    """Copy the session as it is before this command; the id of the copy."""
    rename: Callable[[str], Awaitable[str]]
    """Give the session a title; the title as it is kept. Raises InvalidRequest."""

    def setting(self, setting_id: str) -> Setting | None:
        """The setting with this id; None when the session has none."""
        return next((setting for setting in self.settings if setting.id == setting_id), None)


class Command(Protocol):
    """A slash command."""

    @property
    def name(self) -> str:
        """Without the slash, without white space."""
        ...

    @property
    def description(self) -> str:
        """One line for the editor's completion list."""
        ...

    @property
    def hint(self) -> str | None:
        """A hint of what may follow the name; None: nothing."""
        ...

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """Carry out; wrong arguments are answered with what would be right."""
        ...
