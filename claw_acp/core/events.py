"""The events of a session, as neutral values: the journal keeps them, front ends render them.

Every event carries the session it belongs to, its position in the session's journal (`seq`: 1, 2, 3 ..., stamped when
it is published) and the id of the item it creates or changes.
An item is created by its first event and patched by later ones: in a `*Changed` event `None` means "unchanged".
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ContentPart, Usage
from claw_acp.core.value import Value

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
ToolStatus = Literal["pending", "in_progress", "completed", "failed", "cancelled"]
FINAL: frozenset[ToolStatus] = frozenset({"completed", "failed", "cancelled"})
CompactionStatus = Literal["in_progress", "completed", "failed", "cancelled"]
StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
TurnState = Literal["running", "waiting", "idle"]
Severity = Literal["info", "warning", "error"]
NoticeTopic = Literal["retry", "switch", "limit", "repetition", "untrusted"]
AttemptStatus = Literal["completed", "failed", "cancelled"]
PathKind = Literal["absent", "file", "link", "directory", "other"]
PlanPriority = Literal["high", "medium", "low"]
PlanStatus = Literal["pending", "in_progress", "completed"]


class Location(Value):
    """A place in a file; `line` counts from 1."""

    path: str
    line: int | None = None


class PartContent(Value):
    """Text, an image or another content part shown in a tool call."""

    part: ContentPart


class DiffContent(Value):
    """A change to one file; `old_text` is None when the file is new, `new_text` when it is deleted."""

    path: str
    old_text: str | None
    new_text: str | None


class TerminalContent(Value):
    """A terminal that lives in the client and shows its output there."""

    terminal_id: str


class CommandContent(Value):
    """A program that we run ourselves, shown as a terminal: its output so far (`text`), and how it ended.

    `terminal_id` is the same in every snapshot of a program. `running` is false once it has ended; then `code` or
    `signal` says how, if known.

    `text` is for reading. `raw` is the end of the same output as written, the last of `printed` bytes; None where only
    the text is known, or may be shown.
    """

    terminal_id: str
    line: str
    cwd: str
    text: str = ""
    raw: bytes | None = None
    printed: int = 0
    running: bool = True
    code: int | None = None
    signal: str | None = None


ToolContent: TypeAlias = PartContent | DiffContent | TerminalContent | CommandContent


class PlanEntry(Value):
    """One step of the agent's plan."""

    content: str
    priority: PlanPriority = "medium"
    status: PlanStatus = "pending"


class PathState(Value):
    """The state of a path at one moment.

    `digest` is the hash of a file's bytes, or of the target of a link; empty when it is not known. With `kept` the
    content store has that content. `unsaved` is the hash of the text that the editor showed, where it was another; the
    store has that, too.
    """

    kind: PathKind = "absent"
    mode: int = 0
    size: int = 0
    digest: str = ""
    kept: bool = False
    unsaved: str = ""

    def same_as(self, other: "PathState") -> bool:
        """Return whether both are known to be the same, on the disk and in the editor."""
        known = self.kind in {"absent", "directory"} or bool(self.digest)
        return known and (self.kind, self.mode, self.digest, self.unsaved) == (
            other.kind, other.mode, other.digest, other.unsaved
        )  # fmt: skip


class PathChange(Value):
    """A change of one path, which is absolute; `after` is None until it is known."""

    path: str
    before: PathState
    after: PathState | None = None


class Attempt(Value):
    """One of several attempts at a prompt, which had the files of the project for itself; it is over.

    `words` is the last message of its model, or the reason of its failure. `changes` are those that taking it would
    make to the project; `added` and `removed` count their lines. `passed` and `failed` are the project's checks, as far
    as any ran. `cost` is in US dollars, None when the price is not known. `sources` are those of the untrusted text
    that it read.
    """

    number: int
    model: str
    status: AttemptStatus
    words: str = ""
    changes: tuple[PathChange, ...] = ()
    added: int = 0
    removed: int = 0
    passed: int = 0
    failed: int = 0
    cost: float | None = None
    sources: tuple[str, ...] = ()


class _Event(Value):
    session: str = ""
    seq: int = 0
    item: str = ""


class MessageStarted(_Event):
    """A message begins. A user's message is whole (`parts`); an assistant's grows by the deltas that follow.

    A `local_only` message (a slash command and its answer) is shown and stored like any other, but never sent to a
    model. `model_parts` is sent to the model instead of `parts`, where a command stands for a prompt (`/review`);
    `facts` is sent besides. Both are stored, so that the conversation stays the same byte for byte. `sources` are those
    of untrusted text among the facts.
    """

    role: Literal["user", "assistant"]
    parts: tuple[ContentPart, ...] = ()
    model_parts: tuple[ContentPart, ...] | None = None
    facts: str = ""
    local_only: bool = False
    sources: tuple[str, ...] = ()


class TextDelta(_Event):
    """The assistant message `item` grows by `text`."""

    text: str


class ThoughtDelta(_Event):
    """The thinking of the assistant message `item` grows by `text`; a closed block may carry opaque vendor data."""

    text: str
    signature: str | None = None
    redacted: str | None = None
    origin: str = ""


