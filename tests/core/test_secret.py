"""Secrets and strangers' text."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.printable import printable
from claw_acp.core.secret import Secret


def test_a_secret_is_printed_nowhere_and_revealed_on_request() -> None:
    secret = Secret("sk-hush")
    assert [str(secret), repr(secret), f"{secret}", str([secret])] == ["Secret(•••)"] * 3 + ["[Secret(•••)]"]
    assert secret.reveal() == "sk-hush"


def test_secrets_are_equal_when_their_texts_are() -> None:
    assert Secret("ä") == Secret("ä")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert not Secret("")


def test_a_secret_cannot_be_pickled() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(Secret("sk-hush"))


def test_control_characters_are_shown_and_not_obeyed() -> None:
    assert printable("plain ä 漢") == "plain ä 漢"
    assert printable("a\x1b[2Jb\nc\u202e\udc80") == r"a\x1b[2Jb\nc\u202e\udc80"


@given(st.text())
def test_any_text_becomes_printable(text: str) -> None:
    assert printable(text).isprintable()
