"""A session's events, folded into a conversation that every model accepts, even if the session was interrupted.

Every tool call is followed by exactly one result, every result has its call, ids are unique, nothing is empty. Folded
events are never dropped: compacted and undone parts are skipped, and return when that is undone.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice, pairwise, takewhile
from math import inf
from typing import Final, assert_never

from claw_acp.core.events import (
    AttemptsChanged,
    CommandsChanged,
    CompactionChanged,
    CompactionStatus,
    Event,
    FilesChanged,
    FilesRestored,
    MessageStarted,
    Notice,
    PlanChanged,
    SessionChanged,
    StateChanged,
    SubagentChanged,
    TerminalChanged,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    TurnRewound,
    UsageChanged,
)
from claw_acp.core.messages import Message, ResourcePart, TextPart
from claw_acp.core.value import Record
from claw_acp.session.entries import AssistantEntry, Call, Entry, FileUse, HistoryItem, UserEntry
from claw_acp.session.pending_files import PendingFiles
from claw_acp.session.turns import TurnLog, TurnSpan

SUMMARY: Final = "<summary>\nThe conversation before this point, summarized:\n\n{}\n</summary>"

LATEST_CALLS: Final = 500  # looked through for files


class _Compaction(Record):
    """A compaction: a summary that replaces the entries before the position `kept`, and results that were shortened."""

    seq: int
    kept: int
    status: CompactionStatus = "in_progress"
    summary: str = ""
    shortened: tuple[str, ...] = ()

    def change(self, event: CompactionChanged) -> None:
        self.summary = self.summary if event.summary is None else event.summary
        self.summary += event.delta or ""
        self.shortened = event.shortened or self.shortened
        self.status = event.status


class History:
    """The conversation of one session, kept up to date event by event.

    Applying an event and reading again are cheap.
    """

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._orders: dict[str, int] = {}  # message id -> position of its entry
        self._calls: dict[str, Call] = {}  # item -> its latest call
        self._call_ids: set[str] = set()
        self._repeated: dict[str, int] = {}  # item -> the last number that was added to make its id another
        self._open: dict[str, Call] = {}  # call id -> call without a final status
        self._messages: list[Message] = []  # those of the entries before `_fresh`
        self._starts: list[int] = []  # where each of these entries' messages begin
        self._fresh = 0
        self._compactions: dict[str, _Compaction] = {}
        self._kept = 0  # the entry from which on the messages are made of entries, and not of a summary
        self._short: frozenset[str] = frozenset()  # calls whose results are shortened
        self._plan: PlanChanged | None = None
        self._attempts: list[AttemptsChanged] = []
        self.turns = TurnLog()
        self._untrusted: dict[str, int] = {}  # sources -> the position at which each came in
        self._accepted: set[str] = set()  # sources that a person trusts in this conversation
        self.pending_files = PendingFiles()
        self.usage: UsageChanged | None = None
        """The last report of tokens and cost."""
        self.usages: dict[str, UsageChanged] = {}
        """The last report of each model."""
        self.caching: set[str] = set()
        """The models that have reported cached tokens."""

    @property
    def unfinished_calls(self) -> tuple[str, ...]:
        """Item ids of the tool calls without a final status, in the order they were announced, none of undone turns."""
        unfinished = ((item, call) for item, call in self._calls.items() if call.id in self._open)
        return tuple(item for item, call in unfinished if not self.turns.is_undone(self._entries[call.order].seq))

    def messages(self) -> list[Message]:
        """The conversation so far, without a system message. The caller may change the list."""
        if not self._fresh:
            self._begin()
            self._starts = [len(self._messages)] * self._kept  # they add nothing
        for order in range(len(self._starts), len(self._entries)):
            self._starts.append(len(self._messages))
            entry = self._entries[order]
            if order >= self._kept and not self.turns.is_undone(entry.seq):
                self._messages += entry.messages(self._short)
        self._fresh = len(self._entries)
        return self._messages.copy()

    def split(self, turn: TurnSpan) -> tuple[list[Message], list[Message]]:
        """The conversation of `messages`, cut in two: before a turn, and from its beginning on."""
        messages = self.messages()
        order = bisect_left(self._entries, turn.first, key=lambda entry: entry.seq)
        start = self._starts[order] if order < len(self._starts) else len(messages)
        return messages[:start], messages[start:]

    def has_message(self, message_id: str) -> bool:
        """Return whether a message has this id."""
        return message_id in self._orders

    def items(self) -> list[HistoryItem]:
        """The conversation of `messages` behind its summary, as items."""
        messages = self.messages()
        starts = [*self._starts[self._kept :], len(messages)]
        return [
            HistoryItem(id=entry.id, turn=self.turns.turn_at(entry.seq), messages=tuple(messages[start:end]))
            for entry, (start, end) in zip(self._entries[self._kept :], pairwise(starts), strict=True)
            if start < end
        ]

    @property
    def summary(self) -> str:
        """The summary that the conversation begins with; empty without one."""
        compaction = self._compaction()
        return "" if compaction is None else compaction.summary

    @property
    def plan(self) -> PlanChanged | None:
        """The current plan; None when there is none, or it was made in an undone turn."""
        return None if self._plan is None or self.turns.is_undone(self._plan.seq) else self._plan

    @property
    def attempts(self) -> AttemptsChanged:
        """The current attempts at a prompt; those before return when the turn that changed them is undone."""
        counting = (each for each in reversed(self._attempts) if not self.turns.is_undone(each.seq))
        return next(counting, AttemptsChanged())

    @property
    def failed_compactions(self) -> int:
        """The compactions that failed since one was completed."""
        compactions = (each for each in reversed(self._compactions.values()) if each.status != "cancelled")
        return sum(1 for _ in takewhile(lambda each: each.status == "failed", compactions))

    @property
    def counted(self) -> int:
        """The first messages that the last reported usage counts; 0 when the conversation was made anew since then."""
        if self.usage is None or (order := self._orders.get(self.usage.item)) is None:
            return 0
        compactions = reversed(self._compactions.values())
        done = next((each.seq for each in compactions if each.status == "completed"), 0)
        if done > self.usage.seq or self.turns.is_undone(self._entries[order].seq):
            return 0
        return min(len(self.messages()), self._starts[order] + 1)

    @property
    def hidden(self) -> int:
        """The messages of people and models that a summary stands for, or that were left out."""
        self.messages()
        before = (entry for entry in self._entries[: self._kept] if not self.turns.is_undone(entry.seq))
        return sum(1 for entry in before if entry.messages())

    @property
    def shortened(self) -> int:
        """The tool results that models see only the ends of."""
        self.messages()
        return len(self._short)

    def prompts(self) -> Iterator[Message]:
        """The user's messages, the newest first, also those that a summary stands for."""
        for entry in reversed(self._entries):
            if isinstance(entry, UserEntry) and not self.turns.is_undone(entry.seq):
                yield from entry.messages()

    def typed(self) -> Iterator[str]:
        """The texts that the user typed for models, the newest first; what a command stands for is not theirs."""
        for entry in reversed(self._entries):
            if isinstance(entry, UserEntry) and not entry.local_only and not self.turns.is_undone(entry.seq):
                yield Message(role="user", parts=entry.typed).text

    @property
    def untrusted_sources(self) -> tuple[str, ...]:
        """The sources of untrusted text that came in, also in undone turns, but for those that a person trusts."""
        return tuple(source for source in self._untrusted if source not in self._accepted)

    @property
    def foreign_sources(self) -> tuple[str, ...]:
        """The sources of all untrusted text that came in, also those that a person trusts."""
        return tuple(self._untrusted)

    def has_touched(self, path: str) -> bool:
        """Return whether a call read a file before any untrusted text came in, or changed it at any time."""
        first = min(self._untrusted.values(), default=inf)
        for call in reversed(self._calls.values()):
            if call.final and not call.failed and any(place.path == path for place in call.places):
                changed = call.kind in {"edit", "delete", "move"}
                if changed or (call.kind == "read" and self._entries[call.order].seq < first):
                    return True
        return False

    def untrusted_texts(self) -> Iterator[str]:
        """The texts of results that hold untrusted text."""
        for call in self._calls.values():
            if call.untrusted:
                yield from (part.text or "" for part in call.output if isinstance(part, TextPart | ResourcePart))

    def used_files(self) -> Iterator[FileUse]:
        """The files that the latest tool calls read or changed, the last first, also before a summary."""
        for call in islice(reversed(self._calls.values()), LATEST_CALLS):
            if call.final and not call.failed and not self.turns.is_undone(self._entries[call.order].seq):
                changed = call.kind in {"edit", "delete", "move"}
                if changed or call.kind == "read":
                    yield from (FileUse(path=at.path, line=at.line, changed=changed) for at in call.places)

    def _begin(self) -> None:
        """Start the messages with the summary of the latest valid compaction, if any."""
        compaction = self._compaction()
        self._messages = [] if compaction is None else [Message.user(SUMMARY.format(compaction.summary))]
        self._kept = 0 if compaction is None else compaction.kept
        first = self._entries[self._kept].seq if self._kept < len(self._entries) else inf
        later = takewhile(lambda each: each.seq >= first, reversed(self._compactions.values()))
        self._short = frozenset(call for each in later if self._counts(each) for call in each.shortened)

    def _compaction(self) -> _Compaction | None:
        """The latest valid compaction with a summary."""
        compactions = reversed(self._compactions.values())
        return next((each for each in compactions if each.summary.strip() and self._counts(each)), None)

    def _counts(self, compaction: _Compaction) -> bool:
        return compaction.status == "completed" and not self.turns.is_undone(compaction.seq)

    def apply(self, event: Event) -> None:
        """Apply the next event."""
        match event:
            case TextDelta() | ThoughtDelta():
                self._grow(event)
            case MessageStarted():
                self._start(event)
            case ToolCallChanged():
                self._change_call(event)
            case UsageChanged():
                self._use(event)
            case FilesChanged() | FilesRestored():
                self.pending_files.apply(event)
                self._take_sources(event)
            case StateChanged() | TurnRewound():
                self._change_turns(event)
            case CompactionChanged():
                self._compact(event)
            case PlanChanged() | AttemptsChanged():
                self._replace(event)
            case TerminalChanged() | Notice() | SessionChanged() | SubagentChanged() | CommandsChanged():
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
        if not event.local_only:
            self.pending_files.restored = []
        for source in event.sources:
            self._untrusted.setdefault(source, event.seq)
        order = self._orders.get(event.item)
        if order is None:
            self._add(event.item, _user_entry(event))
        elif isinstance(entry := self._entries[order], UserEntry):
            first, entry = entry.seq, _user_entry(event)
            entry.seq, self._entries[order] = first, entry
            self._stale(order)

    def _grow(self, event: TextDelta | ThoughtDelta) -> None:
        if (message := self._assistant(event.item, event)) is not None:
            message.grow(event)

    def _assistant(self, item: str, event: Event) -> AssistantEntry | None:
        """The assistant message `item` that `event` changes, created if new; None if the item is a user's message."""
        order = self._orders.get(item)
        if order is None:
            order = self._add(item, AssistantEntry(id=item, seq=event.seq))
        self._stale(order)
        entry = self._entries[order]
        return entry if isinstance(entry, AssistantEntry) else None

    def _add(self, item: str, entry: Entry) -> int:
        if self._entries and isinstance(last := self._entries[-1], AssistantEntry):
            last.settle()
        order = self._orders[item] = len(self._entries)
        self._entries.append(entry)
        return order

    def _use(self, event: UsageChanged) -> None:
        self.usage = self.usages[event.model] = event
        if event.request.cached_read_tokens or event.request.cached_write_tokens:
            self.caching.add(event.model)
        if not event.item or event.item in self._orders:  # not that of a summary
            self._finish_last()

    def _finish_last(self) -> None:
        if self._entries and isinstance(entry := self._entries[-1], AssistantEntry):
            entry.finished = True
            entry.settle()
            self._stale(len(self._entries) - 1)

    def _change_turns(self, event: StateChanged | TurnRewound) -> None:
        self.turns.apply(event)
        if isinstance(event, TurnRewound):
            self._stale(0)
        elif event.stop not in {None, "cancelled"}:
            self._finish_last()

    def _replace(self, event: PlanChanged | AttemptsChanged) -> None:
        if isinstance(event, AttemptsChanged):
            self._attempts.append(event)
        else:
            self._plan = event if event.entries else None

    def _take_sources(self, event: FilesChanged | FilesRestored) -> None:
        """Whoever takes an attempt takes what it was made from."""
        if isinstance(event, FilesRestored) and event.takes:
            for attempt in self.attempts.attempts:
                if attempt.number == event.takes:
                    self._untrusted = dict.fromkeys(attempt.sources, event.seq) | self._untrusted

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
        self._accepted.update(event.accepted or ())
        for source in event.sources or ():
            self._untrusted.setdefault(source, event.seq)
        if call.final:
            self._open.pop(call.id, None)
        self._stale(call.order)

    def _announced(self, event: ToolCallChanged) -> Call | None:
        """The call `event.item` of `event.message`; a new one if another message already has a call with this id."""
        asking = event.message or ""
        message = self._assistant(asking, event)
        if message is None:
            return None
        call = message.calls.get(event.item)
        if call is None:
            call = Call(id=self._unique(event.item), order=self._orders[asking])
            message.calls[event.item] = call
            self._open[call.id] = call
            self._calls.pop(event.item, None)  # the latest is the last
            self._calls[event.item] = call
        return call

    def _unique(self, item: str) -> str:
        name, number = item, self._repeated.get(item, 1)
        while name in self._call_ids:
            number += 1
            name = f"{item}-{number}"
            self._repeated[item] = number
        self._call_ids.add(name)
        return name


def _user_entry(event: MessageStarted) -> UserEntry:
    for_model = event.parts if event.model_parts is None else event.model_parts
    return UserEntry(
        id=event.item, seq=event.seq, typed=event.parts, parts=for_model, facts=event.facts, local_only=event.local_only
    )
