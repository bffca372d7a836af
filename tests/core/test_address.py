"""What of an address may be shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.address import bare_address, secrets_in, shown_address

WORDS = st.text("abcXYZ0189.-_%", min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("address", "shown", "bare"),
    [
        ("https://api.x.ai/v1", "https://api.x.ai/v1", "https://api.x.ai/v1"),
        ("http://127.0.0.1:8080/v1/@cf/meta", "http://127.0.0.1:8080/v1/@cf/meta", "http://127.0.0.1:8080/v1/@cf/meta"),
        ("http://user:s3cret@h:9/v1?api-key=Q", "http://***@h:9/v1?api-key=***", "http://h:9/v1"),
        ("https://token@h", "https://***@h", "https://h"),
        ("user:pw@h/v1", "***@h/v1", "h/v1"),
        ("http://u:p/w@h/v1", "http://***@h/v1", "http://h/v1"),
        ("http://h?a=1&b=2&c", "http://h?a=***&b=***&***", "http://h"),
        ("http://h#secret", "http://h?***", "http://h"),
        ("http://[::1", "http://[::1", "http://[::1"),
        ("", "", ""),
    ],
)
def test_the_login_and_the_values_of_the_query_are_hidden(address: str, shown: str, bare: str) -> None:
    assert (shown_address(address), bare_address(address)) == (shown, bare)


def test_what_is_hidden_is_known_as_written_and_as_meant() -> None:
    assert set(secrets_in("http://u:p%40ss@h/v1?k=a%20b&token")) == {
        "u:p%40ss",
        "u:p@ss",
        "p%40ss",
        "p@ss",
        "a%20b",
        "a b",
        "token",
    }


@given(user=WORDS, password=WORDS, value=WORDS)
def test_no_secret_is_left(user: str, password: str, value: str) -> None:
    address = f"http://Q{user}Q:Q{password}Q@host:1/v1?key=Q{value}Q"
    for text in (shown_address(address), bare_address(address)):
        assert not any(f"Q{secret}Q" in text for secret in (user, password, value))
    assert {f"Q{password}Q", f"Q{value}Q"} <= set(secrets_in(address))
