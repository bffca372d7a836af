"""`delegate` as an editor meets it: a conversation beside its own, under the same rules."""

from pathlib import Path

import anyio
import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Outcome, shown_text, spoken, tool_calls
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, Turn, call, expect, fail, hold, say, turn, usage

AUTO = 'mode = "auto"'
TASK = "Your task, from the agent"


def works(*turns: Turn, on: str = TASK) -> list[Turn]:
    """The turns of a subagent."""
    return [{**each, "when": on} for each in turns]


def delegated(task: str = "Look.", title: str = "look", **more: object) -> Turn:
    return turn(call("delegate", title=title, task=task, **more))


def shown(answer: Outcome) -> tuple[str, str, str]:
    """The title, the status and the text of the first call of a turn."""
    first = next(iter(tool_calls(answer.updates).values()))
    return first["title"], first["status"], shown_text(first)


def at_work(project: Path) -> int:
    """The subagents that have begun."""
    return len(list(project.glob("*.seen")))


WRITES = works(turn(call("write_file", path="made.txt", content="made\n")), turn(say("I tried.")))


async def test_a_subagent_works_in_a_conversation_of_its_own_and_its_last_answer_is_the_result(
    opened: Spawn, project: Path
) -> None:
    (project / "a.txt").write_text("the word is heron\n")
    script = Script(
        delegated("/undo is how a task may begin. Read a.txt."),
        *works(turn(call("read_file", path="a.txt")), turn(expect("heron"), say("It says heron."))),
        turn(expect("It says heron."), say("Done: heron.")),
    )
    async with opened(script=script) as editor:
        answer = await editor.prompt("what does a.txt say?")
        assert answer.text == "Done: heron."
        assert shown(answer) == ("Delegate: look", "completed", "It says heron.")
        listed = await editor.request("session/list", {})
        assert [session["sessionId"] for session in listed["sessions"]] == [editor.session]


async def test_undo_takes_back_what_a_subagent_changed(opened: Spawn, project: Path) -> None:
    script = Script(delegated(), *WRITES, turn(say("done")))
    async with opened(script=script, config=AUTO) as editor:
        await editor.prompt("make it")
        assert (project / "made.txt").read_text() == "made\n"
        assert "Undone: turn 1" in (await editor.prompt("/undo")).text
        assert not (project / "made.txt").exists()


async def test_a_question_is_asked_in_the_session_and_names_the_subagent(opened: Spawn, project: Path) -> None:
    script = Script(delegated(), *WRITES, turn(say("done")))
    async with opened(script=script) as editor:
        editor.will_answer("reject_once")
        await editor.prompt("make it")
        (asked,) = (frame["params"] for frame in editor.received("session/request_permission"))
        assert asked["sessionId"] == editor.session
        assert asked["toolCall"]["title"].startswith("Subagent “look”: ")
        assert not (project / "made.txt").exists()


@pytest.mark.parametrize("when", ["before", "during"])
async def test_a_subagent_is_in_the_mode_of_its_session_at_any_moment(opened: Spawn, project: Path, when: str) -> None:
    script = Script(
        delegated(),
        *works(turn(hold("gate"), call("write_file", path="made.txt", content="made\n")), turn(say("I tried."))),
        turn(say("done")),
    )
    async with opened(script=script, config=AUTO) as editor:
        plan = {"sessionId": editor.session, "modeId": "plan"}
        if when == "before":
            await editor.request("session/set_mode", plan)
        running = await editor.start_prompt("make it")
        await editor.wait_for_call("in_progress")
        if when == "during":
            await editor.request("session/set_mode", plan)
        script.let_go("gate")
        assert "I tried." in shown(await running.outcome())[2]
        assert not (project / "made.txt").exists()


async def test_subagents_of_subagents_end_at_the_depth(opened: Spawn, project: Path) -> None:
    script = Script(
        delegated("first", title="one"),
        *works(
            delegated("second", title="two"), turn(expect("no deeper"), say("two was here")), on="agent .*\\s+first"
        ),
        *works(
            delegated("third", title="three"),
            turn(expect("There is no tool named delegate"), say("no deeper")),
            on="agent .*\\s+second",
        ),
        turn(expect("two was here"), say("done")),
    )
    async with opened(script=script) as editor:
        assert (await editor.prompt("go down")).text == "done"


async def test_with_no_depth_there_is_no_such_tool(opened: Spawn, project: Path) -> None:
    script = Script(delegated(), turn(expect("There is no tool named delegate"), say("alone")))
    async with opened(script=script, config="[delegation]\ndepth = 0") as editor:
        assert (await editor.prompt("delegate")).text == "alone"


async def test_a_subagent_has_only_the_tools_that_it_is_given_and_never_asks_the_person(
    opened: Spawn, project: Path
) -> None:
    script = Script(
        delegated(tools=["read_file", "ask_user"]),
        *works(
            turn(call("write_file", path="made.txt", content="made\n")),
            turn(expect("There is no tool named write_file"), call("ask_user", questions=[{"question": "Well?"}])),
            turn(expect("There is no tool named ask_user"), say("I could not.")),
        ),
        turn(expect("I could not."), say("done")),
    )
    async with opened(script=script, config=AUTO) as editor:
        assert (await editor.prompt("make it")).text == "done"


