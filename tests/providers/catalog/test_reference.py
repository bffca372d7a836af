"""The published reference as it is kept: what it says of models, and what is damaged is not there."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claw_acp.contracts.model_price import Price, Rate, price_at
from claw_acp.providers.catalog.reference import INDEX, KeptReference, matches
from claw_acp.providers.registry.services import SERVICES
from tests.support.servers.published_reference import published


def at(hour: int) -> float:
    return datetime(2026, 11, 22, hour, tzinfo=UTC).timestamp()


def test_every_last_resort_of_a_service_that_is_published_is_known_there_and_is_not_retired() -> None:
    stale: list[str] = []
    for service in SERVICES.values():
        if service.name in {"zai-coding", "glm-coding", "kimi-code"} or not published().models(service.base_url or "-"):
            continue
        for role in service.roles:
            info = published().about(service.base_url, role.last_resort)
            if info is None or info.deprecated:
                stale.append(f"{service.name}/{role.last_resort}")
    assert not stale


def test_a_price_that_depends_on_the_hour_is_that_of_the_hour() -> None:
    info = published().about("https://api.deepseek.com", "deepseek-flash")
    assert info is not None
    cheap, dear = price_at(info.prices, at(5)), price_at(info.prices, at(2))
    assert cheap is not None
    assert dear is not None
    assert dear.rate.input == 2 * cheap.rate.input


def test_hours_may_pass_midnight() -> None:
    price = Price(rate=Rate(input=1, output=1), hours=(22 * 60, 2 * 60))
    assert [price_at([price], at(hour)) is not None for hour in (21, 22, 23, 0, 1, 2)] == [
        False,
        True,
        True,
        True,
        True,
        False,
    ]


def test_a_plan_by_the_month_has_no_price_though_its_address_resembles_one_that_has() -> None:
    assert published().about("https://api.z.ai/api/paas/v4", "glm-5.3") is not None
    assert published().about("https://api.z.ai/api/coding/paas/v4", "glm-5.3") is None


@pytest.mark.parametrize(
    ("clause", "name", "fits"),
    [
        (["=", "gpt-5"], "gpt-5", True),
        (["|", ["=", "a"], ["&", ["^", "gpt"], ["$", "mini"]]], "gpt-5-mini", True),
        (["&", ["*", "pro"], ["~", "^(?!.*-tts)"]], "gemini-pro-tts", False),
        (["?", "x"], "x", False),
        ("x", "x", False),
    ],
)
def test_names_are_matched_as_they_are_described(clause: list[str], name: str, *, fits: bool) -> None:
    assert matches(clause, name) == fits


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": 99, "built": 5}', '{"version": 1, "built": "x"}', "null"])
def test_a_damaged_index_is_no_reference(text: str, tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text(text)
    kept = KeptReference(tmp_path)
    assert (kept.built, kept.models("https://api.openai.com/v1"), kept.about("https://api.openai.com/v1", "gpt-5")) == (
        0,
        [],
        None,
    )


def test_a_damaged_file_of_a_service_leaves_the_rest(tmp_path: Path) -> None:
    index = {"version": 1, "built": 5, "services": {"https://a.example": "a", "https://b.example": "b"}}
    (tmp_path / INDEX).write_text(json.dumps(index))
    (tmp_path / "a.json").write_text('{"models": [{"id": "m", "match": ["=", "m"], "window": 9}, 5, {"prices": 3}]}')
    (tmp_path / "b.json").write_bytes(b"\xff\xfe")
    kept = KeptReference(tmp_path)
    about = kept.about("https://a.example", "m")
    assert about is not None
    assert (about.context_window, kept.about("https://a.example", "n"), kept.about("https://b.example", "m")) == (
        9,
        None,
        None,
    )
