"""From the configuration to a provider: keys, models, fallbacks, routes."""

import logging
import os
import threading
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import ChatRequest, ChatResponse, Provider
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import AuthRequired, ConfigError
from claw_acp.core.secret import Secret
from claw_acp.providers.assembly import plain, resilient
from claw_acp.providers.fallback.reliable import Reliable
from claw_acp.providers.fallback.succession import Successions, SuccessorProvider
from claw_acp.providers.selection.available_models import available_models
from claw_acp.providers.selection.resolve import resolve, resolve_ready
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.providers.selection.route_rules import model_behind
from claw_acp.runtime import provider_pool as pool_of_models
from claw_acp.runtime.provider_pool import ProviderPool
from tests.support.fixed_clock import FixedClock


def loaded(home: Path, text: str, environ: Mapping[str, str] | None = None) -> Settings:
    (home / "config.toml").write_text(text)
    return load_settings(locations=find_locations({"CLAW_ACP_HOME": str(home)}), environ=dict(environ or {}), cwd=None)


def configured(home: Path, text: str, environ: Mapping[str, str] | None = None) -> Settings:
    settings = loaded(home, text, environ)
    assert settings.diagnostics == ()
    return settings


def service(name: str, more: str = "") -> str:
    return (
        f'[providers.{name}]\nkind = "openai"\nbase_url = "http://127.0.0.1:9/{name}"\nmodels = ["{name}-1"]\n{more}\n'
    )


def asked(model: ResolvedModel) -> list[tuple[str, str]]:
    """The models and keys, in order."""
    return [(target.name, target.setup.api_key.reveal() if target.setup.api_key else "") for target in model.targets]


def test_the_order_is_keys_then_models_then_providers_depth_first(tmp_path: Path) -> None:
    text = (
        service("a", 'api_key = "k1"\napi_keys = ["k2"]\nfallback_models = ["a-2"]\nfallback = ["b", "c/other"]')
        + service("b", 'fallback = ["d"]')
        + service("c")
        + service("d")
    )
    assert asked(resolve(configured(tmp_path, text), model="a/a-1")) == [
        ("a/a-1", "k1"),
        ("a/a-1", "k2"),
        ("a/a-2", "k1"),
        ("a/a-2", "k2"),
        ("b/b-1", ""),
        ("d/d-1", ""),
        ("c/other", ""),
    ]


def test_circles_end_and_nobody_is_asked_twice(tmp_path: Path) -> None:
    text = service("a", 'fallback = ["b", "a"]') + service("b", 'fallback = ["a", "b/b-1", "b/b-2"]')
    assert [name for name, _ in asked(resolve(configured(tmp_path, text), model="a/a-1"))] == [
        "a/a-1",
        "b/b-1",
        "b/b-2",
    ]


def test_fallbacks_of_fallbacks_are_followed_three_steps(tmp_path: Path) -> None:
    text = "".join(service(name, f'fallback = ["{after}"]') for name, after in zip("abcde", "bcdef", strict=True))
    names = [name for name, _ in asked(resolve(configured(tmp_path, text + service("f")), model="a"))]
    assert names == ["a/a-1", "b/b-1", "c/c-1", "d/d-1"]


def test_a_fallback_without_key_is_left_out_with_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="claw_acp")
    text = service("a", 'fallback = ["anthropic", "nobody", "b"]') + service("b")
    assert [name for name, _ in asked(resolve(configured(tmp_path, text), model="a"))] == ["a/a-1", "b/b-1"]
    assert [vars(line).get("fallback") for line in caplog.records] == ["anthropic", "nobody"]


def test_keys_alone_in_a_list_are_keys(tmp_path: Path) -> None:
    text = service("a", 'api_keys = ["k1", "env:ABSENT", "k2"]')
    assert asked(resolve(configured(tmp_path, text), model="a")) == [("a/a-1", "k1"), ("a/a-1", "k2")]


def test_every_secret_of_every_target_is_known(tmp_path: Path) -> None:
    text = service("a", 'api_keys = ["k1", "k2"]\nfallback = ["b"]') + service("b", 'headers = { X-Token = "tok" }')
    choice = resolve(configured(tmp_path, text), model="a")
    assert set(choice.secrets) == {"k1", "k2", "tok"}
    assert [setup.api_key for setup in choice.keys] == [Secret("k1"), Secret("k2")]


