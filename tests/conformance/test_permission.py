"""Asking before acting: only a clear yes is a yes."""

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.support.editors.editor_desk import Question
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import RpcFailure, shown_text
from tests.support.script_files import Script, call, say, turn

TOUCH = turn(call("shell", command="touch x"))
UNOFFERED: tuple[Any, ...] = (
    "cancelled",
    {"outcome": {"outcome": "selected", "optionId": "yes_to_all"}},
    {"outcome": {"outcome": "selected", "optionId": ""}},
    {"outcome": {"outcome": "selected"}},
    {"outcome": {"outcome": "maybe"}},
    {"outcome": "selected"},
    {"outcome": None},
    {},
    None,
    7,
)


@pytest.mark.rule("permission.fail-closed")
@pytest.mark.case(4, 5)
async def test_anything_but_an_offered_answer_is_no_permission(opened: Spawn, project: Path) -> None:
    async with opened(script=Script(TOUCH, turn(say("a pity")), loop=True)) as editor:
        for answer in UNOFFERED:
            editor.will_answer(None)
            prompt = await editor.start_prompt("go")
            await editor.answer(await editor.wait_for_question(), answer)
            outcome = await prompt.outcome()
            assert (outcome.stop_reason, outcome.text) == ("end_turn", "a pity"), answer
            assert [tool["status"] for tool in outcome.calls] == ["failed"], answer
    assert not (project / "x").exists()


@pytest.mark.case(6)
async def test_a_client_that_cannot_answer_is_asked_once_a_turn(opened: Spawn, project: Path) -> None:
    script = Script(TOUCH, TOUCH, turn(say("a pity")), loop=True)
    async with opened(script=script) as editor:
        editor.will_answer(RpcFailure(-32601, "Method not found"))
        outcome = await editor.prompt("go")
        assert [tool["status"] for tool in outcome.calls] == ["failed", "failed"]
        assert len(editor.received("session/request_permission")) == 1
        editor.will_answer("allow_once")
        assert [tool["status"] for tool in (await editor.prompt("go")).calls] == ["completed", "completed"]
    assert (project / "x").exists()


@pytest.mark.case(4)
@pytest.mark.parametrize(("answer", "happens"), [("allow_once", True), ("reject_once", False)])
async def test_the_call_runs_exactly_when_it_was_allowed(
    opened: Spawn,
    project: Path,
    answer: str,
    happens: bool,  # noqa: FBT001
) -> None:
    async with opened(script=Script(TOUCH, turn(say("so be it")))) as editor:
        editor.will_answer(answer)
        outcome = await editor.prompt("go")
    assert outcome.calls[0]["status"] == ("completed" if happens else "failed")
    assert (project / "x").exists() is happens


@pytest.mark.rule("permission.own-call")
@pytest.mark.case(7)
async def test_a_question_follows_its_tool_call_and_shows_what_will_happen(opened: Spawn, project: Path) -> None:
    script = Script(turn(call("read_file", path="a.txt")), turn(call("edit_file", **_EDIT)), turn(say("done")))
    async with opened(script=script) as editor:
        editor.will_answer(None)
        prompt = await editor.start_prompt("go")
        question = await editor.wait_for_question()
        assert editor.updates("tool_call")[-1]["toolCallId"] == question.call_id
        diffs = [item for item in question.params["toolCall"]["content"] if item["type"] == "diff"]
        assert diffs == [{"type": "diff", "path": str(project / "a.txt"), "oldText": "hello\n", "newText": "goodbye\n"}]
        assert (project / "a.txt").read_text() == "hello\n"
        await editor.answer(question, "allow_once")
        statuses = [update.get("status") for update in (await prompt.outcome()).updates if _is_of(update, question)]
        assert [status for status, _ in groupby(statuses)] == ["pending", "in_progress", "completed"]  # each update's
    assert (project / "a.txt").read_text() == "goodbye\n"


_EDIT = {"path": "a.txt", "edits": [{"old_text": "hello", "new_text": "goodbye"}]}


def _is_of(update: dict[str, Any], question: Question) -> bool:
    return update.get("toolCallId") == question.call_id


@pytest.mark.case(8, 32)
async def test_questions_of_two_sessions_are_matched_by_id_in_any_order(opened: Spawn, project: Path) -> None:
    script = Script(
        turn(call("shell", command="touch first"), when="first"),
        turn(say("1"), when="first"),
        turn(call("shell", command="touch second"), when="second"),
        turn(say("2"), when="second"),
    )
    async with opened(script=script) as editor:
        editor.will_answer(None)
        one = await editor.start_prompt("first")
        await editor.wait_for_question()
        await editor.new_session()
        two = await editor.start_prompt("second")
        await editor.wait_for(lambda: len(editor.questions) == 2, "two questions")
        first, second = editor.questions
        await editor.answer(second, "allow_once")
        assert (await two.outcome()).text == "2"
        assert not one.answered
        await editor.answer(first, "reject_once")
        assert (await one.outcome()).text == "1"
    assert not (project / "first").exists()
    assert (project / "second").exists()


@pytest.mark.case(4)
async def test_always_is_remembered_for_the_project_and_by_later_processes(
    opened: Spawn, project: Path, home: Path
) -> None:
    script = Script(turn(call("shell", command="touch x")), turn(say("ok")), loop=True)
    async with opened(script=script) as editor:
        editor.will_answer("allow_always")
        await editor.prompt("go")
        assert (await editor.prompt("again")).calls[0]["status"] == "completed"
        assert len(editor.received("session/request_permission")) == 1
    async with opened(script=script) as editor:
        assert (await editor.prompt("go")).calls[0]["status"] == "completed"
        assert editor.received("session/request_permission") == []
    assert "touch" in (home / "claw" / "permissions.toml").read_text()
    assert not (project / ".claw").exists()


@pytest.mark.rule("kit1.modes")
async def test_in_plan_mode_nothing_is_changed_and_nobody_is_asked(opened: Spawn, project: Path) -> None:
    script = Script(turn(call("write_file", path="b.txt", content="x")), turn(say("planned")))
    async with opened(script=script, config='mode = "plan"') as editor:
        outcome = await editor.prompt("go")
    assert (outcome.calls[0]["status"], outcome.text) == ("failed", "planned")
    assert "plan" in shown_text(outcome.calls[0]).lower()
    assert not (project / "b.txt").exists()
