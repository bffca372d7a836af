"""The contract of hooks: code that is called around what an agent does, and may stop or change it.

Hooks run one after the other, those of the highest priority first. They come before the policy, which judges what they
made: no hook allows what the policy does not.
"""

from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from claw_acp.contracts.launch import CommandSandbox
from claw_acp.core.errors import ToolError
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ToolCall
from claw_acp.core.value import Value


class BeforeTool(Value):
    """A tool is about to be called. Its arguments can be changed, the call can be refused, or asked about."""

    tool: str
    arguments: JsonObject
    call_id: str


class AfterTool(Value):
    """A call has run. `text` is its result, which can be replaced; a reason to cancel is added for the model."""

    tool: str
    arguments: JsonObject
    call_id: str
    text: str
    failed: bool


class PermissionAsked(Value):
    """A person is about to be asked whether a call may run. It can be refused in their place, never allowed."""

    tool: str
    arguments: JsonObject
    call_id: str


class BeforeModel(Value):
    """A model is about to be asked. Cancelling ends the turn; context is added to this request only."""

    model: str


class AfterModel(Value):
    """A model has answered: with a text, and calls of these tools. Nothing of it can be changed: it was shown."""

    text: str
    tools: tuple[str, ...]


class SessionStarted(Value):
    """A session that was opened gets its first prompt, for which context can be added."""

    source: Literal["startup", "resume"]


class SubagentStarted(Value):
    """A subagent gets its task, to which context can be added."""

    agent: str


class SessionEnded(Value):
    """A session is closed."""

    reason: str


class PromptGiven(Value):
    """A person, a schedule or a program has sent a prompt. It can be refused or replaced; context can be added."""

    text: str


class AnswerGiven(Value):
    """A turn has ended with this answer, which was shown while it was written."""

    text: str


class TurnEnding(Value):
    """A turn could end with the model's answer. Cancelling makes it go on: the reason is what the model is told.

    `again` is set once it went on because of that. `agent` is the subagent whose turn it is, if it is one's. A hook may
    have calls run instead; it is called again after them.
    """

    text: str
    again: bool
    agent: str = ""


class BeforeSummary(Value):
    """A conversation is about to be replaced by a summary; cancelling leaves it as it is."""

    trigger: Literal["auto", "manual"]


HookEvent: TypeAlias = (
    BeforeTool | AfterTool | PermissionAsked | BeforeModel | AfterModel | SessionStarted | SessionEnded
    | SubagentStarted | PromptGiven | AnswerGiven | TurnEnding | BeforeSummary
)  # fmt: skip
HookEventKind: TypeAlias = type[HookEvent]


class HookResult(Value):
    """The wish of a hook; by default none.

    Attributes:
        cancel: The reason to cancel, for the model and the person; no further hook is called. None: go on.
        ask: The reason to ask a person before the call runs, whatever the policy says but no.
        arguments: The arguments that replace those of the call.
        text: The text that replaces the prompt, or the result.
        context: A text for the model besides.
        remark: A text for the person.
        ends_turn: The reason why the turn has to end now, for the person. None: it goes on.
        calls: Calls to run, as if the model had made them; only when a turn could end.
    """

    cancel: str | None = None
    ask: str = ""
    arguments: JsonObject | None = None
    text: str | None = None
    context: str = ""
    remark: str = ""
    ends_turn: str | None = None
    calls: tuple[ToolCall, ...] = ()


CONTINUE: Final = HookResult()
"""No wish."""


class HookFailed(ToolError):
    """A hook could not do its work; the settings say whether what it was called about goes on."""


class HookContext(Value):
    """The surroundings of a call.

    Attributes:
        session: The id of the session.
        cwd: Its directory.
        mode: The mode in force.
        timeout: Seconds that a hook may take, unless it is told another limit.
        sandbox: Makes the sandbox of a program that the project brings along; None: it runs like any program. Raises
            ToolError where the settings want a sandbox and none works.
    """

    session: str
    cwd: Path
    mode: str
    timeout: float
    sandbox: Callable[[], Awaitable[CommandSandbox | None]]


class Hook(Protocol):
    """Called for the events that it is about. What it raises is reported; what takes too long is cancelled."""

    @property
    def name(self) -> str:
        """Its name for people."""
        ...

    @property
    def priority(self) -> int:
        """Hooks with a higher one are called first."""
        ...

    @property
    def events(self) -> Collection[HookEventKind]:
        """The kinds of events that it is called for."""
        ...

    async def on(self, event: HookEvent, context: HookContext) -> HookResult:
        """Return what it wishes.

        Raises:
            HookFailed: It could not do its work.
        """
        ...
