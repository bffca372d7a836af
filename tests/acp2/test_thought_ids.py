"""Thinking is a message of its own: clients that join pieces by their ids keep it apart from the answer."""

from collections.abc import Sequence
from pathlib import Path

from tests.support.editors.exchange import Json
from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script, call, say, think, turn

SCRIPT = Script(
    turn(think("Hm. "), say("I look. "), think("Once more."), call("read_file", path="a.txt")),
    turn(think("Well."), say("Done.")),
)


def ids(updates: Sequence[Json], kind: str) -> list[str]:
    """The messages of a kind, in order."""
    kinds = {kind, f"{kind}_chunk"}
    return list(dict.fromkeys(each["messageId"] for each in updates if each["sessionUpdate"] in kinds))


async def test_thoughts_and_answers_have_different_ids_which_are_the_same_in_each_protocol_and_replay(
    project: Path, home: Path
) -> None:
    async with SharedHouse.opened(project=project, home=home, script=SCRIPT) as house:
        editor = await house.visit()
        await editor.new_session()
        live = (await editor.prompt("go")).updates
        _, replayed = await editor.load(editor.session)
        other = await house.visit_2()
        _, replayed_in_2 = await other.resume(editor.session, replay=True)
    thoughts, answers = ids(live, "agent_thought"), ids(live, "agent_message")
    assert (len(thoughts), len(answers)) == (2, 2)
    assert not {*thoughts} & {*answers}
    for updates in (replayed, replayed_in_2):
        assert (ids(updates, "agent_thought"), ids(updates, "agent_message")) == (thoughts, answers)
