"""Whose price a model has where its provider goes by another name, or does not exist."""

from pathlib import Path

from claw_acp.contracts.model_price import Price
from claw_acp.providers.catalog.price_list import FREE, rate_of
from tests.providers.catalog.test_cost import listed


def test_a_price_for_another_name_of_a_service_is_that_services_price(tmp_path: Path) -> None:
    own = '[prices."google/x1"]\ninput = 1\noutput = 10\n[prices."google/*"]\ninput = 2\noutput = 20\n'
    prices = listed(tmp_path, own)
    assert prices.price("gemini/x1") == prices.price("google/x1") == Price(rate=rate_of(1, 10))
    assert prices.price("gemini/other") == Price(rate=rate_of(2, 20))


def test_a_provider_of_the_users_own_keeps_its_prices_to_itself(tmp_path: Path) -> None:
    own = '[providers.google]\nkind = "openai"\nbase_url = "https://models.example.com/v1"\n'
    prices = listed(tmp_path, own + '[prices."google/x1"]\ninput = 1\noutput = 10\n')
    assert (prices.price("gemini/x1"), prices.price("google/x1")) == (None, Price(rate=rate_of(1, 10)))


def test_what_is_replayed_costs_nothing(tmp_path: Path) -> None:
    recording = tmp_path / "exchanges.jsonl"
    prices = listed(
        tmp_path, f'[providers.openai]\nreplay = "{recording}"\n[prices."openai/*"]\ninput = 1\noutput = 1\n'
    )
    assert prices.price("openai/gpt-5.1") == FREE
