"""Asking: a title, a reason and a subject; anything but an offered option is a no."""

from pathlib import Path
from typing import Any

import pytest

from tests.acp2.conftest import Spawn
from tests.support.editors.editor_desk import SILENCE
from tests.support.editors.exchange import Json, RpcFailure
from tests.support.script_files import Script, call, say, turn

WRITE = Script(turn(call("write_file", path="new.txt", content="x")), turn(say("Done.")))
RUN = Script(turn(call("shell", command="echo $((1+1)) > made.txt")), turn(say("Done.")))


@pytest.mark.rule("v2.permission", "v2.state-requires-action", "v2.tool-upsert", "kit2.perm")
@pytest.mark.case(7)
async def test_a_change_is_shown_asked_for_and_made(opened: Spawn, project: Path) -> None:
    async with opened(script=WRITE) as editor:
        editor.will_answer("allow_once")
        done = await editor.run("write")
        (asked,) = editor.received("session/request_permission")
        params = asked["params"]
        call_id = done.calls[0]["toolCallId"]
        assert params["title"] == "Write new.txt"
        assert str(project / "new.txt") in params["description"]
        assert params["subject"]["type"] == "tool_call"
        asked_for = params["subject"]["toolCall"]
        assert (asked_for["toolCallId"], asked_for["title"], asked_for["kind"]) == (call_id, "Write new.txt", "edit")
        assert (asked_for["status"], asked_for["rawInput"]) == ("pending", {"path": "new.txt", "content": "x"})
        assert asked_for["locations"] == [{"path": str(project / "new.txt")}]
        assert asked_for["content"][0]["type"] == "diff"
        assert editor.states == ["running", "requires_action", "running", "idle"]
        assert (project / "new.txt").read_text() == "x"


@pytest.mark.rule("v2.permission")
async def test_a_command_is_asked_for_with_its_line_and_directory(opened: Spawn, project: Path) -> None:
    async with opened(script=RUN) as editor:
        editor.will_answer("allow_once")
        done = await editor.run("run")
        (asked,) = editor.received("session/request_permission")
        assert asked["params"]["subject"] == {
            "type": "command",
            "command": "echo $((1+1)) > made.txt",
            "cwd": str(project),
            "toolCallId": done.calls[0]["toolCallId"],
        }
        assert (project / "made.txt").read_text() == "2\n"


@pytest.mark.case(4, 5, 6)
@pytest.mark.rule("v2.permission-fail-closed")
@pytest.mark.parametrize(
    "answer",
    [
        {"outcome": {"outcome": "cancelled"}},
        {"outcome": {"outcome": "selected", "optionId": "nobody"}},
        {"outcome": {"outcome": "approved", "optionId": "allow_once"}},
        {"outcome": {"outcome": "_own", "optionId": "allow_once"}},
        {"outcome": {"outcome": "selected"}},
        {"outcome": "selected"},
        {},
        None,
        "yes",
        RpcFailure(-32601, "never heard of it"),
    ],
    ids=["cancelled", "unoffered", "unknown", "private", "no option", "no object", "empty", "null", "text", "error"],
)
async def test_anything_but_an_offered_option_is_a_no(opened: Spawn, project: Path, answer: Any) -> None:
    async with opened(script=WRITE) as editor:
        editor.serve("session/request_permission", lambda _: _given(answer))
        done = await editor.run("write")
        assert [call["status"] for call in done.calls] == ["failed"]
        assert done.stop_reason == "end_turn"
        assert editor.states == ["running", "requires_action", "running", "idle"]
        assert not (project / "new.txt").exists()


def _given(answer: Any) -> Any:
    if isinstance(answer, RpcFailure):
        raise answer
    return answer


@pytest.mark.case(6)
async def test_a_client_that_cannot_answer_is_asked_once_a_prompt(opened: Spawn) -> None:
    twice = turn(call("write_file", path="a.txt", content="x"), call("write_file", path="b.txt", content="x"))
    async with opened(script=Script(twice, turn(say("Done.")))) as editor:
        editor.serve("session/request_permission", lambda _: _given(RpcFailure(-32601)))
        done = await editor.run("write")
        assert [call["status"] for call in done.calls] == ["failed", "failed"]
        assert len(editor.received("session/request_permission")) == 1
        assert editor.states == ["running", "requires_action", "running", "idle"]


@pytest.mark.rule("v2.state-requires-action")
async def test_while_something_else_goes_on_no_action_is_required(opened: Spawn, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("secret\n")
    fetching = call("grep", pattern="nothing", path=".")
    script = Script(
        turn(call("read_file", path=str(outside)), fetching, call("read_file", path="a.txt")), turn(say("k"))
    )
    async with opened(script=script) as editor:
        editor.will_answer(None)
        begin = len(editor.transcript)
        await editor.insert("read")
        question = await editor.wait_for_question()
        await editor.wait_for_state("requires_action")
        others = [item for item in editor.updates("tool_call_update") if item.get("status") == "completed"]
        assert len(others) == 2, "it waits only once the others are through"
        await editor.answer(question, "allow_once")
        done = await editor.ended(begin)
        assert [call["status"] for call in done.calls] == ["completed"] * 3
        assert editor.states == ["running", "requires_action", "running", "idle"]


@pytest.mark.rule("v2.id-reuse")
@pytest.mark.case(8)
async def test_two_questions_are_answered_in_any_order(opened: Spawn, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(name)
    reads = [call("read_file", path=str(tmp_path / name)) for name in ("one", "two")]
    async with opened(script=Script(turn(*reads), turn(say("k")))) as editor:
        editor.will_answer(None)
        begin = len(editor.transcript)
        await editor.insert("read")
        await editor.wait_for(lambda: len(editor.questions) == 2, "two questions")
        await editor.wait_for_state("requires_action")
        first, second = editor.questions
        await editor.answer(second, "reject_once")
        await editor.wait_for_call("failed")
        assert editor.states[-1] == "requires_action", "one answer of two lets nothing go on"
        await editor.answer(first, "allow_once")
        done = await editor.ended(begin)
        assert [call["status"] for call in done.calls] == ["completed", "failed"]


@pytest.mark.rule("v2.elicitation")
@pytest.mark.parametrize("answer", [{"action": "_own"}, {"action": "shrug"}, {"action": "cancel"}])
async def test_an_unknown_answer_to_a_form_counts_as_none(opened: Spawn, answer: Json) -> None:
    asking = call("ask_user", questions=[{"question": "Which one?"}])
    async with opened(
        script=Script(turn(asking), turn(say("k"))), capabilities={"elicitation": {"form": {}}}
    ) as editor:
        editor.serve("elicitation/create", lambda _: answer)
        done = await editor.run("ask")
        assert editor.received("elicitation/create")
        assert done.stop_reason == "end_turn"
        assert editor.states == ["running", "requires_action", "running", "idle"]


async def test_a_question_nobody_answers_is_taken_back_when_the_turn_is_cancelled(opened: Spawn) -> None:
    async with opened(script=WRITE) as editor:
        editor.serve("session/request_permission", lambda _: SILENCE)
        begin = len(editor.transcript)
        await editor.insert("write")
        await editor.wait_for_state("requires_action")
        await editor.notify("session/cancel", {"sessionId": editor.session})
        assert (await editor.ended(begin)).stop_reason == "cancelled"
        assert len(editor.withdrawn()) == 1
