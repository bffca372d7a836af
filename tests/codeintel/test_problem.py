"""Problems: which of them are new, and how they are listed."""

from pathlib import Path

from claw_acp.codeintel.problem import MOST_LISTED, Problem, listed, new_problems, problems_of

ROOT = Path("/project")


def problem(message: str, *, line: int = 1, text: str = "x = 1") -> Problem:
    return Problem(path=ROOT / "a.py", line=line, column=5, source="pyright", code="rule", message=message, text=text)


def test_a_problem_that_has_only_moved_is_not_new() -> None:
    assert new_problems([problem("m", line=9, text="  x = 1")], before=[problem("m")]) == []


def test_the_same_problem_once_more_is_new() -> None:
    twice = [problem("m"), problem("m", line=2)]
    assert new_problems(twice, before=[problem("m")]) == [twice[1]]


def test_the_same_message_about_another_line_is_new() -> None:
    assert new_problems([problem("m", text="y = 1")], before=[problem("m")]) == [problem("m", text="y = 1")]


def test_a_list_is_short_and_each_problem_one_line() -> None:
    lines = listed([problem(f"one\n  two \x1b[0m {number} {'x' * 900}") for number in range(30)], root=ROOT).split("\n")
    assert len(lines) == MOST_LISTED + 1
    assert lines[0].startswith("a.py:1:5 error rule one; two \\x1b[0m 0 xxx")
    assert len(lines[0]) < 350
    assert lines[-1] == "and 10 more"


def test_diagnostics_are_read_whatever_is_missing_in_them() -> None:
    items = [
        {"message": "whole", "severity": 2, "code": 7, "source": "s", "range": {"start": {"line": 1, "character": 2}}},
        {"message": "bare"},
        {"message": "a hint", "severity": 4},
        {"message": ["no text"]},
        "nothing",
        {"message": "far", "range": {"start": {"line": 99, "character": -1}}},
    ]
    found = problems_of(items, path=ROOT / "a.c", text="one\ntwo\n")
    assert [(each.line, each.column, each.severity, each.code, each.message, each.text) for each in found] == [
        (2, 3, "warning", "7", "whole", "two"),
        (1, 1, "error", "", "bare", "one"),
        (100, 1, "error", "", "far", ""),
    ]
    assert problems_of({"items": 1}, path=ROOT, text="") == []
