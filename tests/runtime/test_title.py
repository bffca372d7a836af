"""How a session gets its name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.messages import ContentPart, ImagePart, TextPart
from claw_acp.runtime.turns import TITLE_LIMIT, title_of

PICTURE = ImagePart(data="AAAA", mime_type="image/png", uri=None)
LONG = "word " * 30


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (["Fix the tests"], "Fix the tests"),
        (["  Fix the tests \nthat fail\n"], "Fix the tests"),
        (["\n\n  Fix them"], "Fix them"),
        (["Fix", "them"], "Fix them"),
        ([], None),
        (["   \n\t"], None),
        (["x" * TITLE_LIMIT], "x" * TITLE_LIMIT),
        (["x" * (TITLE_LIMIT + 1)], "x" * (TITLE_LIMIT - 1) + "…"),
        ([LONG], " ".join(["word"] * 11) + "…"),
    ],
)
def test_it_is_the_first_line_cut_at_a_word(texts: list[str], title: str | None) -> None:
    parts: list[ContentPart] = [PICTURE, *(TextPart(text=text) for text in texts)]
    assert title_of(parts) == title


@given(st.lists(st.text(alphabet=st.sampled_from("ab \n\t\r\u2028x…"), max_size=200), max_size=4))
def test_it_is_short_and_one_line_whatever_was_asked(texts: list[str]) -> None:
    title = title_of([TextPart(text=text) for text in texts])
    if title is None:
        assert not "".join(texts).strip()
    else:
        assert 0 < len(title) <= TITLE_LIMIT
        assert title == title.strip()
        assert len(title.splitlines()) == 1
