"""What requests cost: tokens times prices, never off by a fraction; and whose price applies."""

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from claw_acp.config.discovered_models import DiscoveredModels
from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.contracts.model_price import Price, Rate
from claw_acp.core.messages import Usage
from claw_acp.core.money import DOLLAR, from_dollars, per_token, shown, to_dollars
from claw_acp.core.value import replace
from claw_acp.providers.catalog.price_list import FREE, PriceList, cost_of, rate_of
from tests.support.fixed_clock import FixedClock
from tests.support.servers.published_reference import published

MILLION = 1_000_000
NOON = 1_790_000_000.0 // 86400 * 86400 + 43200
prices = st.integers(min_value=0, max_value=10**9).map(lambda micro: micro / 10**6)  # up to six decimals
tokens = st.integers(min_value=0, max_value=2_000_000)


@settings(max_examples=60)
@given(prices, prices, st.none() | prices, st.none() | prices, st.lists(st.tuples(tokens, tokens, tokens, tokens)))
def test_sums_are_what_decimals_say_to_the_last_digit(
    sent: float, out: float, read: float | None, write: float | None, requests: list[tuple[int, int, int, int]]
) -> None:
    price = Price(rate=rate_of(sent, out, read, write))
    total, expected = 0, Decimal(0)
    for plain, cached, kept, answer in requests:
        usage = Usage(
            input_tokens=plain + cached + kept,
            output_tokens=answer,
            cached_read_tokens=cached,
            cached_write_tokens=kept,
            thought_tokens=answer // 2,
        )
        total += cost_of(usage, price)
        rates = (sent, sent if read is None else read, sent if write is None else write, out)
        for count, rate in zip((plain, cached, kept, answer), rates, strict=True):
            expected += Decimal(count) * Decimal(str(rate))
    assert Decimal(total) / DOLLAR == expected / MILLION


@settings(max_examples=60)
@given(st.integers(min_value=0, max_value=2_000 * DOLLAR))
def test_an_amount_survives_its_way_through_dollars(amount: int) -> None:
    assert from_dollars(to_dollars(amount)) == amount


