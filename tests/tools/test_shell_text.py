"""Program output made fit to read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.contracts.workspace import ExitStatus, ending
from claw_acp.core.screen_text import readable
from claw_acp.tools.shell.text import clip, unseen


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain\n\ttext é", "plain\n\ttext é"),
        ("\x1b[1;31mred\x1b[0m \x1b[2K", "red "),
        ("\x1b]0;title\x07after \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "after link"),
        ("a\x1bPdata\x1b\\b\x1b_data\x1b\\c", "abc"),
        ("\x1b(Bx\x1b=\x1b>y", "xy"),
        ("a\x00b\x08c\x7f", "abc"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("10%\r50%\r", "50%"),
    ],
)
def test_output_reads_as_on_a_screen(output: str, text: str) -> None:
    assert readable(output) == text


def test_short_text_is_not_clipped() -> None:
    assert clip("abc", limit=3) == "abc"


def test_clipping_keeps_a_third_of_beginning_and_two_thirds_of_end_at_whole_lines() -> None:
    clipped = clip("".join(f"line {number:03}\n" for number in range(100)), limit=90)
    assert clipped == (
        "line 000\nline 001\nline 002\n"
        "[… 810 characters (90 line breaks) left out …]\n"
        "line 093\nline 094\nline 095\nline 096\nline 097\nline 098\nline 099\n"
    )


@given(text=st.text(alphabet="ab\n", max_size=300), limit=st.integers(min_value=1, max_value=100), tail=st.booleans())
def test_clipped_text_is_within_the_limit_and_made_of_the_ends(text: str, limit: int, *, tail: bool) -> None:
    clipped = clip(text, limit=limit, tail_only=tail)
    if len(text) <= limit:
        assert clipped == text
        return
    head, _, rest = clipped.partition("[… ")
    end = rest.partition("…]\n")[2]
    assert text.startswith(head.removesuffix("\n"))
    assert text.endswith(end)
    assert len(head.removesuffix("\n")) + len(end) <= limit
    assert not (tail and head)


@given(count=st.integers(0, 40), known=st.integers(0, 40), dropped=st.integers(0, 20_000))
def test_nothing_new_is_withheld(count: int, known: int, dropped: int) -> None:
    lines = [f"{number:>400}\n" for number in range(count)]
    whole, before = "".join(lines), "".join(lines[:known])
    now = whole[min(dropped, len(whole)) :]
    new = whole[len(before) :]
    assert unseen(now, before=before).endswith(new[max(len(new) - len(now), 0) :])
    assert unseen(whole, before=before) == new


def test_output_whose_beginning_was_dropped_goes_on_where_it_was_left() -> None:
    before = "".join(f"{number}\n" for number in range(2000))
    now = "".join(f"{number}\n" for number in range(500, 2500))
    assert unseen(now, before=before) == "".join(f"{number}\n" for number in range(2000, 2500))


def test_output_that_moved_on_altogether_is_given_whole() -> None:
    assert unseen("new", before="old") == "new"


def test_an_ending_is_told_in_words() -> None:
    assert (ending(ExitStatus(code=2)), ending(ExitStatus(signal="SIGKILL"))) == ("exit code 2", "killed by SIGKILL")
