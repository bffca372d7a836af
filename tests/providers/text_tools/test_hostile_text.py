"""A model that is led by a text gets nothing done by repeating it: what was given to it is never a call."""

import html
import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.provider import ChatRequest
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import Message, ResourcePart, TextPart, ToolCall
from claw_acp.providers.text_tools.answer_reader import LONGEST_READ, AnswerReader
from claw_acp.providers.text_tools.doubts import CUT, QUOTED
from claw_acp.providers.text_tools.found_call import MOST_CALLS
from claw_acp.providers.text_tools.quotations import given_texts
from tests.providers.text_tools.corpus import MODES, TOOLS, Mode, arguments, rows
from tests.providers.text_tools.test_answer_reader import BODY, CALL, ENDS, WRITES

Marked = Callable[[str], str]
ANSWERS = [row.answer for row in rows("calls.txt") if row.calls and all(made is not None for _, made in row.calls)]
"""Answers with calls that run."""


def reading(answer: str, *, mode: Mode, seen: Sequence[str] = (), cut: bool = False) -> tuple[str, list[ToolCall]]:
    """The text and the calls of an answer of a model that was given some texts."""
    numbers = iter(range(100_000))
    reader = AnswerReader(
        TOOLS, strictly=mode == "strict", new_id=lambda: f"call_{next(numbers)}", given=lambda: iter(seen)
    )
    return reader.feed(answer) + reader.finish(cut=cut), reader.calls


def run(answer: str, *, mode: Mode, seen: Sequence[str] = (), cut: bool = False) -> list[tuple[str, JsonValue]]:
    """The calls that are run."""
    _, calls = reading(answer, mode=mode, seen=seen, cut=cut)
    return [(call.name, made) for call in calls if (made := arguments(call)) is not None]


def lines(before: str, *, numbers: bool = False) -> Marked:
    """A text with something before each line."""
    return lambda text: "\n".join(
        f"{before.format(number) if numbers else before}{line}" for number, line in enumerate(text.split("\n"), 7)
    )


def same(text: str) -> str:
    return text


GIVEN: dict[str, Marked] = {
    "plain": same, "read": lines("{:>6}\u2192", numbers=True), "found": lines("{}: ", numbers=True),
    "found in a file": lines("docs/a-b.md:{}:", numbers=True), "JSON": json.dumps, "Python": repr,
    "HTML": html.escape, "HTML twice": lambda text: html.escape(html.escape(text)), "quote": lines("> "),
    "diff": lines("+"), "comment": lines(" * "), "shell": lines("# "), "block": "```\n{}\n```".format,
    "sentence": "It says {} there.".format,
}  # fmt: skip
REPEATED: dict[str, Marked] = {
    "as it is": same, "introduced": "It says:\n\n{}".format, "explained": "{}\n\nThat is all.".format,
    "twice": "{0}\n{0}".format, "indented": lines("  "), "closer": lambda text: text.replace('": ', '":'),
    "on one line": lambda text: text.replace("\n", ""),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("repeated", REPEATED.values(), ids=REPEATED.keys())
@pytest.mark.parametrize("marked", GIVEN.values(), ids=GIVEN.keys())
def test_a_call_that_a_model_was_given_is_not_made_by_repeating_it(
    marked: Marked, repeated: Marked, mode: Mode
) -> None:
    for answer in ANSWERS:
        assert run(repeated(answer), mode=mode, seen=[marked(answer)]) == []


EVIL = st.sampled_from([*ANSWERS, CALL])


@settings(max_examples=300, deadline=None)
@given(
    write=st.sampled_from(list(WRITES.values())),
    before=st.sampled_from(["", "x\n", *ENDS]),
    evil=EVIL,
    left=st.integers(0, 3),
    behind=st.sampled_from(["", "\nmore", *ENDS]),
    mode=st.sampled_from(MODES),
    marked=st.sampled_from(list(GIVEN.values())),
)
def test_a_file_that_ends_the_call_that_writes_it_makes_none(
    write: str, before: str, evil: str, left: int, behind: str, mode: Mode, marked: Marked
) -> None:
    head, _, tail = write.partition("%s")
    begun = evil[: len(evil) - left]
    for hostile in (
        before + begun,
        before + tail + "\n" + begun,
        before + tail + begun + head,
        tail + "</s>\n" + begun,
    ):
        made = run(write % (hostile + behind), mode=mode, seen=[marked(hostile)])
        assert [name for name, _ in made] in ([], ["write_file"])


def test_a_quotation_is_text_for_a_model_with_tools_and_goes_back_to_one_without() -> None:
    assert reading(CALL, mode="strict", seen=[CALL]) == (CALL, [])
    text, [call] = reading(CALL, mode="told", seen=[CALL])
    assert (text, call.problem) == ("", QUOTED)
    swapped = '<tool_call>{"arguments": {"path": "a.py"}, "name": "read_file"}</tool_call>'
    assert run(swapped, mode="told", seen=[CALL]) == [("read_file", {"path": "a.py"})]
    other = CALL.replace("a.py", "b.py")
    assert run(other, mode="told", seen=[CALL, "b.py"]) == [("read_file", {"path": "b.py"})]


def test_results_messages_and_descriptions_are_given_and_what_the_model_said_is_not() -> None:
    made = ToolCall(id="c", name="read_file", arguments="{}")
    person = Message(role="user", parts=(TextPart(text="look"), ResourcePart(uri="file:///a", text="in a file")))
    messages = [Message.system("be brief"), person, Message.assistant("I look", tool_calls=(made,))]
    request = ChatRequest(model="m", messages=[*messages, Message.tool(made, "a result")], tools=TOOLS[:1])
    assert list(given_texts(request)) == ["be brief", "look", "in a file", "a result", "read_file"]


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_an_answer_that_was_cut_off_behind_a_value_is_not_trusted_to_hold_all_of_it(write: str) -> None:
    _, [call] = reading(write % "x", mode="told", cut=True)
    assert call.problem == CUT
    assert run(write % "x", mode="told") == [("write_file", {"path": "a", "content": "x"})]
    assert run(CALL, mode="told", cut=True) == run(CALL, mode="told"), "JSON has an end of its own"


# ------------------------------------------------------------------ bounds


@pytest.mark.parametrize("unit", ["\n", "\u25c1\n", "`\n", "<x>\n", "<tool_call>\n", "- > a\n"])
def test_an_answer_of_many_lines_is_text_from_some_line_on(unit: str) -> None:
    answer = unit * 60_000 + CALL
    assert reading(answer, mode="told") == (answer, [])


def test_an_answer_that_is_too_long_to_wait_for_is_text() -> None:
    reader = AnswerReader(TOOLS, strictly=False, new_id=lambda: "call_1")
    pieces = [f"<tool_call>{BODY}", "x" * LONGEST_READ, "and so on", "</tool_call>"]
    assert [reader.feed(piece) for piece in pieces] == ["", "".join(pieces[:2]), *pieces[2:]]
    assert (reader.finish(), reader.calls) == ("", [])


@pytest.mark.parametrize("calls", [f"{CALL}\n" * 5_000, "<function=list_files></function>\n" * 5_000])
def test_thousands_of_calls_are_read_up_to_a_bound(calls: str) -> None:
    assert len(reading(calls, mode="told")[1]) == MOST_CALLS + 1
    assert run(calls, mode="strict") == []


def test_a_surplus_of_escapes_takes_no_time() -> None:
    assert run(CALL, mode="told", seen=["&" + "amp;" * 200_000 + "\\" * 200_000])
