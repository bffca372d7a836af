"""`/handoff`: the lead of a session goes to another place, or waits for the next one that opens it."""

import shlex
from collections.abc import Iterable
from typing import Final

import anyio
from anyio.abc import TaskGroup

from claw_acp.contracts.command import HANDOFF
from claw_acp.contracts.place import Place
from claw_acp.core.clock import Clock
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.core.markdown import code_span
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.running_turn import RunningTurn
from claw_acp.runtime.sessions import Sessions
from claw_acp.runtime.slash_commands import Typed
from claw_acp.schedule.durations import duration_text

NO_HUB: Final = (
    "Nothing was handed over: this session lives in a process that ends with this editor. A hub keeps sessions: start "
    "one with `claw-acp serve --detach`, open this session again, and type `/handoff` there."
)


class Handoffs:
    """Carries out `/handoff`, and watches the sessions that wait for their next place.

    Args:
        sessions: Closes those where nobody came.
        clock: Time.
        tasks: Runs the watching.
    """

    def __init__(self, sessions: Sessions, *, clock: Clock, tasks: TaskGroup) -> None:
        self._sessions = sessions
        self._clock = clock
        self._tasks = tasks

    def settle_lead(self, turn: RunningTurn, live: LiveSession, typed: Typed | None) -> None:
        """Give a turn that begins to the place that leads the session, if the lead was handed over.

        `/handoff` counts at once, also while other turns run; it ends itself with the place where it was typed.
        """
        if typed is None or typed.command.name != HANDOFF:
            if live.places.awaited or live.places.lead is not None:
                turn.hand_over(live.places.lead)
        elif live.turns:
            told = self.hand_over(live, turn, typed.argument)
            notice = Notice(
                item=new_id("ntc", clock=self._clock), severity="info", title=f"/{HANDOFF}", description=told
            )
            self._tasks.start_soon(live.session.broadcast, notice)

    def hand_over(self, live: LiveSession, turn: RunningTurn, wish: str) -> str:
        """Hand the lead over, if that is possible; returns the text that says so, and how to go on."""
        if not self._sessions.lasting:
            return NO_HUB
        awaited = live.places.awaited
        told = _hand_over(live, wish.strip(), turn.place)
        if live.places.awaited and not awaited:
            self._tasks.start_soon(_close_when_over, live, self._sessions, name="handed over")
        return told


def _hand_over(live: LiveSession, wish: str, by: Place | None) -> str:
    able = {live.places.number(place): place for place in live.places if place.workspace is not None}
    others = [place for place in able.values() if place is not by]
    if wish == "next" or (not wish and not others):
        live.hand_over(None)
        return _how_to_go_on(live)
    to = able.get(int(wish)) if wish.isdecimal() else None
    if wish == "here":
        to = by
    elif not wish and len(others) == 1:
        [to] = others
    if to is None:
        trouble = f"There is no place {code_span(wish)}. " if wish else ""
        return f"{trouble}Type one of these:\n\n{_choices(live, able.values(), by)}"
    live.hand_over(to)
    return (
        f"{_named(live, to)}{' is this one, and' if to is by else ''} leads this session now: its files and terminals "
        "are used, and what runs ends when it leaves."
    )


def _how_to_go_on(live: LiveSession) -> str:
    record, wait = live.session.record, live.settings.handoff_wait
    command = f"claw-acp run --session {record.id} --cwd {shlex.quote(record.cwd)} 'go on'"
    waiting = f"for {duration_text(wait)}" if wait else "not at all"
    return (
        "This session is handed over to the next place that opens it; you can leave here. What runs goes on in the "
        f"hub, without your editor's files and terminals. Questions wait {waiting} for somebody.\n\n"
        f"- In another editor, open the session {code_span(record.title or record.id)}.\n"
        f"- In a terminal: {code_span(command)}\n\n"
        "`/handoff here` takes it back."
    )


def _choices(live: LiveSession, places: Iterable[Place], by: Place | None) -> str:
    lines = [f"- `/handoff {live.places.number(place)}`: {_named(live, place)}" for place in places if place is not by]
    here = [f"- `/handoff here`: {_named(live, by)}, this one"] if by is not None and by in live.places else []
    return "\n".join([*lines, *here, "- `/handoff next`: the next one that opens it"])


def _named(live: LiveSession, place: Place) -> str:
    return f"{code_span(place.name)} (place {live.places.number(place)})"


async def _close_when_over(live: LiveSession, sessions: Sessions) -> None:
    """Close a session that waits for its next place, once no turn runs and nobody came in time."""
    watching = live.session.subscribers
    while live.places.awaited and live.closed is None:
        if live.turns:
            await live.turns[0].ended()
        elif watching:
            await watching.changed()
        else:
            with anyio.move_on_after(live.settings.handoff_wait):
                await watching.changed()
            if not (watching or live.turns):
                await sessions.close(live.session.id)
