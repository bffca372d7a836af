"""`claw-acp sessions replay`: a conversation again, turn by turn."""

import json
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from claw_acp.cli.sessions import command
from claw_acp.cli.sessions.replay import LONGEST_PAUSE, Pace
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.events import Event, MessageStarted, StateChanged, TextDelta, TurnRewound
from claw_acp.core.ids import new_id
from claw_acp.core.messages import TextPart
from claw_acp.core.value import replace
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from tests.support.fixed_clock import FixedClock

SESSION = "ses_aaaaaaaa1"


def conversation() -> Sequence[Event]:
    """Three turns, the second of them undone: prompts 0, 10 and 20 s after the start, each answered a second later."""
    clock, events = FixedClock(now=1_790_000_000.0), list[Event]()
    for number, (prompt, answer) in enumerate((("one", "1\x1b[31m"), ("two", "2"), ("three", "3")), start=1):
        turn = new_id("turn", clock=clock)
        events.append(StateChanged(item=turn, state="running"))
        said = new_id("msg", clock=clock)
        events.append(MessageStarted(item=f"{said[:-1]}{number}", role="user", parts=(TextPart(text=prompt),)))
        clock.seconds += 1
        answered = new_id("msg", clock=clock)
        events.append(MessageStarted(item=answered, role="assistant"))
        events += [TextDelta(item=answered, text=answer), TextDelta(item=answered, text=".")]
        events.append(StateChanged(item=turn, state="idle", stop="end_turn" if number < 3 else "cancelled"))
        if number == 2:
            events.append(TurnRewound(item=turn))
        clock.seconds += 9
    return [replace(event, session=SESSION, seq=seq) for seq, event in enumerate(events, start=1)]


@pytest.fixture
def kept(home: Path) -> None:
    async def keep() -> None:
        async with Journal.opened(home / "claw.db") as journal:
            await journal.create(
                SessionRecord(id=SESSION, cwd="/x", mode="ask", model="a/b", created_at=1, updated_at=1)
            )
            for event in conversation():
                await journal.append(SESSION, event, wait=True)

    anyio.run(keep)


@pytest.mark.usefixtures("kept")
def test_people_see_the_turns_that_were_not_undone(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["replay", SESSION])
    whole = capsys.readouterr().out
    assert [line.strip() for line in whole.splitlines() if line.strip()] == [
        "— turn 1, 2026-09-21T14:13:20.000Z —", "» one", r"1\x1b[31m.",
        "— turn 2, 2026-09-21T14:13:40.000Z —", "» three", "3.", "The turn ended early: cancelled.",
    ]  # fmt: skip
    command.main(["replay", SESSION, "--from", "2"])
    assert capsys.readouterr().out.split() == whole[whole.index("— turn 2") :].split()


@pytest.mark.usefixtures("kept")
def test_programs_get_frames_of_either_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    ends = {"1": {"id": 1, "result": {"stopReason": "end_turn"}}, "2": {"stopReason": "end_turn"}}
    for version, end in ends.items():
        command.main(["replay", SESSION, "--until", "1", "--frames", version])
        last = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert end.items() <= (last if version == "1" else last["params"]["update"]).items()


@pytest.mark.usefixtures("kept")
def test_turns_that_are_not_there_are_refused() -> None:
    for wrong in (["--from", "3"], ["--from", "2", "--until", "1"]):
        with pytest.raises(InvalidRequest, match="turns 1 to 2"):
            command.main(["replay", SESSION, *wrong])
    for wrong in (["--speed", "0"], ["--speed", "nan"], ["--frames", "3"], ["--from", "0"]):
        with pytest.raises(SystemExit):
            command.main(["replay", SESSION, *wrong])


def test_a_replay_takes_the_time_that_the_conversation_took() -> None:
    pauses: list[float] = []
    events = conversation()
    assert list(Pace(2, wait=pauses.append).through(events)) == events
    assert sum(pauses) == pytest.approx(3 * 0.5 + 2 * LONGEST_PAUSE, abs=0.01)
    assert pauses.count(LONGEST_PAUSE) == 2
    pauses.clear()
    assert list(Pace(None, wait=pauses.append).through(events)) == events
    assert pauses == []
