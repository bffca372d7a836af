"""The contract of a slash command: something a person types as `/name argument` instead of a prompt."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from claw_acp.core.events import Event
from claw_acp.core.value import Value


class Said(Value):
    """The command's answer, as Markdown. It is shown and kept, but models never see it."""

    text: str


class Asks(Value):
    """The command stands for this prompt; it goes to the model."""

    prompt: str


CommandResult: TypeAlias = Said | Asks


class Option(Value):
    """A value a session setting can take."""

    value: str
    name: str
    description: str | None = None


class CommandContext(Value):
    """What a command may see and change."""

    session: str
    cwd: str
    mode: str
    model: str
    modes: Sequence[Option]
    models: Sequence[Option]
    commands: Sequence["Command"]
    rules: Sequence[str]
    """Permission rules in force, each with where it came from."""
    events: Callable[[], Awaitable[Sequence[Event]]]
    """The session's whole journal."""
    markdown: Callable[[], Awaitable[str]]
    """The session's whole conversation, to read."""
    save: Callable[[str, str], Awaitable[Path]]
    """Write a text into a new file of the project, as far as the policy lets a person; raises ToolError."""
    set_mode: Callable[[str], Awaitable[None]]
    set_model: Callable[[str], Awaitable[None]]


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
        """What may follow the name; None: nothing."""
        ...

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """Carry out; wrong arguments are answered with what would be right."""
        ...
