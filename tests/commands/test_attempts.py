"""`/try diff` and the table, for attempts of every kind."""

from collections.abc import Sequence

from claw_acp.commands.attempt_table import attempt_table, ranked
from claw_acp.commands.attempts import LONGEST_TEXT, MOST_TEXT, Try
from claw_acp.contracts.checkpoints import FileComparison
from claw_acp.contracts.command import CommandContext, Said
from claw_acp.core.events import Attempt, PathChange, PathState
from claw_acp.core.value import replace

CHANGE = PathChange(path="/p/a.txt", before=PathState(), after=PathState(kind="file", digest="x"))
GOOD = Attempt(number=1, model="a/b", status="completed", words="Done.", changes=(CHANGE,), added=5, passed=2)


class Attempts:
    """The attempts of a session, with what they changed."""

    def __init__(self, attempt: Attempt, compared: Sequence[FileComparison]) -> None:
        self.current = (attempt,)
        self._compared = compared

    def find(self, number: int) -> Attempt:
        assert number == 1
        return self.current[0]

    async def compare(self, number: int) -> Sequence[FileComparison]:
        assert number == 1
        return self._compared

    async def drop(self) -> None:
        raise AssertionError


async def shown(*texts: str, more: int = 0) -> Said:
    paths = [f"/p/{number}.txt" for number in range(len(texts) + more)]
    attempt = replace(GOOD, changes=tuple(replace(CHANGE, path=path) for path in paths))
    compared = [FileComparison(path=path[3:], old=None, new=text) for path, text in zip(paths, texts, strict=False)]
    fields = dict.fromkeys(CommandContext.__annotations__) | {"attempts": Attempts(attempt, compared)}
    result = await Try().run("diff 1", CommandContext(**fields))  # pyright: ignore[reportArgumentType]
    assert isinstance(result, Said)
    return result


def test_the_order_is_by_success_changes_checks_and_size() -> None:
    attempts = [
        replace(GOOD, number=1, status="failed"),
        replace(GOOD, number=2, changes=(), added=0),
        replace(GOOD, number=3, failed=1, added=1),
        replace(GOOD, number=4, added=9),
        replace(GOOD, number=5, added=8),
    ]
    assert [attempt.number for attempt in ranked(attempts)] == [5, 4, 3, 2, 1]


def test_words_of_models_cannot_break_the_table() -> None:
    row = attempt_table([replace(GOOD, words="a | b\n\n`c` " + "x" * 500, model="odd|model`")]).splitlines()[2]
    assert row.replace("\\|", "").count("|") == 8
    assert row.endswith("… |")
    assert "\\`c\\`" in row


async def test_what_an_editor_could_not_take_is_named() -> None:
    long, middle = "x" * (LONGEST_TEXT + 1), "x" * LONGEST_TEXT
    said = await shown("small", long, *[middle] * (MOST_TEXT // LONGEST_TEXT), more=7)
    assert len(said.diffs) == MOST_TEXT // LONGEST_TEXT
    assert "- `1.txt`: not shown" in said.text
    assert f"- `{MOST_TEXT // LONGEST_TEXT + 1}.txt`: not shown" in said.text
    assert "- and 7 more" in said.text