@settings(max_examples=100)
@given(st.integers(min_value=0, max_value=10**18))
@example(DOLLAR - 1)
@example(DOLLAR // 10_000)
def test_what_is_shown_is_rounded_and_never_nothing_for_something(amount: int) -> None:
    text = shown(amount)
    if amount and amount < DOLLAR // 10_000:
        assert text.startswith("$0.0000")
        assert abs(Decimal(text.removeprefix("$")) * DOLLAR - amount) <= amount / Decimal(20)
        return
    exact = Decimal(amount) / DOLLAR
    places = Decimal("0.01") if amount >= DOLLAR or not amount else Decimal("0.0001")
    assert Decimal(text.removeprefix("$").replace(",", "")) == exact.quantize(places, rounding=ROUND_HALF_UP)


def test_amounts_read_well() -> None:
    assert [
        shown(from_dollars(dollars)) for dollars in (0, 0.000012345, 0.0042, 0.99996, 1.005, 12.4, 1234567.891)
    ] == [
        "$0.00",
        "$0.000012",
        "$0.0042",
        "$1.0000",
        "$1.01",
        "$12.40",
        "$1,234,567.89",
    ]


def test_a_long_request_is_billed_as_a_whole_at_the_long_rate() -> None:
    price = Price(rate=Rate(input=1, output=10), above=100, long=Rate(input=2, output=15))
    assert cost_of(Usage(input_tokens=100, output_tokens=1), price) == 110
    assert cost_of(Usage(input_tokens=101, output_tokens=1), price) == 217


def test_more_cached_than_sent_does_not_make_a_request_cheaper_than_nothing() -> None:
    price = Price(rate=Rate(input=10, output=0, cached_read=1))
    assert cost_of(Usage(input_tokens=5, cached_read_tokens=8), price) == 8


# ------------------------------------------------------------------ whose price


def listed(home: Path, config: str = "", environ: Mapping[str, str] | None = None) -> PriceList:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(config)
    variables = {"CLAW_ACP_HOME": str(home), **(environ or {})}
    loaded = load_settings(locations=find_locations(variables), environ=variables, cwd=None)
    assert not loaded.diagnostics
    return PriceList(replace(loaded, discovered=DiscoveredModels(reference=published())), clock=FixedClock(now=NOON))


@pytest.mark.parametrize(
    ("model", "sent", "out"),
    [
        ("anthropic/claude-sonnet-4-5", 3, 15),
        ("anthropic/claude-sonnet-4-5-20250929", 3, 15),
        ("anthropic/claude-3-5-haiku-latest", 0.8, 4),
        ("openai/gpt-5-mini-2025-08-07", 0.25, 2),
        ("openai-responses/gpt-5.1", 1.25, 10),
        ("openai/gpt-4o-2024-05-13", 5, 15),
        ("gemini/gemini-2.5-flash", 0.3, 2.5),
        ("openrouter/anthropic/claude-sonnet-4.5", 3, 15),
        ("minimax/MiniMax-M2", 0.3, 1.2),
        ("mine/gpt-5.1", 1.25, 10),
    ],
)
def test_published_prices_apply_to_every_name_that_a_service_takes(
    tmp_path: Path, model: str, sent: float, out: float
) -> None:
    mine = '[providers.mine]\nkind = "azure"\nbase_url = "https://me.openai.azure.com"\n'
    price = listed(tmp_path, mine).price(model)
    assert price is not None
    assert (price.rate.input, price.rate.output) == (per_token(sent), per_token(out))


@pytest.mark.parametrize(
    "model",
    [
        "anthropic/claude-sonnet-9",
        "openai/gpt-5.9",
        "azure/gpt-5.1",
        "zai-coding/glm-5",
        "litellm/gpt-5.1",
        "ollama/gpt-oss:120b-cloud",
        "nobody/at-all",
        "anthropic",
        "",
    ],
)
def test_what_nobody_knows_is_unknown_and_not_free(tmp_path: Path, model: str) -> None:
    prices = listed(tmp_path)
    assert prices.price(model) is None
    assert prices.cost(model, Usage(input_tokens=5)) is None


def test_another_address_is_another_service(tmp_path: Path) -> None:
    environ = {"ANTHROPIC_BASE_URL": "https://gateway.example.com"}
    assert listed(tmp_path, environ=environ).price("anthropic/claude-sonnet-4-5") is None
    assert listed(tmp_path, environ={"OLLAMA_HOST": "https://ollama.com"}).price("ollama/qwen3") is None


@pytest.mark.parametrize("model", ["offline/assistant", "ollama/qwen3-coder", "vllm/any", "lmstudio/x", "play/m"])
def test_what_runs_here_is_known_to_cost_nothing(tmp_path: Path, model: str) -> None:
    script = tmp_path / "script.toml"
    config = f'[providers.play]\nkind = "scripted"\nscript = "{script}"\n'
    prices = listed(tmp_path / "home", config)
    assert prices.price(model) == FREE
    assert prices.cost(model, Usage(input_tokens=5, output_tokens=5)) == 0


def test_the_users_prices_win_the_exact_one_first(tmp_path: Path) -> None:
    config = """
[providers.work]
kind = "openai"
base_url = "https://models.example.com/v1"
[prices."work/*"]
input = 1
output = 2
[prices."work/big"]
input = 10
output = 20
cached_read = 0.5
[prices."anthropic/claude-sonnet-4-5"]
input = 0.1
output = 0.2
"""
    prices = listed(tmp_path, config)
    assert prices.price("work/any") == Price(rate=rate_of(1, 2))
    assert prices.price("work/big") == Price(rate=rate_of(10, 20, 0.5))
    assert prices.cost("anthropic/claude-sonnet-4-5", Usage(input_tokens=10, output_tokens=10)) == 3_000_000
