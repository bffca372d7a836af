"""Which model answers, and with whose key."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import ChatRequest
from claw_acp.core.errors import AuthRequired, ConfigError
from claw_acp.core.messages import Message
from claw_acp.core.secret import Secret
from claw_acp.providers.assembly import resilient
from claw_acp.providers.registry.service import ANTHROPIC, OPENAI
from claw_acp.providers.selection.available_models import available_models
from claw_acp.providers.selection.resolve import OFFLINE_NOTICE, resolve
from claw_acp.providers.selection.resolved_model import ResolvedModel


def configured(home: Path, text: str = "", environ: Mapping[str, str] | None = None) -> Settings:
    (home / "config.toml").write_text(text)
    settings = load_settings(
        locations=find_locations({"CLAW_ACP_HOME": str(home)}), environ=dict(environ or {}), cwd=None
    )
    assert settings.diagnostics == ()
    return settings


def key_of(choice: ResolvedModel) -> str | None:
    return choice.setup.api_key.reveal() if choice.setup.api_key else None


GPT = OPENAI.roles[0].last_resort
WORK = '[providers.work]\nkind = "openai"\nbase_url = "http://127.0.0.1:8080/v1"\nmodels = ["qwen3", "small"]\n'


def test_without_any_key_the_offline_assistant_answers_and_says_so(tmp_path: Path) -> None:
    choice = resolve(configured(tmp_path), model=None)
    assert (choice.name, choice.setup.kind, choice.notice) == ("offline/assistant", "offline", OFFLINE_NOTICE)


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"ANTHROPIC_API_KEY": "sk-ant-1", "OPENAI_API_KEY": "sk-1"}, f"anthropic/{ANTHROPIC.roles[0].last_resort}"),
        ({"OPENAI_API_KEY": "sk-1"}, f"openai/{GPT}"),
        ({"OPENAI_API_KEY": " "}, "work/qwen3"),
        ({"API_KEY": "x", "CLAW_ACP_API_KEY": "x"}, "work/qwen3"),
    ],
)
def test_the_first_provider_with_a_key_answers_when_no_model_is_named(
    environ: dict[str, str], name: str, tmp_path: Path
) -> None:
    choice = resolve(configured(tmp_path, WORK, environ), model=None)
    assert (choice.name, choice.notice) == (name, None)


def test_a_model_is_split_at_the_first_slash(tmp_path: Path) -> None:
    choice = resolve(configured(tmp_path, WORK), model="work/org/model:free")
    assert (choice.target.provider, choice.target.model) == ("work", "org/model:free")


def test_the_name_of_a_provider_alone_means_its_first_model(tmp_path: Path) -> None:
    assert resolve(configured(tmp_path, WORK), model="work").name == "work/qwen3"


def test_the_named_model_beats_the_configured_one(tmp_path: Path) -> None:
    settings = configured(tmp_path, f'model = "work/small"\n{WORK}')
    assert resolve(settings, model=None).name == "work/small"
    assert resolve(settings, model="offline/assistant").name == "offline/assistant"


@pytest.mark.parametrize(
    ("text", "environ", "key"),
    [
        ('[providers.openai]\napi_key = "sk-file"', {"OPENAI_API_KEY": "sk-vendor"}, "sk-file"),
        ('[providers.openai]\napi_key = "env:MINE"', {"OPENAI_API_KEY": "sk-vendor", "MINE": "sk-mine"}, "sk-mine"),
        ("", {"OPENAI_API_KEY": "sk-vendor", "CLAW_ACP_API_KEY": "sk-ours"}, "sk-vendor"),
        ("", {"CLAW_ACP_API_KEY": "sk-ours", "API_KEY": "sk-any"}, "sk-ours"),
        ("", {"API_KEY": "sk-any"}, "sk-any"),
    ],
)
def test_keys_are_taken_in_order(text: str, environ: dict[str, str], key: str, tmp_path: Path) -> None:
    assert key_of(resolve(configured(tmp_path, text, environ), model="openai/gpt-5.1")) == key


@pytest.mark.parametrize(
    ("model", "environ", "message"),
    [
        ("openai/gpt-5.1", {}, "set the environment variable OPENAI_API_KEY, or api_key under \\[providers.openai\\]"),
        ("anthropic/claude-opus-4-5", {"OPENAI_API_KEY": "sk-1"}, "set the environment variable ANTHROPIC_API_KEY"),
        ("openai/gpt-5.1", {"OPENAI_API_KEY": "sk-ant-x"}, "\\(OPENAI_API_KEY\\) looks like a key of Anthropic"),
        (
            "anthropic/x",
            {"ANTHROPIC_API_KEY": "sk-proj-x"},
            "looks like a key of OpenAI; set ANTHROPIC_API_KEY to a key",
        ),
        ("anthropic/x", {"API_KEY": "gsk_x"}, "looks like a key of Groq"),
    ],
)
def test_a_named_provider_without_its_key_says_what_to_set(
    model: str, environ: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(AuthRequired, match=message) as failure:
        resolve(configured(tmp_path, environ=environ), model=model)
    assert not any(key in failure.value.message for key in environ.values())


def test_a_key_reference_that_leads_nowhere_says_so(tmp_path: Path) -> None:
    settings = configured(tmp_path, '[providers.openai]\napi_key = "env:MINE"\n')
    with pytest.raises(AuthRequired, match=r'no key for "openai": the environment variable MINE .* is not set'):
        resolve(settings, model="openai/gpt-5.1")
    assert resolve(settings, model=None).name == "offline/assistant"


def test_a_key_of_another_vendor_passes_over_the_provider_when_nothing_was_named(tmp_path: Path) -> None:
    settings = configured(tmp_path, environ={"ANTHROPIC_API_KEY": "sk-proj-x", "OPENAI_API_KEY": "sk-proj-x"})
    assert resolve(settings, model=None).name == f"openai/{GPT}"


def test_a_gateway_may_take_any_key_or_none(tmp_path: Path) -> None:
    gateway = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1/"}
    without = resolve(configured(tmp_path, environ=gateway), model="openai/local")
    assert (without.setup.base_url, key_of(without)) == ("http://127.0.0.1:9/v1", None)
    assert key_of(resolve(configured(tmp_path, environ={**gateway, "OPENAI_API_KEY": "sk-ant-1"}), model=None))
    assert key_of(resolve(configured(tmp_path, WORK), model="work/qwen3")) is None


def test_a_configured_address_beats_the_variable(tmp_path: Path) -> None:
    text = '[providers.anthropic]\nbase_url = "http://127.0.0.1:1"\n'
    settings = configured(tmp_path, text, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:2", "ANTHROPIC_API_KEY": "x"})
    assert resolve(settings, model=None).setup.base_url == "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("text", "model", "message"),
    [
        ("", "antropic/x", 'there is no provider "antropic"; did you mean "anthropic"?'),
        ("", "gpt-5.1", 'the model "gpt-5.1" lacks its provider; write openai/gpt-5.1'),
        ("", "mystery", "write PROVIDER/mystery"),
        ("", "openai/", '"openai/" names no model'),
        ("", "/x", 'there is no provider ""'),
        ('[providers.a]\nmodels = ["x"]', "a/x", r"\[providers.a\] needs a kind"),
        ('[providers.a]\nkind = "openai"', "a/x", r"\[providers.a\] needs the address"),
        ('[providers.a]\nkind = "scripted"', "a/x", r"\[providers.a\] plays a script"),
        ('[providers.a]\nkind = "openai"\nbase_url = "http://h/v1"', "a", "names no model"),
    ],
)
def test_a_model_that_cannot_be_asked_says_what_to_write(text: str, model: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        resolve(configured(tmp_path, text), model=model)


def test_an_unknown_kind_names_the_nearest(tmp_path: Path) -> None:
    settings = configured(tmp_path, '[providers.a]\nkind = "opena"\n')
    with pytest.raises(ConfigError, match='unknown kind "opena"; did you mean "openai"'):
        resolve(settings, model="a/x")


def test_configured_sampling_travels_with_the_choice(tmp_path: Path) -> None:
    text = WORK + '[providers.work.options]\nmax_tokens = 9\ntemperature = 0\nstop = ["x"]\neffort = "high"\n'
    options = resolve(configured(tmp_path, text), model="work/qwen3").target.options
    assert (options.max_tokens, options.temperature, options.stop, options.effort) == (9, 0.0, ("x",), "high")
    assert options.top_p is None


def test_a_key_is_never_printed_with_the_choice(tmp_path: Path) -> None:
    choice = resolve(configured(tmp_path, environ={"OPENAI_API_KEY": "sk-hush"}), model=None)
    assert choice.setup.api_key == Secret("sk-hush")
    assert "hush" not in repr(choice)


def test_the_picker_offers_what_can_be_used_and_always_offline(tmp_path: Path) -> None:
    settings = configured(tmp_path, WORK, {"OPENAI_API_KEY": "sk-1"})
    assert [value for value, _, _ in available_models(settings)] == [
        *(f"openai/{role.last_resort}" for role in OPENAI.roles),
        "work/qwen3",
        "work/small",
        "offline/assistant",
    ]
    assert [offer.value for offer in available_models(configured(tmp_path))] == ["offline/assistant"]


def test_the_picker_offers_the_configured_model_too(tmp_path: Path) -> None:
    settings = configured(tmp_path, 'model = "openai/gpt-9"', {"OPENAI_API_KEY": "sk-1"})
    assert available_models(settings)[0] == ("openai/gpt-9", "gpt-9", "Configured model")


async def test_a_scripted_provider_plays_its_script(tmp_path: Path) -> None:
    (tmp_path / "play.json").write_text('{"turns": [{"steps": [{"text": "Good morning."}]}]}')
    settings = configured(tmp_path, '[providers.play]\nkind = "scripted"\nscript = "play.json"\nmodels = ["a"]\n')
    choice = resolve(settings, model=None)
    provider = resilient(choice)
    answer = await provider.chat(ChatRequest(model=choice.target.model, messages=[Message.user("hello")]))
    await provider.aclose()
    assert (choice.name, answer.text) == ("play/a", "Good morning.")


@pytest.mark.parametrize("kind", ["openai", "anthropic", "offline"])
async def test_every_built_in_kind_makes_a_provider_of_its_configured_name(kind: str, tmp_path: Path) -> None:
    settings = configured(tmp_path, f'[providers.mine]\nkind = "{kind}"\nbase_url = "http://127.0.0.1:1/v1"\n')
    provider = resilient(resolve(settings, model="mine/x"))
    assert provider.name == "mine"
    await provider.aclose()
