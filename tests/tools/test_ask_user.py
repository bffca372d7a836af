import pytest

from claw_acp.contracts.questions import ChoiceField, FormAnswer, TextField, YesNoField
from claw_acp.core.errors import InvalidArguments, ToolError
from claw_acp.tools.ask_user import ASKED, DECLINED, DISMISSED, NO_SECRETS, AskUser
from tests.support.tool_bench import Bench, said

LICENCE = {"question": "Which licence?", "kind": "choice", "options": [{"label": "MIT"}, {"label": "Apache-2.0"}]}


async def test_each_kind_of_question_is_a_field_of_its_kind(bench: Bench) -> None:
    bench.answer = FormAnswer(action="decline")
    options = [{"label": "a", "description": "the first"}, {"label": "b"}]
    await bench.call(
        AskUser(),
        reason="I must name it.",
        questions=[
            {"question": "Name?"},
            {"question": "Which?", "kind": "choice", "options": options},
            {"question": "Which ones?", "kind": "choices", "options": options},
            {"question": "Sure?", "kind": "yes_no", "optional": True},
        ],
    )
    (form,) = bench.forms
    name, which, several, sure, remark = form.inputs
    assert form.message == "I must name it."
    assert (type(name), name.required) == (TextField, True)
    assert isinstance(which, ChoiceField)
    assert isinstance(several, ChoiceField)
    assert (which.many, several.many) == (False, True)
    assert [(option.value, option.label, option.description) for option in which.options] == [
        ("a", "a", "the first"),
        ("b", "b", None),
    ]
    assert (type(sure), sure.required) == (YesNoField, False)
    assert (type(remark), remark.required) == (TextField, False)


async def test_answers_are_told_under_their_questions(bench: Bench) -> None:
    bench.answer = FormAnswer(action="accept", values={"answer_1": True, "answer_3": ("a", "b"), "remark": "soon"})
    several = {"question": "Which?", "kind": "choices", "options": [{"label": "a"}, {"label": "b"}]}
    result = await bench.call(
        AskUser(), questions=[{"question": "Sure?", "kind": "yes_no"}, {"question": "Why?"}, several]
    )
    assert said(result) == (
        "The user answered:\n- Sure? → yes\n- Why? → (left open)\n- Which? → a, b\n- The user adds: soon"
    )
    assert result.raw == {
        "action": "accept",
        "answers": [{"question": "Sure?", "answer": True}, {"question": "Which?", "answer": ["a", "b"]}],
        "remark": "soon",
    }


async def test_questions_without_choices_need_no_room_for_something_else(bench: Bench) -> None:
    await bench.call(AskUser(), questions=[{"question": "Name?"}])
    assert [field.key for field in bench.forms[0].inputs] == ["answer_1"]
    assert bench.forms[0].message == "The agent has 1 question for you."


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, ASKED),
        (FormAnswer(action="decline"), DECLINED),
        (FormAnswer(action="cancel"), DISMISSED),
    ],
)
async def test_no_answer_is_told_in_words(bench: Bench, answer: FormAnswer | None, told: str) -> None:
    bench.answer = answer
    result = await bench.call(AskUser(), questions=[LICENCE])
    assert (said(result), result.failed) == (told, False)


async def test_the_call_touches_nothing_and_shows_what_is_asked(bench: Bench) -> None:
    call = bench.prepare(AskUser(), questions=[LICENCE, {"question": "Name?"}])
    assert (call.accesses, call.view.title, call.view.kind) == ((), "Ask: Which licence? (and 1 more)", "other")
    assert bench.forms == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"questions": []}, "questions"),
        ({"questions": [LICENCE] * 5}, "questions"),
        ({"questions": [{"question": "Which?", "kind": "choice"}]}, "needs at least two `options`"),
        ({"questions": [{**LICENCE, "options": [{"label": "a"}, {"label": "a"}]}]}, "must differ"),
        ({"questions": [{**LICENCE, "kind": "text"}]}, 'kind "text" has no `options`'),
        ({"questions": [{"question": ""}]}, "question"),
        ({"questions": [{"question": "Name?", "secret": True}]}, "secret"),
    ],
)
def test_forms_that_make_no_sense_are_refused_with_what_would(bench: Bench, arguments: object, complaint: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        bench.prepare(AskUser(), **arguments)  # type: ignore[arg-type]
    assert complaint in caught.value.message


@pytest.mark.parametrize(
    ("question", "refused"),
    [
        ("Please enter the database password", True),
        ("What is your OpenAI API key?", True),
        ("Your GitHub access token:", True),
        ("Paste the private key here", True),
        ("Which password hashing algorithm should I use?", False),
        ("Where is the API key read from?", False),
        ("What is the project called?", False),
    ],
)
async def test_secrets_are_never_asked_for(bench: Bench, question: str, *, refused: bool) -> None:
    call = bench.prepare(AskUser(), questions=[{"question": question}])
    if refused:
        with pytest.raises(ToolError, match="Never ask") as caught:
            await call.run()
        assert caught.value.message == NO_SECRETS
    else:
        await call.run()
    assert len(bench.forms) == (0 if refused else 1)


async def test_without_forms_the_questions_are_text_with_which_the_turn_ends(bench: Bench) -> None:
    bench.answer = None
    result = await bench.call(AskUser(), questions=[LICENCE, {"question": "Name?"}], reason="It is needed.")
    assert result.asks.startswith("It is needed.\n\n**1. Which licence?**\n\n- ")
    assert result.asks.endswith("\n\n**2. Name?**")
