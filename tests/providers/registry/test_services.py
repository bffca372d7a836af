"""The table of services: what each row must have, other names, and whose keys are taken where."""

import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import ModelInfo
from claw_acp.contracts.provider_setup import NO_QUIRKS
from claw_acp.core.errors import AuthRequired, ConfigError
from claw_acp.core.value import replace
from claw_acp.providers.registry.overview import provider_states
from claw_acp.providers.registry.profiles import OFFERED, provider_profiles
from claw_acp.providers.registry.service import ANTHROPIC
from claw_acp.providers.registry.services import SERVICES, other_vendor, quirks_at, service_called, vendor_of_key
from claw_acp.providers.selection.resolve import resolve
from claw_acp.registry.entry_points import discover

REQUIRED = {
    *(
        "anthropic",
        "openai",
        "gemini",
        "ollama",
        "bedrock",
        "azure",
        "openrouter",
        "groq",
        "xai",
        "mistral",
        "deepseek",
    ),
    *("together", "fireworks", "novita", "perplexity", "cohere", "venice", "nvidia", "moonshot", "moonshot-cn", "qwen"),
    *("qwen-cn", "qwen-us", "glm", "zai", "minimax", "minimax-cn", "doubao", "qianfan", "hunyuan", "baichuan", "yi"),
    *("stepfun", "siliconflow", "aihubmix", "astrai", "avian", "deepmyst", "ovh", "nearai", "atlascloud", "kilo"),
    *("cerebras", "sambanova", "hyperbolic", "deepinfra", "huggingface", "ai21", "reka", "baseten"),
    *("nscale", "nebius", "friendli", "morph", "upstage", "featherless", "arcee", "lambda", "inception", "manifest"),
    *("vercel", "cloudflare", "synthetic", "opencode", "opencode-go", "telnyx", "lmstudio", "llamacpp", "vllm"),
    *("sglang", "litellm", "osaurus"),
}


def settings_with(home: Path, text: str = "", **environ: str) -> Settings:
    (home / "config.toml").write_text(text)
    settings = load_settings(locations=find_locations({"CLAW_ACP_HOME": str(home)}), environ=environ, cwd=None)
    assert settings.diagnostics == ()
    return settings


def test_the_table_has_every_service_that_is_promised() -> None:
    assert SERVICES.keys() >= REQUIRED


def test_no_name_means_two_services() -> None:
    names = [name for service in SERVICES.values() for name in (service.name, *service.aliases)]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("name", list(SERVICES))
def test_every_row_is_whole(name: str) -> None:
    service = SERVICES[name]
    assert service.name == name
    assert service.kind in discover("providers")
    address = urlsplit(service.base_url)
    if service.local:
        assert (address.scheme, address.hostname) == ("http", "127.0.0.1")
        assert address.port
    elif name not in {"offline", "bedrock"}:
        assert service.key_variables
        assert service.vendor
        assert service.own_address or (address.scheme == "https" and address.hostname)
    assert not service.base_url.endswith("/")
    assert len({role.last_resort for role in service.roles}) == len(service.roles)


@pytest.mark.parametrize(
    ("alias", "name"), [("kimi", "moonshot"), ("grok", "xai"), ("lm-studio", "lmstudio"), ("google", "gemini")]
)
def test_another_name_leads_to_the_service(alias: str, name: str, tmp_path: Path) -> None:
    assert service_called(alias) == name
    assert provider_profiles(settings_with(tmp_path))[alias].name == name
    assert service_called("nobody") == "nobody"


def test_a_table_of_the_configuration_may_use_another_name(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, '[providers.kimi]\napi_key = "sk-1"\n')
    choice = resolve(settings, model="kimi/kimi-k2-thinking")
    assert (choice.name, choice.setup.base_url) == ("kimi/kimi-k2-thinking", "https://api.moonshot.ai/v1")


