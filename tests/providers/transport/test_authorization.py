"""How keys travel, seen from the service; and Zhipu's tokens, checked as the service would."""

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from claw_acp.config.provider_section import ProviderSection, QuirksSection
from claw_acp.config.settings import DEFAULT
from claw_acp.contracts.provider import Provider
from claw_acp.contracts.provider_setup import NO_QUIRKS, ProviderSetup, Quirks
from claw_acp.core.errors import ConfigError, ProviderAuthFailed
from claw_acp.core.secret import Secret
from claw_acp.providers.anthropic.provider import AnthropicProvider
from claw_acp.providers.checks.key_check import check_key
from claw_acp.providers.openai.provider import OpenAIChatProvider
from claw_acp.providers.registry.profiles import ProviderProfile
from claw_acp.providers.transport.authorization import TOKEN_LIFE
from tests.providers.conversation import asking
from tests.support.fixed_clock import FixedClock
from tests.support.servers.model_replies import Say
from tests.support.servers.model_server import ModelServer

KEY = "abc123.a-very-secret-half"
SPOKEN = ("authorization", "x-api-key", "api-key", "x-goog")


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.always(Say(text=("x",)))
        yield server


def openai(
    server: ModelServer,
    auth: str | None = None,
    *,
    key: str | None = KEY,
    headers: tuple[tuple[str, Secret], ...] = (),
    clock: FixedClock | None = None,
) -> Provider:
    setup = ProviderSetup(
        name="acme",
        kind="openai",
        base_url=server.openai_url,
        api_key=Secret(key) if key else None,
        quirks=NO_QUIRKS if auth is None else Quirks(auth=auth),
        headers=headers,
        clock=clock or FixedClock(),
    )
    return OpenAIChatProvider(setup)


async def sent(server: ModelServer, provider: Provider) -> dict[str, str]:
    """What the last request carried to prove itself."""
    await provider.chat(asking())
    return {name: value for name, value in server.requests[-1].headers.items() if name in SPOKEN}


@pytest.mark.parametrize(
    ("auth", "headers"),
    [
        (None, {"authorization": f"Bearer {KEY}"}),
        ("bearer", {"authorization": f"Bearer {KEY}"}),
        ("x-api-key", {"x-api-key": KEY}),
        ("api-key", {"api-key": KEY}),
        ("header:X-Goog", {"x-goog": KEY}),
        ("none", {}),
    ],
)
async def test_the_key_travels_as_the_service_wants_it(
    server: ModelServer, auth: str | None, headers: dict[str, str]
) -> None:
    async with aclosing(openai(server, auth)) as provider:
        assert await sent(server, provider) == headers
        await provider.models()
    assert {name: value for name, value in server.requests[-1].headers.items() if name in SPOKEN} == headers


@pytest.mark.parametrize("auth", ["bearer", "api-key", "zhipu-jwt"])
async def test_without_a_key_nothing_is_sent(server: ModelServer, auth: str) -> None:
    async with aclosing(openai(server, auth, key=None)) as provider:
        assert await sent(server, provider) == {}


@pytest.mark.parametrize("auth", ["digest", "header:", "header: "])
def test_a_style_that_nobody_knows_is_refused_when_the_provider_is_made(auth: str) -> None:
    setup = ProviderSetup(name="acme", kind="openai", api_key=Secret(KEY), quirks=Quirks(auth=auth))
    with pytest.raises(ConfigError, match=r'provider "acme": quirks.auth = ".*bearer, x-api-key, api-key, header:NAME'):
        OpenAIChatProvider(setup)


async def test_every_family_obeys_the_style(server: ModelServer) -> None:
    """Services that imitate Anthropic's API often want a bearer token."""
    setup = ProviderSetup(
        name="acme",
        kind="anthropic",
        base_url=server.anthropic_url,
        api_key=Secret(KEY),
        quirks=Quirks(auth="bearer"),
    )
    async with aclosing(AnthropicProvider(setup)) as provider:
        assert await sent(server, provider) == {"authorization": f"Bearer {KEY}"}


async def test_a_key_is_tried_in_the_style_it_will_be_used(server: ModelServer) -> None:
    """A service that lists its models for everybody is asked for a word."""
    section = ProviderSection(kind="openai", models=("m",), quirks=QuirksSection(auth="api-key"))
    profile = ProviderProfile(
        name="acme",
        kind="openai",
        base_url=server.openai_url,
        base_url_origin=DEFAULT,
        service=None,
        section=section,
    )
    await check_key(profile, Secret(KEY))
    with_key = [request for request in server.requests if request.headers.get("api-key") == KEY]
    assert [request.method for request in with_key] == ["GET", "POST"]  # in between a stranger asks for the list
    assert not any("authorization" in request.headers for request in server.requests)


# ------------------------------------------------------------------ Zhipu's tokens


def verified(header: str) -> dict[str, object]:
    """The claims of a token, after checking it as RFC 7515 §5.2 says, written down here once more."""
    assert header.startswith("Bearer ")
    token = header.removeprefix("Bearer ")
    first, second, third = token.split(".")
    assert "=" not in token
    mac = hmac.new(b"a-very-secret-half", f"{first}.{second}".encode("ascii"), hashlib.sha256).digest()
    assert base64.urlsafe_b64encode(mac).decode().rstrip("=") == third
    assert json.loads(base64.urlsafe_b64decode(first + "==")) == {"alg": "HS256", "sign_type": "SIGN"}
    return json.loads(base64.urlsafe_b64decode(second + "=="))


async def test_zhipu_is_sent_a_signed_token_in_the_place_of_the_key(server: ModelServer) -> None:
    clock = FixedClock(now=1_790_000_000.25)
    async with aclosing(openai(server, "zhipu-jwt", clock=clock)) as provider:
        headers = await sent(server, provider)
    assert list(headers) == ["authorization"]
    assert verified(headers["authorization"]) == {
        "api_key": "abc123",
        "exp": 1_790_000_210_250,
        "timestamp": 1_790_000_000_250,
    }
    assert "a-very-secret-half" not in str(server.requests[-1])


async def test_a_token_is_renewed_before_it_runs_out(server: ModelServer) -> None:
    clock = FixedClock()
    made = clock.now()
    async with aclosing(openai(server, "zhipu-jwt", clock=clock)) as provider:
        first = await sent(server, provider)
        clock.seconds = made + 179
        assert await sent(server, provider) == first
        clock.seconds = made + 181
        second = await sent(server, provider)
        assert second != first
        assert verified(second["authorization"])["exp"] == round((made + 181 + TOKEN_LIFE) * 1000)
        clock.seconds = made  # the clock was set back: the token may be of a time that never was
        assert await sent(server, provider) == first


@pytest.mark.parametrize("key", ["no-dot-in-it", ".half-of-it", "name."])
async def test_a_key_of_another_form_is_explained_and_not_shown(server: ModelServer, key: str) -> None:
    async with aclosing(openai(server, "zhipu-jwt", key=key)) as provider:
        with pytest.raises(ProviderAuthFailed, match=r'the key of acme is not of the form "id\.secret"') as caught:
            await provider.chat(asking())
    assert key not in str(caught.value)
    assert not server.requests


async def test_a_header_of_the_users_own_is_sent_in_the_place_of_a_token(server: ModelServer) -> None:
    own = (("authorization", Secret("Bearer mine")),)
    async with aclosing(openai(server, "zhipu-jwt", headers=own)) as provider:
        assert await sent(server, provider) == {"authorization": "Bearer mine"}
