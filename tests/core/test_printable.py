"""Text of strangers as a person sees it."""

import pytest

from claw_acp.core.markdown import code_block, code_span
from claw_acp.core.printable import for_terminal, in_reading_order, plain_json, plain_lines, printable

UNSEEN = (
    "\u0000\u0007\u0008\u000b\u000c\r\u001b\u007f\u0085\u009b\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u180e\u2000\u2007\u200b\u200d"
    "\u200e\u202a\u202e\u202f\u205f\u2060\u2066\u2069\u2800\u3000\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9\U000e0041\U000e0100\ud800"
)
SEEN = "aZ09 ~é漢字🙂❤\ufe0fñ“”…"


@pytest.mark.parametrize("mark", UNSEEN)
def test_a_character_that_cannot_be_seen_is_written_as_an_escape(mark: str) -> None:
    for shown in (printable(f"a{mark}b"), plain_lines(f"a{mark}b")):
        assert mark not in shown
        assert shown.startswith("a\\") and shown.endswith("b")  # noqa: PT018 - one thing is said


def test_what_can_be_seen_stays_as_it_is() -> None:
    assert printable(SEEN) == plain_lines(SEEN) == SEEN
    assert plain_lines("a\n  b\n") == "a\n  b\n"
    assert printable("a\nb\tc") == "a\\nb\\tc"


def test_a_gap_that_would_push_text_out_of_sight_is_counted() -> None:
    assert plain_lines(f"a{' ' * 500}b") == "a [500 spaces] b"
    assert plain_lines(f"a{chr(10) * 100}b") == "a\n[99 empty lines]\nb"


@pytest.mark.parametrize("text", ["a\tb\r\nc", "\U0001f468\u200d\U0001f469", "\u05d0\u200e x", "caf\u00e9 \u4f60"])
def test_a_terminal_is_given_text_that_only_looks_like_something_as_it_is(text: str) -> None:
    assert for_terminal(text) == text


@pytest.mark.parametrize(
    "steers", ["\x1b[2J", "\x9b2J", "a\rb", "a\bb", "\x07", "\x7f", "\u202ex", "\u2066x", "\ud800"]
)
def test_nothing_steers_a_terminal(steers: str) -> None:
    assert for_terminal(steers).isprintable()


def test_all_texts_of_a_json_value_are_shown() -> None:
    assert plain_json({"a\u202e": ["\u200b", 1, None, True]}) == {"a\\u202e": ["\\u200b", 1, None, True]}


@pytest.mark.parametrize("text", ["a", "```\nx", "`", "``` `` ````", "", " ", "a`"])
def test_no_text_closes_the_code_that_it_stands_in(text: str) -> None:
    first, *body, last = code_block(text).split("\n")
    assert "\n".join(body) == text
    assert first == last
    assert not any(line.startswith(first) for line in body)
    span = code_span(text)
    marks = len(span) - len(span.lstrip("`"))
    assert "`" * marks not in span[marks:-marks]


def test_lines_of_blanks_hide_nothing_and_marks_do_not_pile_up() -> None:
    assert plain_lines("ls" + "\n \n" * 8 + "\ntouch x") == "ls\n[16 empty lines]\ntouch x"
    assert printable("e\u0301e\u0301\u0323\u0335") == "e\u0301e\u0301\u0323\\u0335"
    assert printable("a\ufffcb") == "a\\ufffcb"


def test_words_of_right_to_left_letters_are_drawn_where_they_stand() -> None:
    assert in_reading_order("cat \u05d0\u05d1 > \u0628") == "cat \u200e\u05d0\u05d1\u200e > \u200e\u0628\u200e"
    assert in_reading_order("\u05d0 x") == "\u200e\u05d0\u200e x"


def test_text_without_right_to_left_letters_stays_as_it_is() -> None:
    assert in_reading_order(SEEN) == SEEN