def test_without_a_model_the_first_three_come_first_and_then_the_order_of_the_table(tmp_path: Path) -> None:
    keys = {"XAI_API_KEY": "xai-1", "GROQ_API_KEY": "gsk_1", "GEMINI_API_KEY": "AIza1", "OPENAI_API_KEY": "sk-1"}
    chosen: list[str] = []
    for variable in ("OPENAI_API_KEY", "GEMINI_API_KEY", "XAI_API_KEY", "GROQ_API_KEY"):
        chosen.append(resolve(settings_with(tmp_path, **keys), model=None).name)
        del keys[variable]
    assert chosen == [f"{name}/{SERVICES[name].roles[0].last_resort}" for name in ("openai", "gemini", "xai", "groq")]


@pytest.mark.parametrize(
    ("environ", "key"),
    [
        ({"GEMINI_API_KEY": "AIza1", "GOOGLE_API_KEY": "AIza2"}, "AIza1"),
        ({"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": "AIza2"}, "AIza2"),
    ],
)
def test_the_variables_of_one_service_are_tried_in_order(environ: dict[str, str], key: str, tmp_path: Path) -> None:
    choice = resolve(settings_with(tmp_path, **environ), model="gemini")
    assert choice.setup.api_key is not None
    assert choice.setup.api_key.reveal() == key


# ------------------------------------------------------------------ whose key


@pytest.mark.parametrize(
    ("vendor", "key", "stranger"),
    [
        ("OpenAI", "sk-proj-1", None),
        ("OpenAI", "sk-ant-1", "Anthropic"),
        ("Anthropic", "sk-1", "OpenAI"),
        ("OpenRouter", "sk-1", "OpenAI"),
        ("Groq", "xai-1", "xAI"),
        ("DeepSeek", "sk-1", None),
        ("DeepSeek", "sk-proj-1", "OpenAI"),
        ("DeepSeek", "sk-or-1", "OpenRouter"),
        ("Moonshot", "nvapi-1", "NVIDIA"),
        ("Cerebras", "csk-1", None),
        ("Fireworks", "pplx-1", "Perplexity"),
        ("Telnyx", "KEY0123456789ABCDEF01234", None),
        ("Mistral", "0123456789abcdef", None),
        ("", "sk-ant-1", None),
    ],
)
def test_a_key_that_plainly_belongs_to_another_vendor_is_known(vendor: str, key: str, stranger: str | None) -> None:
    assert other_vendor(vendor, key) == stranger


def test_a_key_that_says_nothing_may_be_anybodys() -> None:
    assert vendor_of_key("0123") is None


def test_the_key_of_another_vendor_is_refused_with_both_names(tmp_path: Path) -> None:
    with pytest.raises(
        AuthRequired, match=r"GROQ_API_KEY\) looks like a key of xAI; set GROQ_API_KEY to a key of Groq"
    ):
        resolve(settings_with(tmp_path, GROQ_API_KEY="xai-1"), model="groq")


def test_at_an_address_of_the_users_own_any_key_will_do(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, '[providers.groq]\nbase_url = "http://127.0.0.1:9/v1"\n', GROQ_API_KEY="xai-1")
    assert resolve(settings, model="groq/x").setup.api_key is not None


# ------------------------------------------------------------------ quirks, addresses


@pytest.mark.parametrize(
    ("host", "field", "value"),
    [
        ("API.OpenAI.com", "max_tokens", "max_completion_tokens"),
        ("api.deepseek.com", "reasoning", "reasoning_content"),
        ("api.moonshot.ai", "reasoning", "reasoning_content"),
        ("openrouter.ai", "reasoning", "reasoning"),
        ("api.mistral.ai", "stream_usage", False),
        ("api.perplexity.ai", "tools", False),
    ],
)
def test_a_service_is_known_by_its_host(host: str, field: str, value: object) -> None:
    assert getattr(quirks_at(host), field) == value


@pytest.mark.parametrize("host", ["127.0.0.1", "", "models.example"])
def test_an_unknown_host_has_no_quirks(host: str) -> None:
    assert quirks_at(host) == NO_QUIRKS


def test_a_key_for_zhipu_becomes_a_token_where_that_is_asked_for() -> None:
    assert (SERVICES["glm"].quirks.auth, SERVICES["zai"].quirks.auth) == ("zhipu-jwt", None)


