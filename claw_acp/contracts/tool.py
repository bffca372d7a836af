"""The contract of a tool: a description for models, and a method that turns arguments into an invocation."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, TypeVar, cast

from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.questions import Form, FormAnswer
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ToolError
from claw_acp.core.events import Location, PlanEntry, ToolContent, ToolKind
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ContentPart
from claw_acp.core.value import Record, Value, made_by

if TYPE_CHECKING:
    from claw_acp.contracts.sandbox import ProgramNeeds

_P = TypeVar("_P")


class ReadsPath(Value):
    """The call reads below this resolved path."""

    path: Path


class WritesPath(Value):
    """The call creates, changes or deletes this resolved path.

    `caution` is a reason to ask the person even if the mode alone would allow the call.
    """

    path: Path
    operation: Literal["write", "delete"] = "write"
    caution: str | None = None


Reach: TypeAlias = Literal["reading", "project", "network", "machine"]
"""How far a command reaches. reading: it changes nothing. project: it changes the project. network: it also reaches
other machines. machine: all that its person can, outside of any sandbox."""

_REACHES: Final = ("reading", "project", "network", "machine")


def goes_beyond(reach: Reach, other: Reach) -> bool:
    """Return whether one reach is wider than another."""
    return _REACHES.index(reach) > _REACHES.index(other)


def widest(reaches: Iterable[Reach | None]) -> Reach | None:
    """The widest of some, of which None is none."""
    found: Reach | None = None
    for reach in reaches:
        if reach is not None and (found is None or goes_beyond(reach, found)):
            found = reach
    return found


Hindrance: TypeAlias = Literal["writing", "network", "hidden"]
"""What a sandbox keeps a command from: changing files, reaching other machines, or seeing what is hidden in it."""


class RunsCommand(Value):
    """The call hands this line to a shell. `reach` is what the model says that it needs; `stays`: in the background.

    `needs` is set for a program of the settings, which acts by itself for long: in modes in which a person is asked
    about each change, its sandbox lets it change nothing of the project.
    """

    line: str
    cwd: Path
    reach: Reach = "project"
    stays: bool = False
    needs: "ProgramNeeds | None" = None


class FetchesUrl(Value):
    """The call sends a request to this address.

    `carries`: it sends more than the address shows, such as a body. `secret` names one of the person's that it carries.
    `configured`: its host is one of the settings or of the program, whatever the model wants.
    """

    url: str
    method: str = "GET"
    carries: bool = False
    secret: str = ""
    configured: bool = False

    @property
    def only_fetches(self) -> bool:
        """True if it asks for what is there, as anybody may."""
        return not self.changes and not self.secret

    @property
    def changes(self) -> bool:
        """True if its method is one that may change something."""
        return self.method not in {"GET", "HEAD", "OPTIONS"}


ToolSource: TypeAlias = Literal["builtin", "mcp", "remote"]
"""Where a tool runs: in this program, in an MCP server, or in a program that is attached to the hub."""


class UsesServer(Value):
    """The call goes to a tool of another program: an MCP server, or one that is attached to the hub.

    `reads_only` is the server's claim, not a fact; `destroys` is set where it warns that the tool may destroy
    something. With `shared` one tool of ours stands for many things of many servers, and a lasting permission for one
    of them must not cover the others. `altered`: it describes itself otherwise than when the session began, so that
    nobody has agreed to what it is now. `digest` stands for how it describes itself, and `description` is the text of
    that; both are empty for a tool of ours.
    """

    server: str
    tool: str
    reads_only: bool = False
    destroys: bool = False
    shared: bool = False
    altered: bool = False
    digest: str = ""
    description: str = ""
    source: ToolSource = "mcp"


class ActsLater(Value):
    """The call decides what a job does later, when nobody is there."""

    job: str


class EvaluatesCode(Value):
    """The call runs code that needs no network and changes nothing: in the sandbox for reading, where there is one."""

    code: str


class ChangesMemory(Value):
    """The call keeps a text for later conversations, or forgets one.

    `said`: it stores no more than what the person said in this conversation. `everywhere`: it holds in every project.
    """

    text: str
    operation: Literal["store", "forget"] = "store"
    said: bool = False
    everywhere: bool = False


Access: TypeAlias = (
    ReadsPath | WritesPath | RunsCommand | FetchesUrl | UsesServer | ActsLater | ChangesMemory | EvaluatesCode
)
"""An effect of a call. The policy decides on these; a call that lists none has no effect outside the session."""


class CallView(Value):
    """The display of a call before it runs."""

    title: str
    kind: ToolKind
    locations: tuple[Location, ...] = ()


class CallDraft(Value):
    """The display of a call while the model still writes it: a verb, and the value of the argument `subject`.

    A tool that has one holds it in its attribute `draft`.
    """

    kind: ToolKind
    verb: str
    subject: str = ""
    is_path: bool = False


class ToolResult(Value):
    """The result of a call.

    `parts` go to the model. `content` is shown to the person (None: the parts are shown). `raw` is for programs. `asks`
    is a question shown as text once all calls of the answer have ended: it ends the turn, and the next prompt answers
    it. `hindered` is what a sandbox seems to have kept a failed command from. `source` is set where the parts
    are marked as untrusted: it is where they come from. `unanswered`: nothing came from there, the text is ours.
    """

    parts: tuple[ContentPart, ...]
    content: tuple[ToolContent, ...] | None = None
    raw: JsonValue = None
    failed: bool = False
    asks: str = ""
    hindered: Hindrance | None = None
    source: str = ""
    unanswered: bool = False


class Progress(Value):
    """An update of a running call; None leaves a field as it is. Content replaces what was shown."""

    content: tuple[ToolContent, ...] | None = None
    locations: tuple[Location, ...] | None = None
    title: str | None = None


MOST_TOOLS: Final = 128
"""Tools in one model request: vendors refuse those with more. What is left out is told."""


class ToolState(Record):
    """The values that the tools of one session keep between calls, by key (files read, background tasks).

    Values may have an async `aclose`; it is awaited when the session is closed.
    """

    items: dict[str, object] = made_by(default_factory=dict[str, object])

    def get(self, key: str, make: Callable[[], object]) -> object:
        """The value at `key`, created on first use."""
        if key not in self.items:
            self.items[key] = make()
        return self.items[key]


def _any_path(path: Path) -> bool:  # noqa: ARG001 - the answer is the same for all
    return True


def _no_port(kind: type) -> None:  # noqa: ARG001 - there is none of any kind
    return None


class PlanPort(Value):
    """A port: `publish` shows the person the whole plan, replacing the last one."""

    publish: Callable[[Sequence[PlanEntry]], Awaitable[None]]


class FormPort(Value):
    """A port: `ask` lets the person fill in a form; None when no client can show one. Session and call id are set."""

    ask: Callable[[Form], Awaitable[FormAnswer | None]]


class WaitPort(Value):
    """A port: in the block that `for_person` makes the call waits for a person, so that its time stands still."""

    for_person: Callable[[], AbstractAsyncContextManager[None]]


class ToolContext(Value):
    """Everything a tool may use. It never sees the editor, the session or the model.

    Attributes:
        session: The session's id.
        call_id: The call's.
        workspace: Files and programs.
        clock: Time.
        state: The values that the tools of the session keep between calls.
        progress: Updates the running call.
        may_read: Returns whether the rules allow reading a resolved path below one that the call may read; a search of
            a directory skips the others. Also called from worker threads.
        allowed_hosts: Private hosts that may be reached.
        strangers: Returns the sources of all untrusted text that came into the conversation of the call by now.
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
    strangers: Callable[[], tuple[str, ...]] = tuple
    ports: Callable[[type], object | None] = _no_port

    def port(self, kind: type[_P]) -> _P | None:
        """The service of this type, such as `PlanPort`; None where there is none, and the tool has to do without."""
        return cast("_P | None", self.ports(kind))

    def needed(self, kind: type[_P], *, otherwise: str) -> _P:
        """The service of this type.

        Raises:
            ToolError: There is none, with the text `otherwise`.
        """
        port = self.port(kind)
        if port is None:
            raise ToolError(otherwise)
        return port


