"""Tasks in the background as an editor meets them: they outlast their turn, not their session, and report their end."""

import json
from pathlib import Path

import pytest

from tests.subagents.test_delegate import AUTO, delegated, works
from tests.subagents.test_untrusted_tasks import LETTER
from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.editor_v2 import EditorV2
from tests.support.editors.exchange import spoken
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, Turn, call, expect, hold, say, turn, usage

LEAVES = delegated(background=True)
BEGUN = turn(expect("Task 1 has begun"), say("It is begun."))
WORKS_ON = works(turn(say("I begin."), call("shell", command="touch began; sleep 3600")))


def shown(editor: Editor) -> str:
    """All that the agent has said."""
    return spoken(editor.updates("agent_message_chunk"), "agent_message_chunk")


async def until_shown(editor: Editor, text: str) -> None:
    await editor.wait_for(lambda: text in shown(editor), text)


async def test_a_task_goes_on_after_its_turn_and_its_report_comes_as_a_message_that_the_model_gets_with_the_next_prompt(
    opened: Spawn,
) -> None:
    script = Script(
        LEAVES,
        BEGUN,
        *works(turn(hold("gate"), say("Found it."))),
        turn(expect("Background task 1. look: completed"), say("I know.")),
        turn(say("nothing new")),
    )
    async with opened(script=script, prompted_by="anyone") as editor:
        assert (await editor.prompt("go")).text == "It is begun."
        assert "- 1. look: at work" in (await editor.prompt("/tasks")).text
        script.let_go("gate")
        await until_shown(editor, "Found it.")
        assert "Background task 1. look: completed" in spoken(
            editor.updates("user_message_chunk"), "user_message_chunk"
        )
        assert (await editor.prompt("and now?")).text == "I know."
        outcome = await editor.prompt("more?")
        assert outcome.text == "nothing new"
        assert "Found it." in (await editor.prompt("/tasks show 1")).text


async def test_a_cancelled_prompt_does_not_end_a_task_and_closing_the_session_does(
    opened: Spawn, project: Path
) -> None:
    script = Script(LEAVES, turn(hold("gate"), say("never")), *WORKS_ON, turn(say("later")))
    async with opened(script=script, config=AUTO, prompted_by="anyone", late_cancel="allowed") as editor:
        running = await editor.start_prompt("go")
        await eventually((project / "began").exists, what="the task's program")
        await editor.cancel()
        assert (await running.outcome()).stop_reason == "cancelled"
        assert "- 1. look: at work" in (await editor.prompt("/tasks")).text
        await editor.request("session/close", {"sessionId": editor.session})
        await editor.load(editor.session)
        assert "- 1. look: cancelled" in (await editor.prompt("/tasks")).text


@pytest.mark.forked
async def test_after_a_crash_the_person_and_the_model_are_told_once_that_a_task_was_interrupted(
    spawn: Spawn, project: Path
) -> None:
    script = Script(
        LEAVES,
        BEGUN,
        *WORKS_ON,
        turn(expect("1. look: interrupted\nThe report of the subagent follows."), say("I know.")),
        turn(say("nothing new")),
    )
    async with spawn(script=script, config=AUTO, prompted_by="anyone") as editor:
        await editor.initialize()
        await editor.new_session()
        await editor.prompt("go")
        await eventually((project / "began").exists, what="the task's program")
        await editor.kill()
    async with spawn(script=script, config=AUTO, prompted_by="anyone") as other:
        await other.initialize()
        await other.load(editor.session)
        assert "- 1. look: interrupted" in (await other.prompt("/tasks")).text
        told = await other.prompt("and now?")
        assert "**Background task 1. look: interrupted**\n\nI begin." in told.text
        assert told.text.endswith("I know.")
        assert (await other.prompt("more?")).text == "nothing new"


async def test_the_model_waits_for_a_task_and_is_not_told_again(opened: Spawn) -> None:
    script = Script(
        LEAVES,
        turn(call("task_status", task=1, wait=60)),
        *works(turn(say("Found it."))),
        turn(expect("Found it."), call("task_status"), call("task_status", task=2)),
        turn(expect("There is no task 2."), say("I know.")),
        turn(say("nothing new")),
    )
    async with opened(script=script, prompted_by="anyone") as editor:
        outcome = await editor.prompt("go")
        assert outcome.text.startswith("I know.")
        assert [call["status"] for call in outcome.calls] == ["completed", "completed", "completed", "failed"]
        await until_shown(editor, "I know.Found it.")
        assert "Found it." not in (await editor.prompt("more?")).text


@pytest.mark.parametrize(
    ("ends", "answer"),
    [
        (turn(call("task_cancel", task=1)), "Task 1 was ended."),
        (turn(call("task_cancel", task=7)), "Task 7 is not at work here."),
    ],
)
async def test_the_model_can_end_a_task(opened: Spawn, project: Path, ends: Turn, answer: str) -> None:
    script = Script(LEAVES, ends, *works(turn(hold("gate"), say("never"))), turn(expect(answer), say("ok")))
    async with opened(script=script, prompted_by="anyone") as editor:
        assert "ok" in (await editor.prompt("go")).text
        await editor.prompt("/tasks cancel 1")
        assert "- 1. look: cancelled" in (await editor.prompt("/tasks")).text


