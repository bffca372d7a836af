"""Questions to the person: only where forms were advertised, and no answer is taken that does not fit."""

from typing import Any

import pytest

from tests.support.editors.editor import FULL, Editor
from tests.support.editors.editor_desk import SILENCE
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, RpcFailure, shown_text
from tests.support.script_files import Script, call, expect, say, turn

FORMS: Json = {"elicitation": {"form": {}}}
COLOURS = {
    "question": "Which colour?",
    "kind": "choice",
    "options": [{"label": "red", "description": "warm"}, {"label": "blue"}],
}
QUESTIONS = [
    {"question": "What is it called?"},
    COLOURS,
    {"question": "Which days?", "kind": "choices", "options": [{"label": "Monday"}, {"label": "Sunday"}]},
    {"question": "In public?", "kind": "yes_no"},
]
ASK = turn(call("ask_user", questions=QUESTIONS))
ANSWERS = {"answer_1": "Claw", "answer_2": "blue", "answer_3": ["Sunday", "Monday"], "answer_4": False}


def _asked(editor: Editor) -> list[Json]:
    return [frame["params"] for frame in editor.received("elicitation/create")]


def _will_say(editor: Editor, *answers: Any) -> None:
    left = list(answers)
    editor.serve("elicitation/create", lambda _: left.pop(0) if len(left) > 1 else left[0])


@pytest.mark.rule("elicitation.validated")
async def test_a_form_shows_every_question_and_its_answers_reach_the_model(opened: Spawn) -> None:
    async with opened(script=Script(ASK, turn(say("thanks"))), capabilities=FORMS, config='mode = "plan"') as editor:
        _will_say(editor, {"action": "accept", "content": {**ANSWERS, "remark": "no hurry", "unknown": {"a": 1}}})
        outcome = await editor.prompt("go")
        (form,) = _asked(editor)
        (asking,) = outcome.calls
        assert (form["mode"], form["sessionId"], form["toolCallId"]) == ("form", editor.session, asking["toolCallId"])
        properties = form["requestedSchema"]["properties"]
        assert [field["type"] for field in properties.values()] == ["string", "string", "array", "boolean", "string"]
        assert [field["title"] for field in properties.values()][:4] == [item["question"] for item in QUESTIONS]
        assert properties["answer_2"]["oneOf"][0] == {"const": "red", "title": "red", "description": "warm"}
        assert form["requestedSchema"]["required"] == ["answer_1", "answer_4"]
        assert asking["status"] == "completed"
        assert shown_text(asking) == (
            "The user answered:\n- What is it called? → Claw\n- Which colour? → blue\n- Which days? → Monday, Sunday\n"
            "- In public? → no\n- The user adds: no hurry"
        )


@pytest.mark.rule("elicitation.validated")
@pytest.mark.parametrize(
    "wrong",
    [
        {"answer_1": 7},
        {"answer_1": "  "},
        {"answer_1": None},
        {"answer_2": "green"},
        {"answer_2": ["red"]},
        {"answer_3": "Monday"},
        {"answer_3": ["Monday", "Friday"]},
        {"answer_4": "no"},
        {"answer_4": 0},
    ],
)
async def test_an_answer_that_does_not_fit_is_asked_for_once_more(opened: Spawn, wrong: Json) -> None:
    async with opened(script=Script(ASK, turn(say("ok"))), capabilities=FORMS) as editor:
        _will_say(editor, {"action": "accept", "content": ANSWERS | wrong}, {"action": "accept", "content": ANSWERS})
        outcome = await editor.prompt("go")
        first, second = _asked(editor)
        assert second["message"].startswith(f"{first['message']}\n\nPlease correct: “")
        assert second["requestedSchema"] == first["requestedSchema"]
        assert "blue" in shown_text(outcome.calls[0])


@pytest.mark.rule("elicitation.validated")
async def test_a_form_filled_in_wrongly_twice_counts_as_cancelled(opened: Spawn) -> None:
    async with opened(script=Script(ASK, turn(say("ok"))), capabilities=FORMS) as editor:
        _will_say(editor, {"action": "accept"})
        outcome = await editor.prompt("go")
        assert len(_asked(editor)) == 2
        assert "Closed without an answer" in shown_text(outcome.calls[0])


