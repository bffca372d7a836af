"""Keys from logins, keyrings and commands, and providers that a client has set up or switched off."""

import os
from collections.abc import Mapping
from pathlib import Path

import keyring
import pytest

from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.config.overrides import NOTHING_SET, ProviderOverride
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import Provider
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import AuthRequired, ConfigError, ProviderAuthFailed
from claw_acp.core.secret import Secret
from claw_acp.core.value import replace
from claw_acp.providers.assembly import resilient
from claw_acp.providers.fallback.reliable import Reliable
from claw_acp.providers.fallback.succession import SuccessorProvider
from claw_acp.providers.registry import service as families
from claw_acp.providers.registry.overview import provider_states
from claw_acp.providers.selection.available_models import available_models
from claw_acp.providers.selection.resolve import resolve, resolve_ready
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.providers.selection.target import Target
from claw_acp.runtime.provider_pool import KEPT, ProviderPool
from tests.support.file_keyring import FileKeyring
from tests.support.fixed_clock import FixedClock
from tests.support.servers.model_server import ModelServer

OPENAI = families.OPENAI.roles[0].last_resort
ANTHROPIC = f"anthropic/{families.ANTHROPIC.roles[0].last_resort}"


def configured(home: Path, config: str = "", logins: str = "", environ: Mapping[str, str] | None = None) -> Settings:
    (home / "config.toml").write_text(config)
    (home / "credentials.toml").write_text(logins)
    (home / "credentials.toml").chmod(0o600)
    settings = load_settings(
        locations=find_locations({"CLAW_ACP_HOME": str(home)}), environ=dict(environ or {}), cwd=None
    )
    assert settings.diagnostics == ()
    return settings


def key_of(settings: Settings, model: str | None = ANTHROPIC) -> str | None:
    key = resolve(settings, model=model).setup.api_key
    return key.reveal() if key else None


LOGIN = '[anthropic]\nkey = "sk-ant-login"\n'
GENERIC = {"CLAW_ACP_API_KEY": "sk-ant-generic"}
VENDOR = {"ANTHROPIC_API_KEY": "sk-ant-vendor"}
CONFIG = '[providers.anthropic]\napi_key = "sk-ant-config"\n'


@pytest.mark.parametrize(
    ("config", "logins", "environ", "key"),
    [
        (CONFIG, LOGIN, VENDOR | GENERIC, "sk-ant-config"),
        ("", LOGIN, VENDOR | GENERIC, "sk-ant-vendor"),
        ("", LOGIN, GENERIC, "sk-ant-login"),
        ("", "", GENERIC, "sk-ant-generic"),
    ],
)
def test_a_login_stands_between_the_vendors_variable_and_the_generic_ones(
    config: str, logins: str, environ: dict[str, str], key: str, tmp_path: Path
) -> None:
    assert key_of(configured(tmp_path, config, logins, environ)) == key


def test_a_login_makes_its_provider_usable_without_any_configuration(tmp_path: Path) -> None:
    settings = configured(tmp_path, logins=LOGIN)
    choice = resolve(settings, model=None)
    assert (choice.name, choice.key_source) == (ANTHROPIC, f"login ({tmp_path}/credentials.toml:1)")
    (state,) = [state for state in provider_states(settings) if state.name == "anthropic"]
    assert (state.ready, state.key_source, state.configured) == (True, choice.key_source, False)


def test_a_service_somebody_logged_in_to_is_a_provider_like_any_other(tmp_path: Path) -> None:
    logins = '[work]\nkind = "openai"\nbase_url = "http://127.0.0.1:9/v1/"\nmodels = ["qwen"]\nkey = "k"\n'
    choice = resolve(configured(tmp_path, logins=logins), model=None)
    assert (choice.name, choice.setup.base_url, choice.setup.api_key) == (
        "work/qwen",
        "http://127.0.0.1:9/v1",
        Secret("k"),
    )


@pytest.fixture
def safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYRING_FILE", str(tmp_path / "keyring.json"))
    keyring.set_keyring(FileKeyring())
    keyring.set_password("claw-acp", "anthropic", "sk-ant-safe")


async def test_a_key_in_the_keyring_is_read_when_it_is_needed_and_not_before(safe: None, tmp_path: Path) -> None:
    settings = configured(tmp_path, logins='[anthropic]\nkeyring = "anthropic"\n')
    assert next(offer.value for offer in available_models(settings)) == ANTHROPIC
    early = resolve(settings, model=None)
    assert (early.name, early.setup.api_key, early.key_source) == (ANTHROPIC, None, "login (the system keyring)")
    with pytest.raises(AssertionError):
        resilient(early)
    secrets = SecretCache()
    ready = await resolve_ready(settings, model=None, secrets=secrets)
    assert (ready.setup.api_key, ready.target.unread) == (Secret("sk-ant-safe"), ())
    assert key_of(replace(settings, secrets=secrets.known)) == "sk-ant-safe"


