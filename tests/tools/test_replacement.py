import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.errors import ToolError
from claw_acp.tools.files.line_changes import changed_lines
from claw_acp.tools.files.replacement import Replacement, replaced
from claw_acp.tools.files.text_shape import TextShape, with_newline

# few letters, so that texts meet; with the characters that regular expressions and line counts trip over
TEXT = st.text(alphabet="ab \t\n.*(\\ü\u2028", max_size=40)
NEW = st.text(alphabet="ab\n\\1g<0>ü", max_size=10)


def occurrences(text: str, old: str) -> int:
    return sum(text.startswith(old, index) for index in range(len(text)))


@given(text=TEXT, old=TEXT.filter(bool), new=NEW)
def test_a_unique_replacement_is_what_python_replaces_and_anything_else_an_error(text: str, old: str, new: str) -> None:
    if occurrences(text, old) == 1 and old != new:
        assert replaced(text, [Replacement(old=old, new=new)], shown="f") == text.replace(old, new)
    else:
        with pytest.raises(ToolError):
            replaced(text, [Replacement(old=old, new=new)], shown="f")


@given(text=TEXT, old=TEXT.filter(bool), new=NEW)
def test_replacing_everywhere_is_what_python_replaces(text: str, old: str, new: str) -> None:
    if old in text and old != new:
        assert replaced(text, [Replacement(old=old, new=new, everywhere=True)], shown="f") == text.replace(old, new)


@given(before=TEXT, after=TEXT, old=TEXT.filter(bool), new=NEW)
def test_a_text_cut_from_the_file_is_always_found(before: str, after: str, old: str, new: str) -> None:
    text = before + old + after
    if old != new:
        result = replaced(text, [Replacement(old=old, new=new, everywhere=True)], shown="f")
        assert result == text.replace(old, new)


@given(text=TEXT, old=TEXT.filter(bool), new=NEW)
def test_a_crlf_file_is_edited_like_its_line_feed_twin(text: str, old: str, new: str) -> None:
    edit = Replacement(old=old, new=new)
    try:
        expected = with_newline(replaced(text, [edit], shown="f"), "\r\n")
    except ToolError:
        with pytest.raises(ToolError):
            replaced(with_newline(text, "\r\n"), [edit], shown="f")
        return
    result = replaced(with_newline(text, "\r\n"), [edit], shown="f")
    # a file of one line has no line ends that could be kept
    assert result == (expected if "\n" in text else with_newline(expected, "\n"))


@given(text=TEXT, edits=st.lists(st.tuples(TEXT.filter(bool), NEW), min_size=1, max_size=4))
def test_several_edits_are_all_applied_or_none(text: str, edits: list[tuple[str, str]]) -> None:
    expected: str | None = text
    for old, new in edits:
        unique = expected is not None and old != new and occurrences(expected, old) == 1
        expected = expected.replace(old, new) if expected is not None and unique else None
    replacements = [Replacement(old=old, new=new) for old, new in edits]
    if expected is None:
        with pytest.raises(ToolError):
            replaced(text, replacements, shown="f")
    else:
        assert replaced(text, replacements, shown="f") == expected


@given(old=TEXT, new=TEXT)
def test_lines_outside_the_changed_ranges_are_lines_of_the_old_text(old: str, new: str) -> None:
    ranges = changed_lines(old, new)
    assert bool(ranges) == (old != new)
    changed = {line for item in ranges for line in range(item.first, item.last + 1)}
    kept = [row for number, row in enumerate(new.split("\n"), start=1) if number not in changed]
    rows = iter(old.split("\n"))
    assert all(row in rows for row in kept if row)  # in the same order


@given(text=TEXT)
def test_a_text_has_its_own_shape(text: str) -> None:
    for variant in (text, with_newline(text, "\r\n"), f"\ufeff{text}"):
        assert TextShape.of(variant).applied(with_newline(variant, "\n")) == variant