class Invocation(ABC):
    """One call with its arguments checked and bound. Creating it has no effect; `preview` at most reads; `run` acts."""

    view: CallView
    accesses: tuple[Access, ...] = ()
    limits_itself: bool = False
    """Set if the time of a run is limited by other means than that of all calls."""

    async def explore(self) -> None:  # noqa: B027 - most calls say all when they are made
        """Find out what the call will touch, and add it to `accesses`; called before they are decided on. Only reads.

        Raises:
            ToolError: The call cannot work; it is not decided on, and does not run.
        """

    async def preview(self) -> tuple[ToolContent, ...]:
        """The content that a person should see before agreeing, such as the diff.

        Raises:
            ToolError: The call cannot work (the text to replace is not there, ...); the person is not asked, and it
                does not run.
        """
        return ()

    @abstractmethod
    async def run(self) -> ToolResult:
        """Run the call.

        Raises:
            ToolError: It failed; the text tells the model why and what to do instead.
        """

    async def so_far(self) -> ToolResult | None:
        """The partial result of a cancelled run; None when there is nothing to report.

        Called once `run` has cleaned up, and must not take long.
        """
        return None


class Tool(Protocol):
    """An action that a model can call."""

    @property
    def spec(self) -> ToolSpec:
        """The name, description and JSON Schema for the model."""
        ...

    @property
    def parallel(self) -> bool:
        """True if several calls may run at once: they only read, or are kept apart otherwise."""
        ...

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """Check and bind arguments.

        Raises:
            InvalidArguments: They do not fit the schema; the text names the argument.
        """
        ...
