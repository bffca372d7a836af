"""The turns of a session, read from its events: where each began and ended, and which were undone."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import zip_longest

from claw_acp.core.events import Event, StateChanged, ToolCallChanged, TurnRewound, UsageChanged
from claw_acp.core.value import Value


class TurnSpan(Value):
    """A turn: its id and the positions (`seq`) of its first and last event; `last` is None until it has ended."""

    id: str
    first: int
    last: int | None = None


class TurnLog:
    """The turns of one session, kept up to date event by event.

    An interrupted turn ends where the next one begins.
    """

    def __init__(self) -> None:
        self._began: list[tuple[str, int]] = []  # id and first position
        self._ended: list[int] = []  # last positions, of all but a turn that goes on
        self._undone: dict[str, range] = {}  # the first turn undone -> positions of all that was undone with it

    @property
    def spans(self) -> tuple[TurnSpan, ...]:
        """The turns in order, without undone ones."""
        spans = zip_longest(self._began, self._ended)
        return tuple(
            TurnSpan(id=id_, first=first, last=last) for (id_, first), last in spans if not self.is_undone(first)
        )

    @property
    def running(self) -> str:
        """The id of the turn that goes on; empty between turns."""
        return self._began[-1][0] if len(self._ended) < len(self._began) else ""

    def turn_at(self, seq: int) -> str:
        """The id of the last turn that began before the event at this position; empty before the first."""
        place = bisect_right(self._began, seq, key=lambda began: began[1])
        return self._began[place - 1][0] if place else ""

    @property
    def latest(self) -> str:
        """The id of the turn that began last, undone or not; empty before the first."""
        return self._began[-1][0] if self._began else ""

    def is_undone(self, seq: int) -> bool:
        """Return whether the event at this position belongs to an undone turn, or lies between undone turns."""
        return bool(self._undone) and any(seq in positions for positions in self._undone.values())

    def follow(self, event: Event) -> None:
        """Apply any event; most do not concern turns."""
        if isinstance(event, StateChanged | TurnRewound):
            self.apply(event)

    def apply(self, event: StateChanged | TurnRewound) -> None:
        """Apply an event that begins, ends or undoes a turn."""
        match event:
            case TurnRewound(undone=False):
                self._undone.pop(event.item, None)
            case TurnRewound():
                first = next((first for id_, first in reversed(self._began) if id_ == event.item), event.seq)
                self._undone[event.item] = range(first, event.seq)
            case StateChanged(state="running"):
                self._end(event.seq - 1)
                self._began.append((event.item, event.seq))
            case StateChanged(state="idle"):
                self._end(event.seq)
            case StateChanged():
                pass

    def _end(self, seq: int) -> None:
        if len(self._ended) < len(self._began):
            self._ended.append(seq)

    def without_undone(self, events: Sequence[Event]) -> Sequence[Event]:
        """The events to replay, without those of undone turns; changes of a tool call go with the call.

        The cost of requests stays: undoing a turn does not bring the money back.
        """
        if not self._undone:
            return events
        kept: list[Event] = []
        calls: set[str] = set()  # announced in undone turns
        for event in events:
            undone = self.is_undone(event.seq)
            if isinstance(event, ToolCallChanged):
                if event.message is not None:
                    (calls.add if undone else calls.discard)(event.item)
                undone = event.item in calls
            if isinstance(event, UsageChanged) or not undone:
                kept.append(event)
        return kept


def without_undone(events: Sequence[Event]) -> Sequence[Event]:
    """The events of a whole journal without those of undone turns: see `TurnLog.without_undone`."""
    turns = TurnLog()
    for event in events:
        turns.follow(event)
    return turns.without_undone(events)
