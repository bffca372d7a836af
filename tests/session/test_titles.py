"""How a session gets its name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.errors import InvalidRequest
from claw_acp.core.messages import ContentPart, ImagePart, TextPart
from claw_acp.session.titles import GIVEN_LIMIT, OUR_LIMIT, given_title, title_of, title_of_fork

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
        (["x" * OUR_LIMIT], "x" * OUR_LIMIT),
        (["x" * (OUR_LIMIT + 1)], "x" * (OUR_LIMIT - 1) + "…"),
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
        assert 0 < len(title) <= OUR_LIMIT
        assert title == title.strip()
        assert len(title.splitlines()) == 1


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("The mill", "The mill"),
        ("  The\t mill\n\nturns \u2028 ", "The mill turns"),
        ("The\x00mill\x1b[31m\x85\x9b", "The mill [31m"),
        ("a \ud800 b", "a ? b"),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f468\u200d\U0001f469\u200d\U0001f467"),
        ("x" * GIVEN_LIMIT, "x" * GIVEN_LIMIT),
        ("x" * (GIVEN_LIMIT + 1), "x" * (GIVEN_LIMIT - 1) + "…"),
    ],
)
def test_a_title_that_a_person_gives_is_tidied_and_bounded(given: str, kept: str) -> None:
    assert given_title(given) == kept


@pytest.mark.parametrize("given", ["", " \n\t ", "\x00", "\u200b\u2060"])
def test_a_title_without_anything_to_see_is_refused(given: str) -> None:
    with pytest.raises(InvalidRequest, match="at least one character"):
        given_title(given)


def test_a_copy_is_told_from_its_source_by_its_title() -> None:
    assert [title_of_fork(title) for title in ("The mill", "The mill (fork)", None)] == [
        "The mill (fork)",
        "The mill (fork)",
        None,
    ]
