"""A session's events, folded into a conversation that every model accepts, even if the session was interrupted.

Every tool call is followed by exactly one result, every result has its call, ids are unique, nothing is empty. Folded
events are never dropped: compacted and undone parts are skipped, and return when that is undone.
"""

from bisect import bisect_left
from typing import Final, TypeAlias, assert_never

from claw_acp.core.events import (
    FINAL,
    CommandsChanged,
    CompactionChanged,
    Event,
    MessageStarted,
    Notice,
    PlanChanged,
    SessionChanged,
    StateChanged,
    TerminalChanged,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    TurnRewound,
    UsageChanged,
)
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ContentPart, FactsPart, Message, Reasoning, TextPart, ToolCall
from claw_acp.core.value import Record, made_by
from claw_acp.session.turns import TurnLog, TurnSpan

SUMMARY: Final = "<summary>\nThe conversation before this point, summarized:\n\n{}\n</summary>"
INTERRUPTED: Final = "The call was interrupted before it finished; it may have had effects."
NEVER_RAN: Final = "The call was interrupted before it began, so nothing was done."
NO_OUTPUT: Final = "The call finished without output."


class _Call(Record):
    """A tool call as far as it is known. One without a name was never announced and is ignored."""

    id: str
    order: int  # the position of its assistant message
    name: str = ""
    arguments: str = "{}"
    extra: JsonObject | None = None
    begun: bool = False
    final: bool = False
    failed: bool = False
    output: tuple[ContentPart, ...] = ()

    def change(self, event: ToolCallChanged) -> None:
        self.name = event.name or self.name
        self.arguments = self.arguments if event.arguments is None else event.arguments
        self.extra = self.extra if event.extra is None else event.extra
        self.begun = self.begun or event.status == "in_progress"
        if event.status in FINAL:
            self.final = True
            self.failed = event.status != "completed"
            self.output = self.output if event.output is None else event.output

    def call(self) -> ToolCall:
        return ToolCall(id=self.id, name=self.name, arguments=self.arguments, extra=self.extra)

    def result(self, call: ToolCall) -> Message:
        if not self.final:
            return Message.tool(call, INTERRUPTED if self.begun else NEVER_RAN, failed=True)
        parts = _said(self.output) or (TextPart(text=NO_OUTPUT),)
        return Message.tool(call, *parts, failed=self.failed)


class _User(Record):
    seq: int  # of its first event
    parts: tuple[ContentPart, ...]
    facts: str
    local_only: bool  # not for models

    def messages(self) -> tuple[Message, ...]:
        parts = () if self.local_only else _said(self.parts)
        if parts and self.facts:
            parts = (FactsPart(text=f"{self.facts}\n\n"), *parts)
        return (Message(role="user", parts=parts),) if parts else ()


class _Assistant(Record):
    seq: int
    parts: tuple[ContentPart, ...] = ()
    text: list[str] = made_by(default_factory=list[str])
    thought: list[str] = made_by(default_factory=list[str])  # the block that is still open
    reasoning: list[Reasoning] = made_by(default_factory=list[Reasoning])  # closed blocks
    calls: dict[str, _Call] = made_by(default_factory=dict[str, _Call])  # by item
    finished: bool = False  # the model said all it wanted to
    local_only: bool = False  # not for models

    def grow(self, event: TextDelta | ThoughtDelta) -> None:
        if isinstance(event, TextDelta):
            self.text.append(event.text)
            return
        self.thought.append(event.text)
        if event.signature is not None or event.redacted is not None or event.origin:
            text = "".join(self.thought)
            self.reasoning.append(
                Reasoning(text=text, signature=event.signature, redacted=event.redacted, origin=event.origin)
            )
            self.thought.clear()

    def settle(self) -> None:
        """Join the collected pieces into one text: hundreds of small strings take ten times its memory."""
        self.text[:] = ["".join(self.text)]
        self.thought[:] = ["".join(self.thought)] if self.thought else []

    def messages(self) -> tuple[Message, ...]:
        known = [call for call in self.calls.values() if call.name]
        calls = tuple(call.call() for call in known)
        parts = _said((*self.parts, TextPart(text="".join(self.text))))
        if self.local_only or not (parts or calls):
            return ()
        said = Message(role="assistant", parts=parts, tool_calls=calls, reasoning=self._thoughts())
        return (said, *(call.result(asked) for call, asked in zip(known, calls, strict=True)))

    def _thoughts(self) -> tuple[Reasoning, ...]:
        """The thinking to send back.

        An open block counts only if the answer is complete: half a thought would pass as whole.
        """
        rest = "".join(self.thought)
        if rest and (self.finished or self.calls):
            return (*self.reasoning, Reasoning(text=rest))
        return tuple(self.reasoning)