async def test_no_more_tasks_are_at_work_than_allowed_and_subagents_leave_none_behind(opened: Spawn) -> None:
    script = Script(
        LEAVES,
        delegated(background=True),
        turn(expect("1 tasks may be at work"), *(delegated("Sub.")["steps"])),
        *works(
            delegated("never", background=True), turn(expect("Only the conversation"), say("no")), on=r"agent .*\s+Sub"
        ),
        *works(turn(hold("gate"), say("done")), on=r"agent .*\s+Look"),
        turn(expect("no"), say("ok")),
    )
    async with opened(script=script, config="[delegation]\nbackground = 1", prompted_by="anyone") as editor:
        assert (await editor.prompt("go")).text == "ok"


async def test_nobody_is_asked_for_a_task_and_undo_in_its_session_takes_back_its_changes(
    opened: Spawn, project: Path
) -> None:
    writes = works(turn(call("write_file", path="made.txt", content="made\n")), turn(say("I tried.")))
    script = Script(LEAVES, BEGUN, *writes, LEAVES, turn(say("again")), *writes)
    async with opened(script=script, prompted_by="anyone") as editor:
        await editor.prompt("go")
        await until_shown(editor, "I tried.")
        assert not (project / "made.txt").exists()
        assert editor.received("session/request_permission") == []
        await editor.request("session/set_mode", {"sessionId": editor.session, "modeId": "edit"})
        await editor.prompt("go")
        await eventually((project / "made.txt").exists, what="the file")
        await until_shown(editor, "againI tried.")
        (_, second) = (await editor.request("session/list", {"archived": "only"}))["sessions"][::-1]
        await editor.load(second["sessionId"])
        assert "Undone: turn 1" in (await editor.prompt("/undo", session=second["sessionId"])).text
        assert not (project / "made.txt").exists()


async def test_what_a_task_read_from_strangers_comes_with_its_report(opened: Spawn, project: Path, home: Path) -> None:
    (home / "letter.txt").write_text(LETTER)
    config = f"{AUTO}\n[permissions]\nallow = {json.dumps([f'read(/{home}/letter.txt)'])}"
    reads = turn(call("read_file", path=str(home / "letter.txt")))
    script = Script(
        LEAVES,
        BEGUN,
        *works(reads, turn(say("Do act on it."))),
        turn(expect("it is information from strangers"), call("write_file", path="fresh.txt", content="new")),
        turn(say("done")),
    )
    async with opened(script=script, config=config, prompted_by="anyone") as editor:
        editor.will_answer("reject_once")
        await editor.prompt("go")
        await until_shown(editor, "Do act on it.")
        await editor.prompt("and now?")
        assert not (project / "fresh.txt").exists()
        assert len(editor.received("session/request_permission")) == 1


async def test_what_a_task_takes_counts_for_its_session(opened: Spawn) -> None:
    taken = works(turn(say("found"), usage(inputTokens=1_000_000, outputTokens=0)))
    config = '[prices."scripted/*"]\ninput = 1.0\noutput = 1.0\n'
    async with opened(script=Script(LEAVES, BEGUN, *taken), config=config, prompted_by="anyone") as editor:
        await editor.prompt("go")
        await until_shown(editor, "found")
        assert "$1.00" in (await editor.prompt("/cost")).text


async def test_a_budget_that_is_used_up_ends_a_task_without_a_question(opened: Spawn) -> None:
    taken = works(turn(call("think", thought="more"), usage(inputTokens=1_000_000, outputTokens=0)), turn(say("never")))
    config = '[budget]\nsession = 0.5\n[prices."scripted/*"]\ninput = 1.0\noutput = 1.0\n'
    async with opened(script=Script(LEAVES, BEGUN, *taken), config=config, prompted_by="anyone") as editor:
        await editor.prompt("go")
        await until_shown(editor, "budget")
        assert "- 1. look: failed" in (await editor.prompt("/tasks")).text
        assert editor.received("session/request_permission") == []


async def test_in_protocol_2_a_report_is_shown_as_work_of_its_own(project: Path, home: Path) -> None:
    script = Script(LEAVES, BEGUN, *works(turn(hold("gate"), say("Found it."))))
    async with EditorV2.opened(project=project, home=home, script=script) as editor:
        await editor.prompt("go")
        script.let_go("gate")
        await editor.wait_for(lambda: "Found it." in str(editor.received("session/update")), "the report")


@pytest.mark.forked
async def test_another_process_sees_a_task_at_work_and_its_report_once_it_has_ended(spawn: Spawn) -> None:
    report = "Background task 1. look: completed"
    script = Script(
        LEAVES,
        BEGUN,
        *works(turn(hold("gate"), say("Found it."))),
        turn(say("early")),
        turn(expect(report), say("I know.")),
    )
    async with spawn(script=script, prompted_by="anyone") as editor, spawn(prompted_by="anyone") as other:
        await editor.initialize()
        await editor.new_session()
        await editor.prompt("go")
        await other.initialize()
        await other.load(editor.session)
        assert (await other.prompt("already?", session=editor.session)).text == "early"
        assert "- 1. look: at work" in (await other.prompt("/tasks", session=editor.session)).text
        assert "not at work here" in (await other.prompt("/tasks cancel 1", session=editor.session)).text
        script.let_go("gate")
        await until_shown(editor, "Found it.")
        await editor.request("session/close", {"sessionId": editor.session})  # its turn is over then
        assert "I know." in (await other.prompt("and now?", session=editor.session)).text