def test_a_composed_provider_has_a_target_for_each_key_and_model(tmp_path: Path) -> None:
    text = service("a", 'api_keys = ["k1", "k2"]\nretries = 5\nfallback = ["b", "c"]') + service(
        "b", "[providers.b.options]\nmax_tokens = 7"
    )
    provider = resilient(resolve(configured(tmp_path, text + '\n[providers.c]\nkind = "nonsense"\n'), model="a"))
    assert isinstance(provider, Reliable)
    seen = [(target.name, target.retries, target.options.max_tokens) for target in provider.targets]
    assert seen == [("a/a-1", 5, None), ("a/a-1", 5, None), ("b/b-1", 2, 7)]
    assert {setup.name for setup in provider.providers} == {"a", "b"}


def test_a_key_has_one_provider_for_all_its_models(tmp_path: Path) -> None:
    made: list[ProviderSetup] = []

    def make(setup: ProviderSetup) -> Provider:
        made.append(setup)
        return plain(setup)

    text = service("a", 'api_keys = ["k1", "k2"]\nfallback_models = ["a-2", "a-3"]')
    resilient(resolve(configured(tmp_path, text), model="a"), make=make)
    assert [setup.api_key for setup in made] == [Secret("k1"), Secret("k2")]


def test_who_answers_by_itself_is_left_as_it_is_unless_others_are_named(tmp_path: Path) -> None:
    text = service("a", 'fallback = ["offline"]') + '[providers.offline]\nfallback = ["a"]\n'
    settings = configured(tmp_path, service("a", 'fallback = ["offline"]'))
    assert not isinstance(resilient(resolve(settings, model="offline")), Reliable)
    assert [name for name, _ in asked(resolve(settings, model="a"))] == ["a/a-1", "offline/assistant"]
    assert isinstance(resilient(resolve(configured(tmp_path, text), model="offline")), Reliable)


def test_the_successor_of_a_model_is_asked_with_each_of_its_keys(tmp_path: Path) -> None:
    text = service("a", 'api_keys = ["k1", "k2"]\nfallback = ["b"]') + service("b")
    chosen, successions = resolve(configured(tmp_path, text), model="a/old"), Successions()
    successions.remember(chosen, "new")
    assert asked(successions.applied(chosen)) == [("a/new", "k1"), ("a/new", "k2"), ("b/b-1", "")]


# ------------------------------------------------------------------ routes

ROUTES = '[routes]\nfast = "a/a-1"\nclever = "b/b-1"\nclosed = "anthropic/claude-sonnet-4-5"\n'


def test_a_route_is_kept_by_its_name_which_no_request_carries(tmp_path: Path) -> None:
    settings = configured(tmp_path, f'model = "hint:fast"\n{ROUTES}' + service("a") + service("b"))
    choice = resolve(settings, model=None)
    assert (choice.name, choice.target.name) == ("hint:fast", "a/a-1")
    provider = resilient(choice)
    assert provider.capabilities(choice.target.model) == plain(choice.setup).capabilities("a-1")


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("hint:fats", 'there is no route "fats"; did you mean "fast"'),
        ("hint:closed", 'route "closed" leads to anthropic/claude-sonnet-4-5, but there is no key for "anthropic"'),
        ("hint:loop", "a route leads to provider/model"),
        ("hint:gone", 'route "gone" leads to nobody/x, but there is no provider "nobody"'),
    ],
)
def test_a_route_that_leads_nowhere_says_which_and_why(hint: str, message: str, tmp_path: Path) -> None:
    text = ROUTES + 'loop = "hint:fast"\ngone = "nobody/x"\n' + service("a") + service("b")
    with pytest.raises((ConfigError, AuthRequired), match=message):
        resolve(configured(tmp_path, text), model=hint)


RULES = '[[rules]]\nroute = "clever"\nkeywords = ["prove"]\n[[rules]]\nroute = "closed"\nmin_length = 1000\n'


def test_auto_chooses_by_the_message(tmp_path: Path) -> None:
    settings = configured(tmp_path, f'model = "a/a-9"\n{ROUTES}{RULES}' + service("a") + service("b"))
    choice = resolve(settings, model="hint:auto")
    assert choice.name == "hint:auto"
    assert choice.for_message("Prove it").name == "hint:clever"
    assert (choice.for_message("Hi").name, choice.for_message("Hi").target.model) == ("a/a-9", "a-9")
    with pytest.raises(AuthRequired, match='the route "closed"'):
        choice.for_message("x" * 1000)
    default = configured(tmp_path, ROUTES.replace("fast", "default") + RULES + service("a") + service("b"))
    assert resolve(default, model="hint:auto").for_message("Hi").name == "hint:default"


