"""Lists of models: what is kept of them, in which order, and that a damaged file is no misfortune."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.provider import ModelInfo
from claw_acp.providers.catalog.listings import LIFE, Catalog
from claw_acp.providers.models.chat_models import KEPT, for_chat

HERE = "https://models.example/v1"
MODELS = (
    ModelInfo(id="b", name="Model B", context_window=1000, tools=True, images=False, created=2),
    ModelInfo(id="a", description="the other"),
)


def test_a_list_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "models")
    catalog.write("work", HERE, models=MODELS, now=1000.0)
    listing = catalog.read("work", HERE)
    assert listing is not None
    assert listing.models == MODELS
    assert (listing.is_new(1000.0 + LIFE - 1), listing.is_new(1000.0 + LIFE), listing.is_new(999.0)) == (
        True,
        False,
        False,
    )
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["work.json"]


def test_a_list_of_another_address_does_not_count(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    catalog.write("work", HERE, models=MODELS, now=1.0)
    assert catalog.read("work", "https://elsewhere.example/v1") is None
    assert catalog.read("home", HERE) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"version": 1}', '{"version": 2, "baseUrl": ""}', "[" * 9999])
def test_a_damaged_file_is_no_list(text: str, tmp_path: Path) -> None:
    (tmp_path / "work.json").write_text(text)
    assert Catalog(tmp_path).read("work", HERE) is None


@given(cut=st.integers(0, 300), junk=st.binary(max_size=20))
@settings(max_examples=60)
def test_any_damage_to_a_file_is_survived(cut: int, junk: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("models")
    catalog = Catalog(place)
    catalog.write("work", HERE, models=MODELS, now=1.0)
    path = place / "work.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:cut] + junk + whole[cut + len(junk) :])
    listing = catalog.read("work", HERE)
    assert listing is None or all(model.id for model in listing.models)


def test_the_newest_come_first_where_the_list_says_when_they_came_out() -> None:
    dated = [ModelInfo(id="old", created=1), ModelInfo(id="new", created=3), ModelInfo(id="middle", created=2)]
    assert [model.id for model in for_chat(dated)] == ["new", "middle", "old"]
    assert [model.id for model in for_chat([ModelInfo(id="z"), ModelInfo(id="a")])] == ["z", "a"]


@pytest.mark.parametrize(
    "name", ["text-embedding-3-large", "whisper-1", "tts-1-hd", "dall-e-3", "omni-moderation-latest", "gpt-4o-realtime"]
)
def test_models_that_answer_no_messages_are_left_out(name: str) -> None:
    assert for_chat([ModelInfo(id=name), ModelInfo(id="gpt-5.1")]) == (ModelInfo(id="gpt-5.1"),)


@pytest.mark.parametrize(
    "name", ["gpt-5.1", "claude-opus-4-5", "qwen3-coder:30b", "meta-llama/llama-3.3-70b-instruct", "gemini-2.5-pro"]
)
def test_models_to_talk_to_are_kept(name: str) -> None:
    assert [model.id for model in for_chat([ModelInfo(id=name)])] == [name]


def test_a_list_is_bounded_and_names_each_model_once() -> None:
    many = [ModelInfo(id=f"m{number % 1000}") for number in range(3000)]
    assert len(for_chat(many)) == KEPT