@pytest.mark.parametrize("name", ["azure", "cloudflare"])
def test_a_service_where_everybody_has_an_own_address_asks_for_it(name: str, tmp_path: Path) -> None:
    variable = SERVICES[name].url_variable
    with pytest.raises(ConfigError, match=rf"needs the address that you have there: base_url.*{variable}"):
        resolve(settings_with(tmp_path), model=f"{name}/x")
    settings = settings_with(tmp_path, **{variable: "https://mine.example/"})
    with pytest.raises(AuthRequired, match="there is no key"):
        resolve(settings, model=f"{name}/x")


@pytest.mark.parametrize("variable", ["AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "a file"])
def test_credentials_of_the_cloud_make_bedrock_ready_but_do_not_choose_it(variable: str, tmp_path: Path) -> None:
    (Path.home() / ".aws").mkdir()
    with pytest.raises(AuthRequired, match="there is no key"):
        resolve(settings_with(tmp_path), model="bedrock")
    if variable == "a file":
        (Path.home() / ".aws" / "credentials").touch()
    settings = settings_with(tmp_path, **{variable: "x"})
    assert resolve(settings, model=None).name == "offline/assistant"
    assert resolve(settings, model="bedrock").target.provider == "bedrock"
    (state,) = [state for state in provider_states(settings) if state.name == "bedrock"]
    assert state.ready


def test_credentials_of_the_cloud_without_the_package_for_them_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "botocore", None)
    settings = settings_with(tmp_path, "[providers.bedrock]\n", AWS_PROFILE="work")
    (state,) = [state for state in provider_states(settings) if state.name == "bedrock"]
    assert (state.ready, state.problem) == (
        False,
        "its credentials need a package; run pip install 'claw-acp[bedrock]'",
    )
    assert resolve(settings, model=None).name == "offline/assistant"
    assert resolve(settings, model="bedrock").target.provider == "bedrock"  # a request says what to install


def test_a_list_replaces_the_models_of_the_table_that_are_gone(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, OPENAI_API_KEY="sk-1")
    place = ("openai", "https://api.openai.com/v1")
    many = tuple(ModelInfo(id=f"other-{number}") for number in range(100))
    discovered = replace(settings.discovered, lists={place: (*many, ModelInfo(id="gpt-5-mini"))})
    models = provider_profiles(replace(settings, discovered=discovered))["openai"].models
    assert (models[:2], len(models)) == (("gpt-5-mini", "other-0"), OFFERED)


def test_models_that_the_user_lists_are_all_there_are(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, '[providers.openai]\nmodels = ["mine"]\n', OPENAI_API_KEY="sk-1")
    place = ("openai", "https://api.openai.com/v1")
    listed = replace(settings, discovered=replace(settings.discovered, lists={place: (ModelInfo(id="theirs"),)}))
    assert provider_profiles(listed)["openai"].models == ("mine",)


def test_where_no_family_is_known_any_more_no_preview_becomes_the_default(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, OPENAI_API_KEY="sk-1")
    listed = tuple(ModelInfo(id=name) for name in ("nova-9-preview", "nova-9-20990101", "nova-9", "nova-8"))
    discovered = replace(settings.discovered, lists={("openai", "https://api.openai.com/v1"): listed})
    assert provider_profiles(replace(settings, discovered=discovered))["openai"].models[0] == "nova-9"


@pytest.mark.parametrize(
    ("wanted", "listed", "meant"),
    [
        ("claude-haiku", "claude-haiku-7 claude-haiku-7-1 claude-opus-9", "claude-haiku-7-1"),
        ("claude-haiku", "", ANTHROPIC.roles[2].last_resort),
        ("claude-haiku-4-5", "claude-haiku-7", "claude-haiku-4-5"),
        ("claude-haiku", "claude-haiku claude-haiku-7", "claude-haiku"),
        ("claude-other", "claude-other-2", "claude-other"),
    ],
)
def test_the_name_of_a_family_means_its_newest_model(wanted: str, listed: str, meant: str, tmp_path: Path) -> None:
    settings = settings_with(tmp_path, ANTHROPIC_API_KEY="sk-ant-1")
    lists = {("anthropic", "https://api.anthropic.com"): tuple(ModelInfo(id=name) for name in listed.split())}
    known = replace(settings, discovered=replace(settings.discovered, lists=lists))
    assert resolve(known, model=f"anthropic/{wanted}").name == f"anthropic/{meant}"
