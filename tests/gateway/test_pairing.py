"""Pairing codes and tokens, with a clock of the test."""

from pathlib import Path

import pytest

from claw_acp.core.errors import InvalidRequest
from claw_acp.gateway.access.pairing import ALPHABET, Pairing, PairingLocked, WrongCode
from claw_acp.gateway.access.scope import Scope
from claw_acp.gateway.access.token_store import TokenStore
from tests.support.fixed_clock import FixedClock

HERE = "192.0.2.1"
READ: frozenset[Scope] = frozenset({"read"})


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def tokens(tmp_path: Path, clock: FixedClock) -> TokenStore:
    return TokenStore(tmp_path, clock=clock)


@pytest.fixture
def pairing(tokens: TokenStore, clock: FixedClock) -> Pairing:
    return Pairing(tokens, clock=clock)


def test_a_code_is_short_and_cannot_be_misread(pairing: Pairing) -> None:
    code = pairing.begin(READ, lifetime=None)
    assert len(code) == 8
    assert set(code) <= set(ALPHABET)
    assert not set("0O1I") & set(ALPHABET)


def test_a_code_lasts_ten_minutes(pairing: Pairing, clock: FixedClock) -> None:
    code = pairing.begin(READ, lifetime=None)
    clock.seconds += 601
    with pytest.raises(WrongCode):
        pairing.finish(code, "late", address=HERE)


def test_three_codes_may_wait(pairing: Pairing, clock: FixedClock) -> None:
    for _ in range(3):
        pairing.begin(READ, lifetime=None)
    with pytest.raises(InvalidRequest):
        pairing.begin(READ, lifetime=None)
    clock.seconds += 601
    pairing.begin(READ, lifetime=None)


def test_an_address_with_five_wrong_codes_waits_ten_minutes_and_others_do_not(
    pairing: Pairing, clock: FixedClock
) -> None:
    code = pairing.begin(READ, lifetime=None)
    for number in range(5):
        with pytest.raises(WrongCode):
            pairing.finish(f"2222222{number + 2}", "guess", address="2001:db8::1")
    with pytest.raises(PairingLocked):
        pairing.finish(code, "right", address="2001:db8::beef")  # of the same network
    pairing.finish(code, "right", address=HERE)
    clock.seconds += 601
    pairing.finish(pairing.begin(READ, lifetime=None), "later", address="2001:db8::1")


def test_a_thousand_wrong_codes_from_everywhere_drop_those_that_wait(pairing: Pairing) -> None:
    code = pairing.begin(READ, lifetime=None)
    for number in range(1000):
        with pytest.raises(WrongCode):
            pairing.finish("22222222", "guess", address=f"2001:db8:0:{number:x}::1")
    with pytest.raises(WrongCode):
        pairing.finish(code, "right", address=HERE)
    pairing.finish(pairing.begin(READ, lifetime=None), "right", address=HERE)


def test_wrong_codes_while_none_waits_lock_nothing(pairing: Pairing) -> None:
    for _ in range(9):
        with pytest.raises(WrongCode):
            pairing.finish("22222222", "guess", address=HERE)
    assert pairing.begin(READ, lifetime=None)


def test_a_name_that_is_taken_leaves_the_code_usable(pairing: Pairing, tokens: TokenStore) -> None:
    tokens.add("phone", READ, lifetime=None)
    code = pairing.begin(READ, lifetime=None)
    with pytest.raises(InvalidRequest):
        pairing.finish(code, "phone", address=HERE)
    token, _ = pairing.finish(code, "phone 2", address=HERE)
    held = tokens.find(token.reveal())
    assert held is not None
    assert held.name == "phone 2"


def test_a_token_ends_when_it_was_said_and_its_name_is_free_again(tokens: TokenStore, clock: FixedClock) -> None:
    token = tokens.add("guest", READ, lifetime=60).reveal()
    assert tokens.find(token)
    clock.seconds += 61
    assert (stored := tokens.find(token)) is not None
    assert not tokens.is_valid(stored)
    tokens.add("guest", READ, lifetime=60)


def test_a_file_of_tokens_that_cannot_be_read_lets_nobody_in(tokens: TokenStore, tmp_path: Path) -> None:
    token = tokens.add("guest", READ, lifetime=None).reveal()
    (tmp_path / "serve-tokens.json").write_text("[]")
    assert tokens.find(token) is None