async def test_a_keyring_that_fails_is_a_missing_key_with_its_reason(
    safe: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = configured(tmp_path, logins='[anthropic]\nkeyring = "anthropic"\n')
    monkeypatch.setenv("KEYRING_MOOD", "locked")
    with pytest.raises(AuthRequired, match=r'no key for "anthropic": .* keyring: the collection is locked'):
        await resolve_ready(settings, model=None, secrets=SecretCache())
    monkeypatch.setenv("KEYRING_MOOD", "")
    assert (await resolve_ready(settings, model=None, secrets=SecretCache())).setup.api_key == Secret("sk-ant-safe")


async def test_a_key_from_a_command_belongs_to_its_vendor_as_well(tmp_path: Path) -> None:
    config = '[providers.anthropic]\napi_key = "command:echo sk-proj-1"\n'
    settings = configured(tmp_path, config, environ=os.environ)
    assert resolve(settings, model=ANTHROPIC).target.unread
    with pytest.raises(AuthRequired, match=r"command:echo sk-proj-1.* looks like a key of OpenAI"):
        await resolve_ready(settings, model=ANTHROPIC, secrets=SecretCache())


# ------------------------------------------------------------------ what a client sets


def overridden(settings: Settings, name: str, override: ProviderOverride | None) -> Settings:
    return replace(settings, overrides=NOTHING_SET.with_provider(name, override))


GATEWAY = ProviderOverride(
    kind="anthropic",
    base_url="http://127.0.0.1:9",
    headers=(("x-gateway-token", Secret("tok-hush-123")), ("x-team", Secret("blue team"))),
)


def test_what_a_client_sets_replaces_everything_that_was_configured(tmp_path: Path) -> None:
    settings = configured(tmp_path, CONFIG, LOGIN, VENDOR | {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"})
    setup = resolve(overridden(settings, "anthropic", GATEWAY), model=ANTHROPIC).setup
    assert (setup.base_url, setup.api_key, setup.headers) == ("http://127.0.0.1:9", None, GATEWAY.headers)
    assert setup.secrets == ("tok-hush-123",)
    assert "hush" not in repr(setup)


def test_a_provider_that_a_client_sets_up_needs_no_key_and_comes_first(tmp_path: Path) -> None:
    settings = configured(tmp_path, environ=VENDOR)
    override = ProviderOverride(kind="openai", base_url="https://api.openai.com/v1")
    assert resolve(overridden(settings, "openai", override), model=None).name == f"openai/{OPENAI}"
    assert resolve(overridden(settings, "openai", override), model=ANTHROPIC).setup.api_key == Secret("sk-ant-vendor")


def test_a_provider_that_a_client_switches_off_is_neither_chosen_nor_offered(tmp_path: Path) -> None:
    settings = overridden(configured(tmp_path, environ=VENDOR), "anthropic", None)
    assert resolve(settings, model=None).name == "offline/assistant"
    assert [offer.value for offer in available_models(settings)] == ["offline/assistant"]
    with pytest.raises(ConfigError, match='"anthropic" is switched off by the client; choose another model'):
        resolve(settings, model=ANTHROPIC)


@pytest.mark.parametrize("family", ["openai", "anthropic"])
async def test_headers_are_sent_and_never_shown(family: str, tmp_path: Path) -> None:
    async with ModelServer() as server:
        setup = ProviderSetup(
            name=family,
            kind=family,
            base_url=server.openai_url if family == "openai" else server.anthropic_url,
            headers=(("authorization", Secret("Bearer hush-12345")), ("x-team", Secret("blue"))),
        )
        provider = resilient(ResolvedModel(target=Target(setup=setup, model="m")))
        server.will_fail(401, {"error": {"message": "bad token hush-12345 of blue"}})
        with pytest.raises(ProviderAuthFailed) as refused:
            await provider.simple_chat("m", "hi")
        await provider.aclose()
    sent = server.requests[0].headers
    assert (sent["authorization"], sent["x-team"]) == ("Bearer hush-12345", "blue")
    assert "x-api-key" not in sent
    assert "bad token *** of blue" in refused.value.message


def plain_in(provider: Provider) -> Provider:
    assert isinstance(provider, SuccessorProvider)
    assert isinstance(provider.inner, Reliable)
    [plain] = provider.inner.providers.values()
    return plain


async def test_of_many_set_ups_the_oldest_are_closed_but_none_in_use(tmp_path: Path) -> None:
    base = resolve(configured(tmp_path, environ=VENDOR), model=None)

    def choice(number: int) -> ResolvedModel:
        setup = replace(base.setup, headers=(("x-token", Secret(str(number))),))
        return replace(base, target=replace(base.target, setup=setup))

    pool = ProviderPool(clock=FixedClock())

    def kept(number: int) -> Provider:
        return plain_in(pool.get(choice(number)))

    async with pool.lent(choice(0)) as first:
        seen: list[Provider] = []
        for number in range(1, KEPT + 3):
            async with pool.lent(choice(number)) as provider:
                seen.append(plain_in(provider))
        assert kept(0) is plain_in(first)
    assert kept(KEPT + 2) is seen[-1]
    assert kept(1) is not seen[0]
    await pool.aclose()
