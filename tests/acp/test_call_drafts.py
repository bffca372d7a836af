"""Tool calls that a model is still writing: shown by name at once, by path as soon as that can be read."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from claw_acp.agent.call_drafts import CUT_OFF, argument_so_far
from tests.support.editors.exchange import Json, shown_text, tool_calls
from tests.support.editors.shared_house import Guest, GuestV2, SharedHouse
from tests.support.script_files import Script, fail, say, turn, written_call

LONG = "x = 1\n" * 2000
WRITES = turn(say("Now."), written_call("write_file", gate="gate", path="new.py", content=LONG))
SCRIPT = Script(WRITES, turn(say("Done.")))


@pytest.fixture
async def house(project: Path, home: Path) -> AsyncGenerator[SharedHouse]:
    async with SharedHouse.opened(project=project, home=home, script=SCRIPT, config='mode = "edit"') as opened:
        yield opened


def _of_calls(updates: list[Json]) -> list[Json]:
    return [update for update in updates if update["sessionUpdate"].startswith("tool_call")]


async def _drafted(guest: Guest, project: Path) -> Json:
    """Wait until a call is shown with its path, and give what was shown of it."""
    await guest.wait_for(lambda: [update for update in _of_calls(guest.updates()) if "locations" in update], "a path")
    first, second = _of_calls(guest.updates())
    assert (first["title"], first["kind"], first["status"]) == ("Write", "edit", "pending")
    assert (second["title"], second["locations"]) == ("Write new.py", [{"path": str(project / "new.py")}])
    assert (second["toolCallId"], second["rawInput"]) == (first["toolCallId"], {"path": "new.py"})
    return second


async def test_a_long_call_is_announced_once_and_grows_into_the_whole_call(house: SharedHouse, project: Path) -> None:
    guest = await house.visit()
    await guest.new_session()
    prompt = await guest.start_prompt("go")
    await _drafted(guest, project)
    house.script.let_go("gate")
    outcome = await prompt.outcome()
    [shown] = outcome.calls
    assert (shown["status"], shown["rawInput"]["content"], (project / "new.py").read_text()) == (
        "completed", LONG, LONG,
    )  # fmt: skip
    kinds = [update["sessionUpdate"] for update in _of_calls(outcome.updates)]
    assert (kinds[0], set(kinds[1:]), len(kinds) <= 6) == ("tool_call", {"tool_call_update"}, True)
    _, replayed = await guest.load(guest.session)
    first = _of_calls(replayed)[0]
    assert (first["sessionUpdate"], first["toolCallId"]) == ("tool_call", shown["toolCallId"])


async def test_protocol_2_shows_it_by_the_same_id(house: SharedHouse, project: Path) -> None:
    guest = await house.visit_2()
    await guest.new_session()
    await guest.insert("go")
    draft = await _drafted(guest, project)
    house.script.let_go("gate")
    assert (await guest.wait_for_call("completed"))["toolCallId"] == draft["toolCallId"]


@pytest.mark.parametrize("version", [1, 2])
async def test_a_call_that_is_cut_off_by_a_cancel_ends_live_and_in_the_replay(
    house: SharedHouse, project: Path, version: int
) -> None:
    guest = await (house.visit() if version == 1 else house.visit_2())
    await guest.new_session()
    await guest.start_prompt("go")
    draft = await _drafted(guest, project)
    await guest.cancel()
    assert shown_text(await guest.wait_for_call(_end(version))) == CUT_OFF
    visitor = await (house.visit() if version == 1 else house.visit_2())
    if isinstance(visitor, GuestV2):
        await visitor.resume(guest.session, replayFrom={"type": "start"})
    else:
        await visitor.load(guest.session)
    [replayed] = [update for update in _of_calls(visitor.updates()) if update["toolCallId"] == draft["toolCallId"]]
    assert (replayed["title"], replayed["status"]) == ("Write new.py", _end(version))
    assert not (project / "new.py").exists()


def _end(version: int) -> str:
    return "failed" if version == 1 else "cancelled"


async def test_a_call_that_a_broken_answer_leaves_unfinished_fails_with_it(project: Path, home: Path) -> None:
    broken = fail("StreamInterrupted", times=1)
    script = Script(turn(written_call("read_file", gate="gate", path="a.txt"), broken), turn(say("Done.")))
    script.write(home / "claw" / "script")
    script.let_go("gate")
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        guest = await house.visit()
        await guest.new_session()
        prompt = await guest.start_prompt("go")
        await prompt.failure()
        [cut_off] = tool_calls(prompt.updates).values()
        assert (cut_off["status"], shown_text(cut_off)) == ("failed", CUT_OFF)
        outcome = await guest.prompt("again")
        assert (outcome.text, [call["status"] for call in outcome.calls]) == ("Done.", ["completed"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", None),
        ('{"pa', None),
        ('{"path": "a', None),
        ('{"path": "a.txt"', "a.txt"),
        ('  {\n "n" : 1 , "path" : "a\\n.txt", "content": "x', "a\n.txt"),
        ('{"deep": {"path": "no"}, "path"', None),
        ('{"deep": [{"path": "no"}], "path": "yes"', "yes"),
        ('{"path": 7, "path": "x"}', None),
        ('{"content": "\\"path\\": \\"no\\"', None),
        ("[" * 5000, None),
        ("nonsense", None),
    ],
)
def test_an_argument_is_read_out_of_unfinished_json_once_it_is_complete(text: str, found: str | None) -> None:
    assert argument_so_far(text, "path") == found