_Entry: TypeAlias = _User | _Assistant


class _Compaction(Record):
    """A compaction: a summary that replaces the entries before the position `kept`."""

    seq: int
    kept: int
    summary: str = ""
    completed: bool = False

    def change(self, event: CompactionChanged) -> None:
        self.summary = self.summary if event.summary is None else event.summary
        self.summary += event.delta or ""
        self.completed = event.status == "completed"


class History:
    """The conversation of one session, kept up to date event by event.

    Applying an event and reading again are cheap.
    """

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._orders: dict[str, int] = {}  # message id -> position of its entry
        self._calls: dict[str, _Call] = {}  # item -> its latest call
        self._call_ids: set[str] = set()
        self._open: dict[str, _Call] = {}  # call id -> call without a final status
        self._messages: list[Message] = []  # those of the entries before `_fresh`
        self._starts: list[int] = []  # where each of these entries' messages begin
        self._fresh = 0
        self._compactions: dict[str, _Compaction] = {}
        self._kept = 0  # the entry from which on the messages are made of entries, and not of a summary
        self.turns = TurnLog()
        self.usage: UsageChanged | None = None
        """The last report of tokens and cost."""

    @property
    def unfinished_calls(self) -> tuple[str, ...]:
        """Item ids of the tool calls without a final status, in the order they were announced, none of undone turns."""
        unfinished = ((item, call) for item, call in self._calls.items() if call.id in self._open)
        return tuple(item for item, call in unfinished if not self.turns.is_undone(self._entries[call.order].seq))

    def messages(self) -> list[Message]:
        """The conversation so far, without a system message. The caller may change the list."""
        if not self._fresh:
            self._begin()
        for order in range(self._fresh, len(self._entries)):
            self._starts.append(len(self._messages))
            entry = self._entries[order]
            if order >= self._kept and not self.turns.is_undone(entry.seq):
                self._messages += entry.messages()
        self._fresh = len(self._entries)
        return self._messages.copy()

    def split(self, turn: TurnSpan) -> tuple[list[Message], list[Message]]:
        """The conversation of `messages`, cut in two: before a turn, and from its beginning on."""
        messages = self.messages()
        order = bisect_left(self._entries, turn.first, key=lambda entry: entry.seq)
        start = self._starts[order] if order < len(self._starts) else len(messages)
        return messages[:start], messages[start:]

    def _begin(self) -> None:
        """Start the messages with the summary of the latest valid compaction, if any."""
        self._messages, self._kept = [], 0
        for compaction in reversed(self._compactions.values()):
            if compaction.completed and compaction.summary.strip() and not self.turns.is_undone(compaction.seq):
                self._messages, self._kept = [Message.user(SUMMARY.format(compaction.summary))], compaction.kept
                return

    def apply(self, event: Event) -> None:
        """Apply the next event."""
        match event:
            case TextDelta() | ThoughtDelta():
                if (message := self._assistant(event.item, event)) is not None:
                    message.grow(event)
            case MessageStarted():
                self._start(event)
            case ToolCallChanged():
                self._change_call(event)
            case UsageChanged():
                self.usage = event
                self._finish_last()
            case StateChanged() | TurnRewound():
                self._change_turns(event)
            case CompactionChanged():
                self._compact(event)
            case TerminalChanged() | PlanChanged() | Notice() | SessionChanged() | CommandsChanged():
                pass
            case _:
                assert_never(event)

    # ------------------------------------------------------------------ messages

    def _start(self, event: MessageStarted) -> None:
        if event.role == "user":
            self._start_user(event)
        elif (message := self._assistant(event.item, event)) is not None:
            message.parts, message.local_only = event.parts, event.local_only

    def _start_user(self, event: MessageStarted) -> None:
        order = self._orders.get(event.item)
        if order is None:
            parts = _model_parts(event)
            self._add(event.item, _User(seq=event.seq, parts=parts, facts=event.facts, local_only=event.local_only))
        elif isinstance(entry := self._entries[order], _User):
            entry.parts, entry.facts, entry.local_only = _model_parts(event), event.facts, event.local_only
            self._stale(order)

    def _assistant(self, item: str, event: Event) -> _Assistant | None:
        """The assistant message `item` that `event` changes, created if new; None if the item is a user's message."""
        order = self._orders.get(item)
        if order is None:
            order = self._add(item, _Assistant(seq=event.seq))
        self._stale(order)
        entry = self._entries[order]
        return entry if isinstance(entry, _Assistant) else None

    def _add(self, item: str, entry: _Entry) -> int:
        if self._entries and isinstance(last := self._entries[-1], _Assistant):
            last.settle()
        order = self._orders[item] = len(self._entries)
        self._entries.append(entry)
        return order

    def _finish_last(self) -> None:
        if self._entries and isinstance(entry := self._entries[-1], _Assistant):
            entry.finished = True
            entry.settle()
            self._stale(len(self._entries) - 1)

    def _change_turns(self, event: StateChanged | TurnRewound) -> None:
        self.turns.apply(event)
        if isinstance(event, TurnRewound):
            self._stale(0)
        elif event.stop not in {None, "cancelled"}:
            self._finish_last()

    def _compact(self, event: CompactionChanged) -> None:
        compaction = self._compactions.get(event.item)
        if compaction is None:
            compaction = self._compactions[event.item] = _Compaction(seq=event.seq, kept=len(self._entries))
        compaction.kept = self._orders.get(event.kept_from or "", compaction.kept)
        compaction.change(event)
        self._stale(0)

    def _stale(self, order: int) -> None:
        """Discard the cached messages from this entry on."""
        if order < self._fresh:
            self._fresh = order
            del self._messages[self._starts[order] :]
            del self._starts[order:]

    # ------------------------------------------------------------------ tool calls

    def _change_call(self, event: ToolCallChanged) -> None:
        call = self._announced(event) if event.message is not None else self._calls.get(event.item)
        if call is None:
            return  # a result nobody asked for
        call.change(event)
        if call.final:
            self._open.pop(call.id, None)
        self._stale(call.order)

    def _announced(self, event: ToolCallChanged) -> _Call | None:
        """The call `event.item` of `event.message`; a new one if another message already has a call with this id."""
        asking = event.message or ""
        message = self._assistant(asking, event)
        if message is None:
            return None
        call = message.calls.get(event.item)
        if call is None:
            call = _Call(id=self._unique(event.item), order=self._orders[asking])
            message.calls[event.item] = call
            self._open[call.id] = call
            self._calls.pop(event.item, None)  # the latest is the last
            self._calls[event.item] = call
        return call

    def _unique(self, item: str) -> str:
        name, number = item, 1
        while name in self._call_ids:
            number += 1
            name = f"{item}-{number}"
        self._call_ids.add(name)
        return name


def _model_parts(event: MessageStarted) -> tuple[ContentPart, ...]:
    return event.parts if event.model_parts is None else event.model_parts


def _said(parts: tuple[ContentPart, ...]) -> tuple[ContentPart, ...]:
    """`parts` without blank text, which some vendors refuse."""
    return tuple([part for part in parts if not isinstance(part, TextPart) or part.text.strip()])