def test_the_picker_offers_routes(tmp_path: Path) -> None:
    settings = configured(tmp_path, ROUTES + RULES + service("a") + service("b"))
    assert [offer.value for offer in available_models(settings)[:4]] == [
        "hint:auto",
        "hint:fast",
        "hint:clever",
        "hint:closed",
    ]
    assert (model_behind("hint:clever", settings=settings), model_behind("a/x", settings=settings)) == ("b/b-1", "a/x")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "is not a regular expression"),
        ("(a+)+$", "can take for ever"),
        ("(?:a|b)*c", "can take for ever"),
        ("((a{2,}b))+", "can take for ever"),
        ("(a{20}b|c){30}", "can take for ever"),
        (r"\\w+\\s*\\w+\\s*\\w+=", "so many open repetitions"),
        (".*.*.*=", "so many open repetitions"),
        ("^a|.*.*.*=", "so many open repetitions"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_a_finding_of_its_line(pattern: str, message: str, tmp_path: Path) -> None:
    settings = loaded(tmp_path, f"[routes]\nx = 'offline/assistant'\n[[rules]]\nroute = 'x'\npattern = '{pattern}'\n")
    [finding] = settings.diagnostics
    assert settings.rules == (), "without its pattern the rule would fit every message"
    assert (finding.line, finding.key) == (5, "rules.pattern")
    assert message in finding.text()


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\s*(?:def|class) \w+",
        r"^(?:a|b)? \d+-\d+-\d{1,9}",
        ".*.*",
        "[(+*]+x",
        r"(a\+)+",
        "(ab)?c+",
        "(a{3})+",
        "a{x}|b*",
        "[]+]*",
    ],
)
def test_an_ordinary_pattern_is_taken(pattern: str, tmp_path: Path) -> None:
    configured(tmp_path, f"[routes]\nx = 'offline/assistant'\n[[rules]]\nroute = 'x'\npattern = '{pattern}'\n")


# ------------------------------------------------------------------ what takes time to read


async def test_headers_from_commands_are_read_without_standing_still(tmp_path: Path) -> None:
    text = service("a", 'headers = { X-Token = "Bearer command:printf tok-1" }\nfallback = ["b"]') + service(
        "b", 'api_key = "command:printf key-2"'
    )
    settings = configured(tmp_path, text, os.environ)
    early = resolve(settings, model="a")
    assert (early.setup.headers, [target.unread == () for target in early.targets]) == ((), [False, False])
    ready = await resolve_ready(settings, model="a", secrets=SecretCache())
    assert ready.setup.headers == (("x-token", Secret("Bearer tok-1")),)
    assert asked(ready) == [("a/a-1", ""), ("b/b-1", "key-2")]


async def test_a_fallback_whose_key_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    text = service("a", 'fallback = ["b", "c"]') + service("b", 'api_key = "command:exit 1"') + service("c")
    ready = await resolve_ready(configured(tmp_path, text, os.environ), model="a", secrets=SecretCache())
    assert [name for name, _ in asked(ready)] == ["a/a-1", "c/c-1"]


async def test_keys_are_read_in_another_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = configured(tmp_path, service("a", 'headers = { X-Token = "command:printf t" }'), os.environ)
    secrets, threads = SecretCache(), list[int]()
    fetch = secrets.fetch

    def watched(*args: object) -> Secret:
        threads.append(threading.get_ident())
        return fetch(*args)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(secrets, "fetch", watched)
    await resolve_ready(settings, model="a", secrets=secrets)
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


# ------------------------------------------------------------------ the pool


def reliable_in(provider: Provider) -> Reliable:
    assert isinstance(provider, SuccessorProvider)
    assert isinstance(provider.inner, Reliable)
    return provider.inner


async def test_plain_providers_are_shared_between_choices_and_sessions(tmp_path: Path) -> None:
    settings = configured(tmp_path, service("a", 'fallback = ["b"]') + service("b"))
    pool = ProviderPool(clock=FixedClock())
    async with pool.lent(resolve(settings, model="a")) as both, pool.lent(resolve(settings, model="b")) as one:
        first, second = reliable_in(both), reliable_in(one)
        [shared] = first.providers.keys() & second.providers.keys()
        assert first.providers[shared] is second.providers[shared]
        assert first.health is second.health
    await pool.aclose()


class Sticky(Provider):
    """Never lets go."""

    def __init__(self, setup: ProviderSetup) -> None:
        self.name = setup.name

    async def chat(self, request: ChatRequest) -> ChatResponse:
        raise AssertionError(f"nobody asks for {request.model}")

    async def aclose(self) -> None:
        await anyio.sleep_forever()


async def test_closing_does_not_wait_for_those_that_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_of_models, "CLOSE_TIMEOUT", 0.01)
    settings = configured(tmp_path, service("a", 'fallback = ["b"]') + service("b"))
    pool = ProviderPool(clock=FixedClock(), make=Sticky)
    pool.get(resolve(settings, model="a"))
    with anyio.fail_after(3):
        await pool.aclose()
