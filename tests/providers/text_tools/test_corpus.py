"""Calls in text: found where a model means them, in every form, never where it only speaks of them, at every cut."""

from operator import attrgetter

import pytest

from tests.providers.text_tools.corpus import Row, arguments, read, rows

CALLS, TEXTS = rows("calls.txt"), rows("texts.txt")


@pytest.mark.parametrize("row", CALLS, ids=attrgetter("title"))
def test_a_call_is_understood_or_goes_back_as_an_error(row: Row) -> None:
    text, calls = read(row.answer, mode=row.mode)
    assert [(call.name, arguments(call)) for call in calls] == list(row.calls)
    assert text == row.text


@pytest.mark.parametrize("row", TEXTS, ids=attrgetter("title"))
def test_what_only_shows_or_mentions_a_call_is_text(row: Row) -> None:
    assert read(row.answer, mode=row.mode) == (row.text, [])


@pytest.mark.parametrize("row", [*CALLS, *TEXTS], ids=attrgetter("title"))
def test_wherever_an_answer_is_cut_the_same_comes_out(row: Row) -> None:
    whole = read(row.answer, mode=row.mode)
    for cut in range(1, len(row.answer)):
        assert read(row.answer[:cut], row.answer[cut:], mode=row.mode) == whole
    assert read(*row.answer, mode=row.mode) == whole
