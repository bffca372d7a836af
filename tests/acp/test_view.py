"""A session's view: past first, then what happened meanwhile, each thing once."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import anyio
import anyio.lowlevel
import pytest

from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.acp.view import HELD, TOO_MANY, SessionView
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.events import Event, Notice, TextDelta, ToolCallChanged
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.runtime.live_session import LiveSession, Places
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import Session


class Line:
    """The other side: keeps what it is told. `full` is said to be unread."""

    def __init__(self) -> None:
        self.told: list[JsonValue] = []
        self.slow = False
        self.overloaded = False
        self.hung_up = False
        self.closed = False
        self.room = anyio.Event()

    async def request(self, method: str, params: JsonObject, *, within: float | None = None) -> JsonValue:
        raise AssertionError(f"{method} {params} {within}")

    async def notify(self, method: str, params: JsonObject) -> None:
        self.notify_nowait(method, params)

    def notify_nowait(self, method: str, params: JsonObject) -> None:
        assert method == "session/update"
        update = cast("JsonObject", params["update"])
        self.told.append(update["text"])

    async def drained(self) -> None:
        await self.room.wait()

    def hang_up(self) -> None:
        self.hung_up = True


class View(SessionView):
    """Shows text."""

    async def show(self, event: Event) -> None:
        await self.update({"text": _text(event)})

    async def show_past(self, events: Sequence[Event]) -> None:
        for event in events:
            await self.update({"text": f"past {_text(event)}"})

    async def announce(self, more: Sequence[str] = ()) -> None:
        raise AssertionError(more)


def _text(event: Event) -> str:
    match event:
        case TextDelta(text=text):
            return text
        case Notice(title=title):
            return title
        case ToolCallChanged(title=title):
            return str(title)
        case _:
            raise AssertionError(event)


class Bench:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.line = Line()
        live = LiveSession.__new__(LiveSession)
        live.session, live.places, live.closed = session, Places(), anyio.Event()
        self.view = View(self.line, live, ClientCapabilities())

    async def say(self, *texts: str) -> None:
        for text in texts:
            await self.session.publish(TextDelta(item="m", text=text))


@asynccontextmanager
async def _bench(folder: Path) -> AsyncGenerator[Bench]:
    record = SessionRecord(id="s", cwd="/", mode="ask", model="m", created_at=0.0, updated_at=0.0)
    async with Journal.opened(folder / "claw.db") as journal:
        await journal.create(record)
        yield Bench(Session(record, journal=journal, clock=SYSTEM_CLOCK, roots=[folder]))


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncGenerator[Bench]:
    async with _bench(tmp_path) as made:
        yield made


async def test_live_events_are_shown_at_once(bench: Bench) -> None:
    await bench.say("a", "b")
    assert bench.line.told == ["a", "b"]


async def test_what_happens_from_the_first_moment_of_a_load_on_is_shown_once_and_after_the_past(bench: Bench) -> None:
    await bench.say("a")
    async with bench.view.holding():  # the request is there, the session is being opened
        await bench.say("b")
        assert bench.line.told == ["a"]
        await bench.view.replay()
        await bench.say("c")
    await bench.say("d")
    assert bench.line.told == ["a", "past ab", "c", "d"]


async def test_an_event_that_a_replay_was_quicker_to_show_is_not_shown_again(bench: Bench) -> None:
    await bench.say("a", "b")
    await bench.view.replay()
    bench.line.told.clear()
    await bench.view.on_event(TextDelta(item="m", text="b", session="s", seq=2))
    await bench.say("c")
    assert bench.line.told == ["c"]


async def test_what_is_not_kept_is_shown_after_a_replay_unless_it_pictures_an_item(bench: Bench) -> None:
    await bench.say("a")
    async with bench.view.holding():
        await bench.session.broadcast(Notice(severity="info", title="news"))
        await bench.session.broadcast(ToolCallChanged(item="c", title="half done"))
        await bench.view.replay()
    await bench.session.broadcast(ToolCallChanged(item="c", title="nearly done"))
    assert bench.line.told == ["a", "past a", "news", "nearly done"]


async def test_what_waited_is_shown_also_when_nothing_comes_of_the_load(bench: Bench) -> None:
    async def load() -> None:
        async with bench.view.holding():
            await bench.say("a", "b")
            raise ValueError("no such session")

    with pytest.raises(ValueError, match="no such session"):
        await load()
    assert bench.line.told == ["a", "b"]


async def test_whoever_must_come_after_all_that_was_shown_waits_for_the_last_of_several_loads(bench: Bench) -> None:
    order: list[str] = []

    async def answer() -> None:
        await bench.view.shown()
        order.append("answer")

    async with anyio.create_task_group() as tasks, bench.view.holding():
        async with bench.view.holding():
            await bench.say("a")
            tasks.start_soon(answer)
            await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        order.append("released")
    assert order == ["released", "answer"]
    assert bench.line.told == ["a"]


async def test_a_view_that_holds_back_much_is_behind_until_its_replay_is_over(bench: Bench) -> None:
    bench.line.room.set()
    event = TextDelta(item="m", text="x", session="s", seq=1)
    async with anyio.create_task_group() as tasks, bench.view.holding():
        for _ in range(HELD):
            await bench.view.on_event(event)
        assert (bench.view.behind, bench.view.lost) == (True, False)
        tasks.start_soon(bench.view.caught_up)
        for _ in range(TOO_MANY - HELD):
            await bench.view.on_event(event)
        assert bench.view.lost
    assert not bench.view.behind


async def test_a_view_that_was_dropped_is_silent_and_its_connection_ends(bench: Bench) -> None:
    bench.view.drop()
    await bench.say("a")
    await bench.view.update({"text": "late"})
    assert (bench.line.told, bench.line.hung_up, bench.session.subscribers) == ([], True, [])
    bench.view.detach()  # once more does no harm
