"""Turns that go round in circles: which calls are noted, refused, and end the turn, and which never are."""

from collections.abc import Iterator, Sequence
from itertools import chain, cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.agent.repetition import RepetitionGuard
from claw_acp.contracts.tool import ToolResult
from claw_acp.core.messages import TextPart
from claw_acp.core.value import Value
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import shown_text
from tests.support.script_files import Script, call, expect, say, turn


class Made(Value):
    """A call as a model makes it, with the result it would get."""

    tool: str
    arguments: str = "{}"
    result: str = "done"
    changes: bool = False
    failed: bool = False
    seconds: float = 0.0


def read(path: str, text: str = "text") -> Made:
    return Made(tool="read_file", arguments=f'{{"path": "{path}"}}', result=f"{path}: {text}")


def grep(word: str) -> Made:
    return Made(tool="grep", arguments=f'{{"pattern": "{word}"}}', result=f"Nothing in src matches {word}.")


def edit(old: str, new: str) -> Made:
    return Made(tool="edit_file", arguments=f'{{"old": "{old}", "new": "{new}"}}', changes=True)


def check(result: str = "1 failed", *, seconds: float = 0.0) -> Made:
    line = '{"command": "pytest"}'
    return Made(tool="shell", arguments=line, result=result, failed=True, seconds=seconds)


def outcomes(*answers: Sequence[Made]) -> str:
    """A letter for each answer: `.` as it is, `n` noted, `r` refused, `s` refused and the turn ends here."""
    guard, letters = RepetitionGuard(), ""
    for answer in answers:
        guard.next_answer()
        letter = "."
        for made in answer:
            if guard.refusal(made.tool, made.arguments) is not None:
                letter = "r"
                continue
            given = ToolResult(parts=(TextPart(text=made.result),), failed=made.failed)
            kept = guard.watched(made.tool, made.arguments, given, changes=made.changes, seconds=made.seconds)
            letter = "n" if kept != given and letter == "." else letter
        letters += "s" if guard.explanation else letter
        if guard.explanation:
            break
    return letters


def each(calls: Iterator[Made] | Sequence[Made], count: int) -> list[tuple[Made]]:
    return [(made,) for made in islice(calls, count)]


CIRCLES = {
    "one call": (each(cycle([read("a")]), 9), "..nrrs"),
    "one call, spelt differently": (
        each(cycle([Made(tool="t", arguments='{"a":1,"b":2}'), Made(tool="t", arguments='{ "b": 2, "a": 1 }')]), 9),
        "..nrrs",
    ),
    "two calls that take turns": (each(cycle([read("a"), read("b")]), 12), "....nnrrs"),
    "an edit and its opposite": (each(cycle([edit("x", "y"), edit("y", "x")]), 12), ".....nnrrs"),
    "an edit, its opposite, and tests with a time in them": (
        each(
            chain.from_iterable((edit("x", "y"), check(f"{n}"), edit("y", "x"), check(f"{n}b")) for n in range(9)), 30
        ),
        "..........n.n.r.r.s",
    ),
    "an error": (each(cycle([Made(tool="read_file", result="no such file", failed=True)]), 9), "..nrrs"),
    "searches that find nothing": (each((grep(f"word{n}") for n in range(20)), 20), ".....nnnrrs"),
    "several at once": ([(read("a"), read("b"), read("c"))] * 9, "..nrrs"),
}


@pytest.mark.parametrize("name", CIRCLES)
def test_a_turn_that_goes_round_in_circles_is_told_then_refused_then_ended(name: str) -> None:
    answers, letters = CIRCLES[name]
    assert outcomes(*answers).startswith(letters)


SENSIBLE = {
    "a task whose output changes": each((Made(tool="shell_output", result=f"{n} %") for n in range(40)), 40),
    "a task that is waited for": each(cycle([Made(tool="shell_output", seconds=30.0)]), 40),
    "tests that take long": each(cycle([check(seconds=8.0)]), 40),
    "tests after each edit": each(chain.from_iterable((edit("x", f"{n}"), check()) for n in range(30)), 60),
    "the same file after each edit": each(chain.from_iterable((edit("x", f"{n}"), read("a")) for n in range(30)), 60),
    "many files": each((read(f"file{n}", f"text {n}") for n in range(60)), 60),
    "one call many times at once": [(read("a"),) * 16],
    "many searches at once": [tuple(grep(f"word{n}") for n in range(30)), (read("a"),)],
    "a file again, much later": each(
        chain.from_iterable([read("a"), *(read(f"{n}-{m}", f"{n} {m}") for m in range(20))] for n in range(5)), 105
    ),
}


@pytest.mark.parametrize("name", SENSIBLE)
def test_work_that_gets_somewhere_is_never_noted(name: str) -> None:
    assert set(outcomes(*SENSIBLE[name])) == {"."}


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=3), max_size=60))
def test_a_turn_without_anything_new_ends_whatever_it_calls(answers: list[list[str]]) -> None:
    known = [[read(name) for name in "abcd"]]
    rest = [[read(name) for name in names or "a"] for names in answers]
    endless = [[read("a")], [read("b")], [read("c")], [read("d")]] * 5
    assert outcomes(*known, *rest, *endless)[-1] == "s"


@given(st.lists(st.integers(0, 3), max_size=80))
def test_calls_with_results_never_seen_before_are_never_refused(names: list[int]) -> None:
    answers = [(Made(tool="t", arguments=f"{name}", result=f"{place}"),) for place, name in enumerate(names)]
    assert set(outcomes(*answers)) <= {"."}


def test_what_the_person_says_meanwhile_gives_a_fresh_start() -> None:
    guard, result = RepetitionGuard(), ToolResult(parts=(TextPart(text="same"),))
    for _ in range(3):
        guard.next_answer()
        guard.watched("t", "{}", result)
    assert guard.refusal("t", "{}") is not None
    guard.forgive()
    assert guard.refusal("t", "{}") is None


async def test_a_model_that_reads_one_file_for_ever_is_stopped_and_the_person_told(opened: Spawn) -> None:
    script = Script(turn(call("read_file", path="a.txt")), loop=True)
    async with opened(script=script) as editor:
        outcome = await editor.prompt("go")
        assert outcome.stop_reason == "end_turn"
        assert "went round in circles" in outcome.text
        assert [tool["status"] for tool in outcome.calls] == ["completed"] * 3 + ["failed"] * 3
        assert "3 times with these arguments" in shown_text(outcome.calls[3])


async def test_commands_that_only_look_are_no_changes_however_many_there_are(opened: Spawn) -> None:
    looks = [turn(call("shell", command=f"find . -name nothing{number}")) for number in range(30)]
    async with opened(script=Script(*looks)) as editor:
        outcome = await editor.prompt("go")
        assert "went round in circles" in outcome.text


async def test_a_model_that_heeds_the_refusal_goes_on(opened: Spawn) -> None:
    same = turn(call("read_file", path="a.txt"))
    script = Script(same, same, same, same, turn(expect("Not run."), say("another way")))
    async with opened(script=script) as editor:
        outcome = await editor.prompt("go")
        assert (outcome.stop_reason, outcome.text) == ("end_turn", "another way")