@pytest.mark.rule("elicitation.unknown-action")
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"action": "decline"}, "Declined"),
        ({"action": "cancel"}, "Closed without an answer"),
        ({"action": "cancel", "content": ANSWERS}, "Closed without an answer"),
        ({"action": "_maybe", "content": ANSWERS}, "Closed without an answer"),
        ({"action": 7}, "Asked in text"),
        ({}, "Asked in text"),
        (None, "Asked in text"),
        ([], "Asked in text"),
    ],
)
async def test_only_accept_is_an_answer(opened: Spawn, answer: Any, told: str) -> None:
    async with opened(script=Script(ASK, turn(say("ok"))), capabilities=FORMS) as editor:
        _will_say(editor, answer)
        outcome = await editor.prompt("go")
        assert outcome.stop_reason == "end_turn"
        assert told in shown_text(outcome.calls[0])
        assert len(_asked(editor)) == 1


@pytest.mark.case(36)
async def test_a_client_that_fails_to_show_forms_is_asked_once_a_turn(opened: Spawn) -> None:
    async with opened(script=Script(ASK, ASK, turn(say("ok"))), capabilities=FORMS) as editor:
        _will_say(editor, RpcFailure(-32601, "Method not found"))
        outcome = await editor.prompt("go")
        assert ["Asked in text" in shown_text(asking) for asking in outcome.calls] == [True]
        assert (len(_asked(editor)), "Which colour?" in outcome.text) == (1, True)
        _will_say(editor, {"action": "accept", "content": ANSWERS})
        assert "Claw" in shown_text((await editor.prompt("go")).calls[0])


@pytest.mark.case(36)
@pytest.mark.rule("elicitation.gated")
@pytest.mark.parametrize(
    "capabilities",
    [FULL, {"elicitation": {}}, {"elicitation": {"form": None}}, {"elicitation": {"url": {}}}, {"elicitation": True}],
)
async def test_without_forms_the_question_is_text_that_the_next_prompt_answers(
    opened: Spawn, capabilities: Json
) -> None:
    script = Script(ASK, turn(expect("Claw, please"), say("Good.")))
    async with opened(script=script, capabilities=capabilities) as editor:
        outcome = await editor.prompt("go")
        [asking] = outcome.calls
        assert ("**1. What is it called?**" in outcome.text, asking["status"]) == (True, "completed")
        assert outcome.stop_reason == "end_turn"
        assert (await editor.prompt("Claw, please")).text == "Good."


@pytest.mark.rule("elicitation.no-secrets")
async def test_a_form_never_asks_for_a_secret(opened: Spawn) -> None:
    asking = turn(call("ask_user", questions=[{"question": "Please enter your API key for the staging server"}]))
    async with opened(script=Script(asking, turn(say("ok"))), capabilities=FORMS) as editor:
        outcome = await editor.prompt("go")
        assert "Never ask for passwords" in shown_text(outcome.calls[0])
        assert _asked(editor) == []


@pytest.mark.case(1)
async def test_cancelling_the_turn_withdraws_the_question(opened: Spawn) -> None:
    async with opened(script=Script(ASK, turn(say("next")), loop=True), capabilities=FORMS) as editor:
        editor.serve("elicitation/create", lambda _: SILENCE)
        prompt = await editor.start_prompt("go")
        await editor.wait_for(lambda: _asked(editor), "a form")
        (question,) = editor.received("elicitation/create")
        await editor.cancel()
        outcome = await prompt.outcome()
        assert (outcome.stop_reason, outcome.calls[0]["status"]) == ("cancelled", "failed")
        assert {"requestId": question["id"]} in [frame["params"] for frame in editor.received("$/cancel_request")]
        assert (await editor.prompt("and now?")).text == "next"


@pytest.mark.case(32)
async def test_an_open_question_holds_up_nobody_else(opened: Spawn) -> None:
    script = Script(turn(call("ask_user", questions=[COLOURS]), when="ask"), turn(say("hi"), when="hello"))
    async with opened(script=script, capabilities=FORMS) as editor:
        editor.serve("elicitation/create", lambda _: SILENCE)
        waiting = await editor.start_prompt("ask")
        await editor.wait_for(lambda: _asked(editor), "a form")
        first = editor.session
        await editor.new_session()
        assert (await editor.prompt("hello")).text == "hi"
        assert not waiting.answered
        await editor.cancel(first)
        assert (await waiting.outcome()).stop_reason == "cancelled"
