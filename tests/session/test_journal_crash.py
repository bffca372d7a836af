"""A writer killed at any moment, and several writers on one store."""

import random
import signal
import subprocess
import sys
from pathlib import Path

from claw_acp.core.events import Event, MessageStarted, TextDelta
from claw_acp.session.history import History
from claw_acp.session.journal import Journal
from tests.session.test_journal import record

CHILD = Path(__file__).with_name("journal_child.py")
KILLS = 12


def start(path: Path, session: str) -> "subprocess.Popen[str]":
    command = [sys.executable, str(CHILD), str(path), session, "mixed"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def go(child: "subprocess.Popen[str]") -> None:
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()


def killed_after(child: "subprocess.Popen[str]", *, acknowledged: int, instructions: int) -> int:
    """The last seq a child acknowledged, killed a little after the given number of acknowledgements."""
    assert child.stdout is not None
    with child:
        go(child)
        lines = [child.stdout.readline() for _ in range(acknowledged)]
        for _ in range(instructions):  # spend some time, so that the kill may fall anywhere
            pass
        child.send_signal(signal.SIGKILL)
        lines += child.stdout.read().splitlines()
    whole = [int(line) for line in lines if line.strip()]
    return whole[-1] if whole else 0


def assert_whole(events: list[Event]) -> None:
    """Positions rise, and the streamed text is there up to the last kept piece without a gap."""
    assert [event.seq for event in events] == sorted({event.seq for event in events})
    written = "".join(event.text for event in events if isinstance(event, TextDelta))
    numbers = [int(number) for number in written.strip("[]").split("][") if number]
    committed = [event.seq for event in events if isinstance(event, MessageStarted)]
    assert sorted(numbers + committed) == list(range(1, (events[-1].seq if events else 0) + 1))


async def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "claw.db"
    chance = random.Random(20261121)
    async with Journal.opened(path) as journal:
        await journal.create(record("ses_1"))
    for _ in range(KILLS):
        child = start(path, "ses_1")
        last = killed_after(child, acknowledged=chance.randrange(1, 12), instructions=chance.randrange(20_000))
        async with Journal.opened(path) as journal:
            events = await journal.read("ses_1")
            assert (await journal.database.check_health()).problems == ()
        assert events[-1].seq >= last > 0
        assert_whole(events)
        history = History()
        for event in events:
            history.apply(event)
        history.messages()


async def test_two_processes_write_and_read_one_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "claw.db"
    async with Journal.opened(path) as journal:
        await journal.create(record("ses_1"))
        await journal.create(record("ses_2"))
        await journal.create(record("ses_3"))
        children = [start(path, "ses_1"), start(path, "ses_2")]
        for child in children:
            go(child)
        for seq in range(1, 101):
            await journal.append("ses_3", MessageStarted(item=f"u{seq}", seq=seq, role="user"), wait=True)
            await journal.read("ses_1", after=seq)
        lasts = [killed_after(child, acknowledged=0, instructions=0) for child in children]
        for session, last in zip(("ses_1", "ses_2"), lasts, strict=True):
            events = await journal.read(session)
            assert not events or events[-1].seq >= last
            assert_whole(events)
        assert (await journal.read("ses_3"))[-1].seq == 100