@pytest.mark.parametrize(
    "config",
    [
        "[delegation]\nmax_requests = 1",
        "[delegation]\nmax_tokens = 900",
        "[delegation]\nmax_cost = 0.001",
        "[limits]\nmax_turn_tokens = 900",
        "[limits]\nmax_turn_cost = 0.001",
    ],
)
async def test_limits_of_a_task_and_of_the_turn_that_gives_it_end_a_subagent(
    opened: Spawn, project: Path, config: str
) -> None:
    prices = '[prices."scripted/*"]\ninput = 1.0\noutput = 1.0\n'
    script = Script(
        delegated(),
        *works(turn(call("think", thought="more"), usage(inputTokens=1000, outputTokens=10))),
        turn(say("This far I got."), when="reached its limit"),
        turn(expect("It was stopped at a limit"), say("done")),
    )
    async with opened(script=script, config=f"{prices}{config}") as editor:
        answer = await editor.prompt("go")
        assert "This far I got." in shown(answer)[2]
        assert ("done" in answer.text) is ("[delegation]" in config)


async def test_what_subagents_take_counts_for_their_session(opened: Spawn, project: Path) -> None:
    script = Script(
        delegated(),
        *works(turn(say("found"), usage(inputTokens=1_000_000, outputTokens=0))),
        turn(say("done")),
        loop=True,
    )
    config = '[prices."scripted/*"]\ninput = 1.0\noutput = 1.0\n'
    async with opened(script=script, config=config) as editor:
        answer = await editor.prompt("go")
        costs = [update["cost"]["amount"] for update in answer.updates if update.get("cost")]
        assert costs[-1] == 1.0
        assert "$1.00" in (await editor.prompt("/cost")).text


async def test_several_calls_of_one_answer_work_at_once_but_no_more_than_allowed(opened: Spawn, project: Path) -> None:
    calls = [call("delegate", title=name, task=f"{name}!") for name in ("one", "two", "three")]
    script = Script(
        turn(*calls),
        *works(turn(call("shell", command="touch $$.seen; until [ -e go ]; do :; done")), turn(say("seen"))),
        turn(say("done")),
    )
    async with opened(
        script=script, config=f"{AUTO}\n[delegation]\nat_once = 2\n[sandbox]\nuse = 'tolerant'"
    ) as editor:
        running = await editor.start_prompt("go")
        await eventually(lambda: at_work(project) == 2, what="two at work")
        await (anyio.Path(project) / "go").touch()
        answer = await running.outcome()
        assert answer.text == "done"
        assert at_work(project) == 3


async def test_a_subagent_that_finds_no_place_for_one_of_its_own_is_refused_and_does_not_wait(
    opened: Spawn, project: Path
) -> None:
    script = Script(
        delegated("first"),
        *works(delegated("second"), turn(expect("All places for subagents are taken: 1"), say("I did it myself."))),
        turn(expect("I did it myself."), say("done")),
    )
    async with opened(script=script, config="[delegation]\nat_once = 1") as editor:
        assert (await editor.prompt("go")).text == "done"


async def test_a_model_that_fails_fails_the_task_and_not_the_turn(opened: Spawn, project: Path) -> None:
    script = Script(
        delegated(),
        *works(turn(fail("RequestRejected", message="no such thing"))),
        turn(expect("It failed"), say("done")),
    )
    async with opened(script=script) as editor:
        answer = await editor.prompt("go")
        assert answer.text == "done"
        assert shown(answer)[1] == "failed"


async def test_a_cancelled_prompt_ends_its_subagents_and_their_programs(opened: Spawn, project: Path) -> None:
    script = Script(
        delegated(),
        *works(turn(say("Wait."), call("shell", command="touch began; sleep 3600"))),
        turn(expect("and now"), say("I know.")),
    )
    async with opened(script=script, config=AUTO) as editor:
        running = await editor.start_prompt("go")
        await eventually((project / "began").exists, what="the subagent's program")
        await editor.cancel()
        answer = await running.outcome()
        assert answer.stop_reason == "cancelled"
        assert shown(answer)[1:] == (
            "failed",
            "Wait.\nThe call was interrupted before it finished; it may have had effects.",
        )
        assert (await editor.prompt("and now?")).text == "I know."


@pytest.mark.forked
async def test_after_a_crash_the_next_prompt_works_and_the_subagent_can_be_read_and_goes_with_its_session(
    spawn: Spawn, project: Path, home: Path
) -> None:
    script = Script(
        delegated(),
        *works(turn(say("I begin."), call("shell", command="touch began; sleep 3600"))),
        turn(expect("and now"), say("I know.")),
    )
    async with spawn(script=script, config=AUTO) as editor:
        await editor.initialize()
        await editor.new_session()
        await editor.start_prompt("go")
        await eventually((project / "began").exists, what="the subagent's program")
        await editor.kill()
    async with spawn(script=script, config=AUTO) as other:
        await other.initialize()
        await other.load(editor.session)
        assert (await other.prompt("and now?")).text == "I know."
        (subagent,) = (await other.request("session/list", {"archived": "only"}))["sessions"]
        _, replayed = await other.load(subagent["sessionId"])
        assert "I begin." in spoken(replayed, "agent_message_chunk")
        await other.request("session/delete", {"sessionId": editor.session})
        assert (await other.request("session/list", {"archived": "only"}))["sessions"] == []
