"""The contract of a slash command: typed as `/name argument` instead of a prompt."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from claw_acp.core.events import DiffContent, Event
from claw_acp.core.messages import ContentPart
from claw_acp.core.spending import Bill
from claw_acp.core.value import Value

if TYPE_CHECKING:
    from claw_acp.contracts.attempts import Attempts
    from claw_acp.contracts.checkpoints import Checkpoints, OnEdited
    from claw_acp.contracts.delegation import BackgroundTasks
    from claw_acp.contracts.project_trust import ProjectTrust


STEER: Final = "steer"
"""The name of the command whose argument joins the running turn. It runs like others only where there is none."""
HANDOFF: Final = "handoff"
"""The name of the command that is carried out at once, also while a turn runs; its answer waits for its own turn."""


class Said(Value):
    """The command's answer, as Markdown. It is shown and stored, but never sent to a model.

    `diffs` are shown with it, under the title `diffs_title`.
    """

    text: str
    diffs: tuple[DiffContent, ...] = ()
    diffs_title: str = ""


class Asks(Value):
    """The prompt that the command stands for; it goes to the model, with attachments (images, documents).

    `remark` is shown to the person first.
    """

    prompt: str
    attachments: tuple[ContentPart, ...] = ()
    remark: str = ""


class Summarizes(Value):
    """The conversation is to be replaced by a summary for the model, which keeps `focus` in particular."""

    focus: str


class Tries(Value):
    """`count` attempts at a prompt are to be made, each in a copy of the project."""

    count: int
    prompt: str


class TakesAttempt(Value):
    """The changes of an attempt are to be made in the project."""

    number: int
    edited: "OnEdited"


CommandResult: TypeAlias = Said | Asks | Summarizes | Tries | TakesAttempt


class Option(Value):
    """A value that a session setting can take."""

    value: str
    name: str
    description: str | None = None


Chosen: TypeAlias = str | bool
"""The value of a setting: the id of an option, or whether a switch is on."""


class Setting(Value):
    """A setting of a session: a choice of its `options` or, without any, a switch.

    `category` is the protocol's name for such settings, if it has one.
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


class ContextShare(Value):
    """The tokens that one kind of content takes in a model request."""

    kind: str
    tokens: int


class ContextUse(Value):
    """The content of the next model request, by kind, and the model's window; `assumed` if nobody states that.

    `summarized` messages stand in the summary, or were left out; `shortened` results show their ends.
    """

    shares: Sequence[ContextShare]
    window: int
    assumed: bool
    summarized: int
    shortened: int


class CommandContext(Value):
    """The parts of a session that a command may see and change."""

    session: str
    cwd: str
    title: str | None
    mode: str
    model: str
    settings: Sequence[Setting]
    """All settings, mode and model among them; switches are choices of `on` and `off`."""
    groups: Sequence[CommandGroup]
    """All commands that can be typed now."""
    rules: Sequence[str]
    """Permission rules in force, each with its origin."""
    about_sandbox: Callable[[], Awaitable[str]]
    """A sentence about where commands run."""
    bill: Callable[[], Awaitable[Bill]]
    """The cost of the session so far, and the state of the budgets."""
    context_use: Callable[[], ContextUse]
    """The content of the next model request."""
    events: Callable[[], Awaitable[Sequence[Event]]]
    """The session's whole journal."""
    markdown: Callable[[], Awaitable[str]]
    """The session's whole conversation, as Markdown."""
    save: Callable[[str, str], Awaitable[Path]]
    """Write a text to a new file of the project, if the policy allows a person that; raises ToolError."""
    choose: Callable[[str, str], Awaitable[None]]
    """Change a setting by its id; raises InvalidRequest."""
    checkpoints: "Checkpoints"
    """The states of files before each turn, and the way back to them."""
    fork: Callable[[int | None], Awaitable[str]]
    """Copy the session as it was after a turn (by its number), or before this command; returns the id of the copy.

    Raises InvalidRequest when there is no such turn.
    """
    trust: "ProjectTrust"
    """The trust that the person has in files of the project."""
    attempts: "Attempts"
    """The attempts at a prompt of which one can be taken."""
    hand_over: Callable[[str], str]
    """Hand the lead of the session over, to what the text names; returns the answer."""
    tasks: "Callable[[], BackgroundTasks]"
    """The tasks in the background."""
    rename: Callable[[str], Awaitable[str]]
    """Give the session a title; returns the title as stored. Raises InvalidRequest."""

    def setting(self, setting_id: str) -> Setting | None:
        """The setting with this id; None when the session has none."""
        return next((setting for setting in self.settings if setting.id == setting_id), None)


class Command(Protocol):
    """A slash command."""

    @property
    def name(self) -> str:
        """The name, without the slash and without white space."""
        ...

    @property
    def description(self) -> str:
        """One line for the editor's completion list."""
        ...

    @property
    def hint(self) -> str | None:
        """A hint for the argument after the name; None: it takes none."""
        ...

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """Run the command; wrong arguments are answered with the right ones."""
        ...
