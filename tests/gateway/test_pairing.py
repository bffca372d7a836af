"""Pairing codes and tokens, with a clock of the test."""

from pathlib import Path

import pytest

from claw_acp.core.errors import InvalidRequest
from claw_acp.gateway.access.pairing import ALPHABET, Pairing, PairingLocked, WrongCode
from claw_acp.gateway.access.scope import Scope
from claw_acp.gateway.access.token_store import TokenStore
from tests.support.fixed_clock import FixedClock

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
        pairing.finish(code, "late")


def test_three_codes_may_wait(pairing: Pairing, clock: FixedClock) -> None:
    for _ in range(3):
        pairing.begin(READ, lifetime=None)
    with pytest.raises(InvalidRequest):
        pairing.begin(READ, lifetime=None)
    clock.seconds += 601
    pairing.begin(READ, lifetime=None)


def test_five_wrong_codes_lock_pairing_for_ten_minutes(pairing: Pairing, clock: FixedClock) -> None:
    code = pairing.begin(READ, lifetime=None)
    for _ in range(5):
        with pytest.raises(WrongCode):
            pairing.finish("22222222", "guess")
    for attempt in (lambda: pairing.finish(code, "right"), lambda: pairing.begin(READ, lifetime=None)):
        with pytest.raises(PairingLocked):
            attempt()
    clock.seconds += 601
    with pytest.raises(WrongCode):  # the code of before is gone, too
        pairing.finish(code, "right")
    pairing.finish(pairing.begin(READ, lifetime=None), "right")


def test_wrong_codes_while_none_waits_lock_nothing(pairing: Pairing) -> None:
    for _ in range(9):
        with pytest.raises(WrongCode):
            pairing.finish("22222222", "guess")
    assert pairing.begin(READ, lifetime=None)


def test_a_name_that_is_taken_leaves_the_code_usable(pairing: Pairing, tokens: TokenStore) -> None:
    tokens.add("phone", READ, lifetime=None)
    code = pairing.begin(READ, lifetime=None)
    with pytest.raises(InvalidRequest):
        pairing.finish(code, "phone")
    token, _ = pairing.finish(code, "phone 2")
    held = tokens.holder(token.reveal())
    assert held is not None
    assert held.name == "phone 2"


def test_a_token_ends_when_it_was_said_and_its_name_is_free_again(tokens: TokenStore, clock: FixedClock) -> None:
    token = tokens.add("guest", READ, lifetime=60).reveal()
    assert tokens.holder(token)
    clock.seconds += 61
    assert tokens.holder(token) is None
    tokens.add("guest", READ, lifetime=60)


def test_a_file_of_tokens_that_cannot_be_read_lets_nobody_in(tokens: TokenStore, tmp_path: Path) -> None:
    token = tokens.add("guest", READ, lifetime=None).reveal()
    (tmp_path / "serve-tokens.json").write_text("[]")
    assert tokens.holder(token) is None
