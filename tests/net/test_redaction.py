"""Keys in words that services write."""

from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest

from claw_acp.net.redaction import MASK, masked, masked_pieces

KEY = "own/key+Zq81Xy72Mn34"


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        quote(KEY, safe=""),
        KEY.encode().hex(),
        b64encode(KEY.encode()).decode(),
        urlsafe_b64encode(KEY.encode()).decode(),
    ],
)
def test_a_key_that_a_service_repeats_in_another_form_is_masked(written: str) -> None:
    assert written[4:-4] not in masked(f"invalid key {written}!", secrets=[KEY])
    [piece] = masked_pieces([f"invalid key {written}!".encode()], secrets=[KEY])
    assert written[4:-4].encode() not in piece
    assert MASK.encode() in piece


@pytest.mark.parametrize("beginning", ["sk-", "x-amz-security-token:"])
def test_many_beginnings_in_one_run_are_one_key(beginning: str) -> None:
    text = beginning * 20_000  # a look at each of them to the end of the run would take minutes
    assert len(masked_pieces([text.encode()])[0]) < 50
