"""`claw-acp sessions replay`: a conversation again as it went on, for people or as frames of ACP."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event as Waiting

from claw_acp.acp.stored_frames import STORED_FRAMES
from claw_acp.cli.terminal.live_view import LiveView
from claw_acp.cli.terminal.paint import Paint
from claw_acp.core.clock import iso_time
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.events import Event, StateChanged
from claw_acp.core.ids import made_at
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value
from claw_acp.schema.invalid import parse
from claw_acp.schema.updates import SessionNotification
from claw_acp.session.record import SessionRecord
from claw_acp.session.turns import TurnLog

LONGEST_PAUSE = 3.0  # seconds: people went away while questions waited, and nobody wants to see that again


class Turn(Value):
    """A turn with its number, beginning at 1, and its events."""

    number: int
    events: tuple[Event, ...]


def replay(record: SessionRecord, events: Sequence[Event], options: argparse.Namespace) -> None:
    """Replay a session.

    Raises:
        InvalidRequest: It has no such turns.
    """
    turns = chosen_turns(turns_of(events), first=options.first, last=options.last)
    wait: Callable[[float], object] = Waiting().wait
    pace = Pace(options.speed, wait=wait)
    if options.frames is not None:
        _print_frames(record, turns, version=options.frames, pace=pace)
    else:
        _draw(record, turns, pace=pace)


def turns_of(events: Sequence[Event]) -> list[Turn]:
    """The turns of a journal, without undone ones; what happens after a turn belongs to it."""
    log = TurnLog()
    for event in events:
        log.follow(event)
    turns: list[list[Event]] = []
    begins = {span.first for span in log.spans}
    for event in log.without_undone(events):
        if event.seq in begins or not turns:
            turns.append([])
        turns[-1].append(event)
    return [Turn(number=number, events=tuple(turn)) for number, turn in enumerate(turns, start=1)]


def chosen_turns(turns: Sequence[Turn], *, first: int | None, last: int | None) -> Sequence[Turn]:
    """The turns from `first` to `last`.

    Raises:
        InvalidRequest: There are none.
    """
    chosen = [turn for turn in turns if (first or 1) <= turn.number <= (last or len(turns))]
    if turns and not chosen:
        raise InvalidRequest(f"there are no such turns; the session has turns 1 to {len(turns)}")
    return chosen


class Pace:
    """Waits between events as long as it took then.

    Args:
        speed: How many times as fast; None: it does not wait.
        wait: Waits for some seconds.
    """

    def __init__(self, speed: float | None, *, wait: Callable[[float], object]) -> None:
        self._speed = speed
        self._wait = wait

    def through(self, events: Sequence[Event]) -> Iterator[Event]:
        """The events, each at its time."""
        before: float | None = None
        for event, moment in zip(events, moments(events), strict=True):
            if self._speed is not None and before is not None and moment is not None and moment > before:
                self._wait(min((moment - before) / self._speed, LONGEST_PAUSE))
            before = before if moment is None else moment
            yield event


def moments(events: Sequence[Event]) -> list[float | None]:
    """The time of each event, as far as known: ids hold the times of first events, others are spread between those.

    Nothing is spread over the time between two turns.
    """
    times: list[float | None] = [None] * len(events)
    seen: set[str] = set()
    known: int | None = None
    for index, event in enumerate(events):
        made = None if event.item in seen else made_at(event.item)
        seen.add(event.item)
        if made is None:
            continue
        times[index] = made
        if known is not None and not isinstance(event, StateChanged):
            start = times[known] or made
            for between in range(known + 1, index):
                times[between] = start + (made - start) * (between - known) / (index - known)
        known = index
    return times


def _print_frames(record: SessionRecord, turns: Sequence[Turn], *, version: int, pace: Pace) -> None:
    stored = STORED_FRAMES[version](record.id)
    for event in pace.through([event for turn in turns for event in turn.events]):
        for frame in stored.frames(event):
            print(json.dumps(frame, ensure_ascii=False), flush=True)


def _draw(record: SessionRecord, turns: Sequence[Turn], *, pace: Pace) -> None:
    stored = STORED_FRAMES[1](record.id)
    view = LiveView(sys.stdout, paint=Paint(sys.stdout), base=Path(record.cwd))
    heads = {turn.events[0].seq: turn for turn in turns}
    for event in pace.through([event for turn in turns for event in turn.events]):
        if (turn := heads.get(event.seq)) is not None:
            view.section(f"turn {turn.number}")
            view.line(_heading(turn), colour="dim", indent=0)
        for frame in stored.frames(event):
            _draw_frame(view, frame)
        sys.stdout.flush()
    view.end()
    if not turns:
        print("(nothing was said yet)")


def _draw_frame(view: LiveView, frame: JsonObject) -> None:
    match frame:
        case {"params": params}:
            view.draw(parse(SessionNotification, params, method="session/update").update)
        case {"result": {"stopReason": str(stop)}} if stop != "end_turn":
            view.section("end")
            view.line(f"The turn ended early: {stop}.", colour="yellow")
        case _:
            pass  # why a turn failed is a notice of its own


def _heading(turn: Turn) -> str:
    state = turn.events[0]
    began = made_at(state.item) if isinstance(state, StateChanged) else None
    return f"— turn {turn.number} —" if began is None else f"— turn {turn.number}, {iso_time(began)} —"
