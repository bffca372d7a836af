"""The contract of a tool: a description for models, and a way to turn arguments into an invocation."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, TypeVar, cast

from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.questions import Form, FormAnswer
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.clock import Clock
from claw_acp.core.events import Location, PlanEntry, ToolContent, ToolKind
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ContentPart
from claw_acp.core.value import Value

_P = TypeVar("_P")


class ReadsPath(Value):
    """The call reads below this resolved path."""

    path: Path


class WritesPath(Value):
    """The call creates, changes or deletes this resolved path.

    `caution` is what a person should know who would not be asked: a mode alone does not allow the call then.
    """

    path: Path
    operation: Literal["write", "delete"] = "write"
    caution: str | None = None


class RunsCommand(Value):
    """The call hands this line to a shell."""

    line: str
    cwd: Path


class FetchesUrl(Value):
    """The call sends a request to this address."""

    url: str


class UsesServer(Value):
    """The call goes to a tool of an MCP server.

    `reads_only` is what the server says of it (a claim, not a fact); `destroys` is set where it warns that the tool may
    destroy something. With `shared` the name of our tool stands for many things of many servers, and allowing one of
    them for good must not allow the others.
    """

    server: str
    tool: str
    reads_only: bool = False
    destroys: bool = False
    shared: bool = False


Access: TypeAlias = ReadsPath | WritesPath | RunsCommand | FetchesUrl | UsesServer
"""A thing a call touches. The policy decides on these; a call that lists none touches nothing outside the session."""


class CallView(Value):
    """How a call is shown to a person before it runs."""

    title: str
    kind: ToolKind
    locations: tuple[Location, ...] = ()


class CallDraft(Value):
    """How a call is shown while the model still writes its arguments: a verb, and what is at the argument `subject`.

    A tool that has one holds it in its attribute `draft`.
    """

    kind: ToolKind
    verb: str
    subject: str = ""
    is_path: bool = False


class ToolResult(Value):
    """The result of a call.

    `parts` go to the model. `content` is shown to the person (None: the parts are shown). `raw` is for programs.
    `asks` is put to the person as text once all calls of the answer are over: the turn ends with it, and the next
    prompt answers it.
    """

    parts: tuple[ContentPart, ...]
    content: tuple[ToolContent, ...] | None = None
    raw: JsonValue = None
    failed: bool = False
    asks: str = ""


class Progress(Value):
    """News of a running call; None leaves a thing as it is. Content replaces what was shown."""

    content: tuple[ToolContent, ...] | None = None
    locations: tuple[Location, ...] | None = None
    title: str | None = None


@dataclass(slots=True, kw_only=True)
class ToolState:
    """The values that the tools of one session keep between calls, by key (files read, background tasks).

    Values may have an async `aclose`; it is awaited when the session is closed.
    """

    items: dict[str, object] = field(default_factory=dict[str, object])

    def get(self, key: str, make: Callable[[], object]) -> object:
        """The value at `key`, made on first use."""
        if key not in self.items:
            self.items[key] = make()
        return self.items[key]


def _any_path(path: Path) -> bool:  # noqa: ARG001 - the answer is the same for all
    return True


def _no_port(kind: type) -> None:  # noqa: ARG001 - there is none of any kind
    return None


class PlanPort(Value):
    """A port: `publish` shows the person the whole plan, in the place of the last one."""

    publish: Callable[[Sequence[PlanEntry]], Awaitable[None]]


class FormPort(Value):
    """A port: `ask` lets the person fill in a form; None when nobody can be shown one. Session and call id are set."""

    ask: Callable[[Form], Awaitable[FormAnswer | None]]


class ToolContext(Value):
    """All a tool may use. It never sees the editor, the session or the model.

    Attributes:
        session: The session's id.
        call_id: The call's.
        workspace: Files and programs.
        clock: Time.
        state: What the tools of the session keep between calls.
        progress: Shows news of the running call.
        may_read: Tells for a resolved path below one that the call was allowed to read whether no rule forbids it: a
            search of a directory leaves the others out. It is called from worker threads, too.
        allowed_hosts: Hosts that may be reached although they are private.
        ports: Finds every other service by its type; see `port`.
    """

    session: str
    call_id: str
    workspace: Workspace
    clock: Clock
    state: ToolState
    progress: Callable[[Progress], Awaitable[None]]
    may_read: Callable[[Path], bool] = _any_path
    allowed_hosts: Sequence[str] = ()
    ports: Callable[[type], object | None] = _no_port

    def port(self, kind: type[_P]) -> _P | None:
        """The service of this type, such as `PlanPort`; None where there is none, which a tool has to do without."""
        return cast("_P | None", self.ports(kind))


class Invocation(ABC):
    """One call with its arguments checked and bound. Making it touches nothing; `preview` reads at most; `run` acts."""

    view: CallView
    accesses: tuple[Access, ...] = ()

    async def preview(self) -> tuple[ToolContent, ...]:
        """Return the content a person should see before agreeing, such as the diff.

        Raises:
            ToolError: The call cannot work (the text to replace is not there, ...); it is not asked for and not run.
        """
        return ()

    @abstractmethod
    async def run(self) -> ToolResult:
        """Do it.

        Raises:
            ToolError: It did not work; the text tells the model why and what to do instead.
        """

    async def so_far(self) -> ToolResult | None:
        """Return the result of a run that was cancelled, as far as it got; None when there is nothing to tell.

        Called once `run` has cleaned up, and must not take long.
        """
        return None


class Tool(Protocol):
    """Something a model can call."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and JSON Schema, as the model sees them."""
        ...

    @property
    def parallel(self) -> bool:
        """True if calls only read, so that several may run at once."""
        ...

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """Bind arguments.

        Raises:
            InvalidArguments: They do not fit the schema; the text names the argument.
        """
        ...
