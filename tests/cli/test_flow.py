import io
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from claw_acp.cli.terminal.paint import Paint
from claw_acp.cli.terminal.paragraphs import Paragraphs


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def written(pieces: Sequence[str], *, out: io.StringIO | None = None, width: int = 30, lead: str = "") -> str:
    out = out or io.StringIO()
    flow = Paragraphs(out, paint=Paint(out, environ={}), width=width, lead=lead)
    for piece in pieces:
        flow.feed(piece)
    flow.end()
    return out.getvalue()


def test_long_paragraphs_are_wrapped_at_words_and_indented() -> None:
    assert written(["one two three four five six seven eight"]) == "  one two three four five six\n  seven eight\n"


def test_a_lead_stands_before_the_first_line_only() -> None:
    assert written(["one two three four five six seven"], lead="· ") == "  · one two three four five\n    six seven\n"


def test_a_fenced_block_keeps_its_lines_behind_a_rule() -> None:
    text = "See:\n\n```python\ndef f():\n    return 'a long line that is not wrapped at all'\n```\n\nDone."

    assert written([text]) == (
        "  See:\n\n  │ def f():\n  │     return 'a long line that is not wrapped at all'\n\n  Done.\n"
    )


def test_code_is_bold_on_a_screen_and_keeps_its_quotes_elsewhere() -> None:
    assert written(["run `make`"], out=Screen()) == "  run \x1b[1mmake\x1b[0m\n"
    assert written(["run `make`"]) == "  run `make`\n"


def test_space_at_the_end_is_dropped() -> None:
    assert written(["done.\n\n\n"]) == "  done.\n"


@given(st.lists(st.text(alphabet="ab `\n", max_size=12), max_size=8))
def test_it_does_not_matter_how_the_text_is_cut(pieces: list[str]) -> None:
    assert written(pieces) == written(["".join(pieces)])