class ToolCallChanged(_Event):
    """The tool call `item` was announced or changed.

    The first event has `name`, `title`, `kind`, `message` (the assistant message that asked), `arguments` (JSON text)
    and `extra` (see `ToolCall`: stored for the model, never shown). `output` is the result for the model; it is set
    together with a final status, and so are `refusal`: why a call was not run, and what decided that; and `sources`:
    the sources of untrusted text in it. `accepted` are those that a person trusts from then on.
    """

    message: str | None = None
    name: str | None = None
    title: str | None = None
    kind: ToolKind | None = None
    status: ToolStatus | None = None
    arguments: str | None = None
    locations: tuple[Location, ...] | None = None
    content: tuple[ToolContent, ...] | None = None
    raw_input: JsonValue = None
    raw_output: JsonValue = None
    output: tuple[ContentPart, ...] | None = None
    extra: JsonObject | None = None
    refusal: str | None = None
    sources: tuple[str, ...] | None = None
    accepted: tuple[str, ...] | None = None


class TerminalChanged(_Event):
    """A program that outlived its tool call printed something or ended; `item` is its terminal. Shown, never stored.

    The journal has it as `running` in its call and, once it has ended, in another change of that call.
    """

    command: CommandContent


class PlanChanged(_Event):
    """The whole current plan."""

    entries: tuple[PlanEntry, ...]


class UsageChanged(_Event):
    """Context in use: `used` of `size` tokens (`size` 0 = unknown), and what the last model request took.

    `model` (`provider/model`) answered it, empty in old journals; `cost` is its cost in US dollars, None when the price
    is not known. `total` is the cost of the session so far, as far as prices are known; None: nothing.
    """

    used: int
    size: int
    request: Usage
    model: str = ""
    cost: float | None = None
    total: float | None = None


class Notice(_Event):
    """Something a person should know that is not part of the conversation (a failed request, a lost server).

    `topic` marks those that explain what the agent did; they are stored, so that it can be asked for later.
    """

    severity: Severity
    title: str
    description: str | None = None
    topic: NoticeTopic | None = None


class CompactionChanged(_Event):
    """The conversation up to here is being replaced by a summary for the model; people still see all of it.

    `summary` is the whole summary (None: unchanged); it grows by `delta` while in progress. `kept_from` is the first
    message that the model still sees itself; without it, everything before the compaction is replaced.
    `shortened` are tool calls whose results the model sees only the ends of, with or without a summary. `model`
    (`provider/model`) wrote the summary, if that was another than the session's.
    """

    status: CompactionStatus
    summary: str | None = None
    delta: str | None = None
    error: str | None = None
    kept_from: str | None = None
    shortened: tuple[str, ...] = ()
    model: str = ""


class StateChanged(_Event):
    """A turn (`item`) began or ended. `stop` is None while running and after an error, which then has a `code`.

    `usage` is the total of a turn's model requests, set at its end if any provider reported it.

    `waiting` (shown, never stored) is sent when the turn cannot go on until a person answers, and `running` when it
    can.
    """

    state: TurnState
    stop: StopReason | None = None
    error: str | None = None
    code: int | None = None
    usage: Usage | None = None


class TurnRewound(_Event):
    """The turn `item` was undone, with everything after it up to here: models and replays skip that.

    With `undone` false, everything that the last such event of this turn hid counts again.
    """

    undone: bool = True


class FilesChanged(_Event):
    """Files change in the turn `item`.

    A change that is about to be made has no `after`: the state before it is kept by now. The same path with both states
    follows when it has been made.

    A command may change anything. Before it runs there is an event with `command` (an id) and `survey`, the hash of a
    kept listing of all files; when it has ended, a second one with the same `command` has the changes.
    """

    changes: tuple[PathChange, ...] = ()
    command: str = ""
    survey: str = ""


class FilesRestored(_Event):
    """Files are being, or have been, brought back to an earlier state: the undo or redo `item`.

    All changes since the beginning of `turn` are undone or, with `redoes`, what the undo of that id took back is done
    again. `changes` are to be made while in progress, and those that were made in the end. With `conversation` the
    turns themselves are undone, too: a `TurnRewound` follows before the end.

    With `takes` it is no undo: the turn takes the changes of the attempt with that number.
    """

    status: Literal["in_progress", "completed"]
    turn: str
    redoes: str = ""
    conversation: bool = False
    changes: tuple[PathChange, ...] = ()
    takes: int = 0


class AttemptsChanged(_Event):
    """The whole current set of attempts at a prompt, of which one can be taken; empty when there are none any more."""

    prompt: tuple[ContentPart, ...] = ()
    attempts: tuple[Attempt, ...] = ()


SANDBOX_OFF = "off"
"""The name for no sandbox, where none is wanted."""


class SessionChanged(_Event):
    """Facts about the session changed; each may be None for "unchanged". `options` holds only those that changed.

    `sandbox` is the name of the sandbox of its commands; `none`: none works here; `off`: none is wanted.
    """

    title: str | None = None
    mode: str | None = None
    model: str | None = None
    options: Mapping[str, str | bool] | None = None
    sandbox: str | None = None


class SubagentChanged(_Event):
    """The session `item` of a subagent began to work, or ended, for the one reason `stop`. Shown, never stored.

    `title` and `description` are set when it begins: its task, and what the agent with that name is for.
    """

    state: Literal["running", "idle"]
    stop: StopReason | None = None
    title: str | None = None
    description: str | None = None


class CommandsChanged(_Event):
    """The session's slash commands have changed. Shown, never stored."""


Event: TypeAlias = (
    MessageStarted
    | TextDelta
    | ThoughtDelta
    | ToolCallChanged
    | TerminalChanged
    | PlanChanged
    | UsageChanged
    | Notice
    | CompactionChanged
    | StateChanged
    | TurnRewound
    | FilesChanged
    | FilesRestored
    | AttemptsChanged
    | SessionChanged
    | SubagentChanged
    | CommandsChanged
)
