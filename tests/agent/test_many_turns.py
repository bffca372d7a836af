"""A session of many turns: late ones cost what early ones do, every vendor takes each request, a crash does no harm."""

import gc
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from types import FrameType
from typing import cast

import anyio
import pytest

from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ProviderUnavailable
from claw_acp.core.events import CompactionChanged, Event
from claw_acp.session.history import History
from claw_acp.session.journal import Journal
from claw_acp.session.session import Session
from claw_acp.session.stores import JournalStore
from tests.agent.test_compactor import PREFIX, ROOM, Bench, Writes, bench, compactor, summary
from tests.agent.test_deep_session import LINES, Deep, deep
from tests.agent.test_history_validity import Asked, Prompt, Tier, check, told

GONE = ProviderUnavailable("gone", provider="writes")

# ------------------------------------------------------------------ the cost of a turn


async def calls_of(one: Deep, prompts: Sequence[str]) -> int:
    """The calls of functions, of ours and of Python, that these prompts take in the program and the model."""
    made = count()

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        if event in {"call", "c_call"}:
            next(made)

    gc.disable()
    sys.setprofile(counted)
    try:
        for prompt in prompts:
            await one.say(prompt)
    finally:
        sys.setprofile(None)
        gc.enable()
    return next(made)


async def test_a_late_turn_costs_what_an_early_one_does_and_knows_the_third(project: Path, home: Path) -> None:
    (project / "notes.txt").write_text(LINES)
    work = ["hello " * 110] * 7 + ["read notes.txt 2"]
    async with deep(project, home) as one:
        for prompt in ("hello", "hello", "the port=8472 must stay", *work):
            await one.say(prompt)
        calls: list[int] = []
        tokens: list[int] = []
        for _ in range(6):
            before = len(one.model.sizes)
            calls.append(await calls_of(one, work))
            tokens.append(sum(one.model.sizes[before:]))
        assert await one.say("recall port") == "8472"
        assert one.model.refused == 0
        assert one.model.summaries >= 6
        assert sum(calls[4:]) <= 1.05 * sum(calls[1:3])
        assert sum(tokens[4:]) <= 1.05 * sum(tokens[1:3])


def test_in_a_thousand_turns_with_all_tiers_every_family_gets_valid_conversations() -> None:
    turns = [
        Prompt("look", [Asked("", thinks=True, calls=[(4_000, "completed"), (10, "failed")])], ends=bool(n % 7))
        for n in range(1_000)
    ]
    tiers = ["shorten", "summary", "force", "leave out", "third", "summary", "undo"]
    steps = [step for n, one in enumerate(turns) for step in ((one, Tier(tiers[n % 7], 900)) if n % 3 == 0 else (one,))]
    seen = count()

    def after(history: History) -> None:
        if next(seen) % 701 == 0:
            check(history)

    check(told(steps, after=after))


# ------------------------------------------------------------------ a crash


class Died(BaseException):
    """The process is gone."""


class Dying:
    """The journal of a process that dies before, or just after, it stores so many more events."""

    def __init__(self, journal: JournalStore, *, left: int, stores_last: bool) -> None:
        self._journal = journal
        self._left = left
        self._stores_last = stores_last

    async def append(self, session_id: str, event: Event, *, wait: bool) -> None:
        if self._left <= 0 and not self._stores_last:
            raise Died
        await self._journal.append(session_id, event, wait=wait)
        if self._left <= 0:
            await self._journal.flush()
            raise Died
        self._left -= 1

    def __getattr__(self, name: str) -> object:
        return getattr(self._journal, name)


@asynccontextmanager
async def reopened(folder: Path, *answers: str) -> AsyncGenerator[Bench]:
    """The bench's session in another process."""
    async with Journal.opened(folder / "claw.db") as journal, anyio.create_task_group() as tasks:
        record = await journal.get("ses_1")
        session = Session(record, journal=journal, clock=SYSTEM_CLOCK, roots=[folder], tasks=tasks)
        await session.catch_up()
        provider = Writes(*answers)
        yield Bench(session, provider, compactor(session, provider=provider, ledger=journal.ledger))
        await session.aclose()


@pytest.mark.parametrize("stores_last", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("left", range(4))
@pytest.mark.parametrize(
    "answers", [(summary("port 8472"),), ("no", summary("port 8472")), (GONE,), ("no", "no")], ids=len
)
async def test_a_compaction_that_a_crash_ends_anywhere_happened_once_or_not_at_all(
    tmp_path: Path, answers: tuple[str | ProviderUnavailable, ...], left: int, *, stores_last: bool
) -> None:
    async with bench(tmp_path, *answers) as one:
        for name in "123":
            await one.turn(name, 14_000, prompt="word " * 2_000)
        await one.turn("4", 14_000, prompt="the current one", ends=False)
        before = one.session.history.messages()
        journal = one.session._journal  # pyright: ignore[reportPrivateUsage]
        one.session._journal = cast("JournalStore", Dying(journal, left=left, stores_last=stores_last))  # pyright: ignore[reportPrivateUsage]
        with suppress(Died):
            await one.compactor.make_room(ROOM, prefix=PREFIX)
        one.session._journal = journal  # pyright: ignore[reportPrivateUsage]
        await journal.flush()
    async with reopened(tmp_path, *[summary("port 8472")] * 4) as again:
        check(again.session.history)
        done = [event for event in await again.session.read() if isinstance(event, CompactionChanged)]
        assert len({event.item for event in done}) == len(done)
        now = again.session.history.messages()
        assert now == before or any(event.status == "completed" for event in done)
        await again.make_room()
        asked = len(again.provider.asked)
        assert ROOM.tokens(again.session.history.messages()) <= ROOM.size / 2
        assert "the current one" in "".join(message.text for message in again.session.history.messages())
        assert await again.make_room() == []
        assert len(again.provider.asked) == asked <= 2
        check(again.session.history)
