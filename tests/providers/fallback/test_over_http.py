"""Keys, waits and broken streams on real connections."""

from collections.abc import AsyncGenerator
from email.utils import formatdate

import pytest

from claw_acp.contracts.provider import Retrying, Spent, Switched, TextChunk
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import ProviderAuthFailed, StreamInterrupted
from claw_acp.core.secret import Secret
from claw_acp.core.value import replace
from claw_acp.providers.assembly import plain
from claw_acp.providers.fallback.reliable import INCOMPLETE, Reliable
from claw_acp.providers.selection.target import Target
from tests.providers.attempts import Sleeper, heard
from tests.providers.conversation import asking
from tests.support.fixed_clock import FixedClock
from tests.support.servers.model_replies import Call, Cut, HangUp, NoAnswer, Say
from tests.support.servers.model_server import ModelServer

FAMILIES = ("openai", "anthropic")
ONE, TWO = "key-of-the-first-account", "key-of-the-second-account"


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as running:
        yield running


class Wire:
    """A service with two keys, in one family."""

    def __init__(self, server: ModelServer, family: str, *, timeout: float | None = None) -> None:
        self.server = server
        self.clock = FixedClock()
        self.sleeper = Sleeper(self.clock)
        self.setup = ProviderSetup(
            name="acme",
            kind=family,
            base_url=server.openai_url if family == "openai" else server.anthropic_url,
            timeout=timeout,
            clock=self.clock,
        )

    def provider(self, *keys: str, models: tuple[str, ...] = ("test-model",)) -> Reliable:
        setups = [replace(self.setup, api_key=Secret(key)) for key in keys or (ONE,)]
        return Reliable(
            [Target(setup=setup, model=model) for model in models for setup in setups],
            providers={setup: plain(setup, clock=self.clock) for setup in setups},
            secrets=keys,
            clock=self.clock,
            sleep=self.sleeper,
        )

    def keys_seen(self) -> list[str]:
        return [
            request.headers.get("x-api-key") or request.headers["authorization"].removeprefix("Bearer ")
            for request in self.server.requests
        ]


@pytest.mark.parametrize("family", FAMILIES)
async def test_after_a_refused_key_the_second_key_is_on_the_wire(family: str, server: ModelServer) -> None:
    server.serves_only(TWO)
    server.will_say("Hello")
    server.will_say("Again")
    wire = Wire(server, family)
    provider = wire.provider(ONE, TWO)
    assert await provider.simple_chat("test-model", "hi") == "Hello"
    assert await provider.simple_chat("test-model", "hi") == "Again"
    assert wire.keys_seen() == [ONE, TWO, TWO], "a refused key is not used again"
    await provider.aclose()


async def test_a_limited_key_gives_way_at_once_and_comes_back_when_it_said(server: ModelServer) -> None:
    wire = Wire(server, "openai")
    provider = wire.provider(ONE, TWO)
    server.will_fail(429, {"error": {"message": "slow down"}}, headers={"retry-after": "20"})
    for _ in range(3):
        server.will_say("ok")
    await provider.simple_chat("m", "hi")
    await provider.simple_chat("m", "hi")
    wire.clock.seconds += 20
    await provider.simple_chat("m", "hi")
    assert (wire.keys_seen(), wire.sleeper.delays) == ([ONE, TWO, TWO, ONE], [])
    await provider.aclose()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
async def test_the_services_wish_is_waited_for_in_both_of_its_forms(
    family: str, status: int, server: ModelServer
) -> None:
    """RFC 9110, section 10.2.3 (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after)."""
    wire = Wire(server, family)
    date = formatdate(wire.clock.now() + 33, usegmt=True)
    server.will_fail(status, "busy", headers={"retry-after": "7"})
    server.will_fail(status, "busy", headers={"retry-after": date})
    server.will_say("ok")
    provider = wire.provider()
    events, error = await heard(provider, asking())
    assert error is None
    assert [event.delay for event in events if isinstance(event, Retrying)] == wire.sleeper.delays
    assert wire.sleeper.delays == [7.0, pytest.approx(33 - 7, abs=1)], "the date is a moment, and the clock moved on"
    await provider.aclose()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("broken", [HangUp(), Say(text=("Hel", "lo"), insert={0: Cut()})], ids=["hung up", "cut"])
async def test_what_breaks_before_any_output_is_asked_again(
    family: str, broken: HangUp | Say, server: ModelServer
) -> None:
    server.will_reply(broken)
    server.will_say("ok")
    wire = Wire(server, family)
    provider = wire.provider()
    assert await provider.simple_chat("m", "hi") == "ok"
    assert wire.sleeper.delays == [0.5]
    await provider.aclose()


@pytest.mark.parametrize("family", FAMILIES)
async def test_what_breaks_after_some_output_is_not(family: str, server: ModelServer) -> None:
    server.will_reply(Say(text=("Hel", "lo", "!"), insert={2 if family == "openai" else 4: Cut()}))
    wire = Wire(server, family)
    provider = wire.provider(ONE, TWO)
    events, error = await heard(provider, asking())
    assert isinstance(error, StreamInterrupted)
    assert error.message.endswith(INCOMPLETE)
    assert [event for event in events if not isinstance(event, Spent)] == [TextChunk(text="Hel")]
    assert len(server.requests) == 1
    await provider.aclose()


@pytest.mark.parametrize("family", FAMILIES)
async def test_of_each_attempt_it_is_told_that_it_began_to_answer(family: str, server: ModelServer) -> None:
    server.will_fail(500, "busy")
    for _ in range(2):
        server.will_reply(Say(calls=(Call(name="write", arguments={"text": "x" * 200}, pieces=9),), insert={6: Cut()}))
    begun: list[str] = []
    provider = Wire(server, family).provider()
    _, error = await heard(provider, replace(asking(), on_first_byte=lambda: begun.append("begun")))
    assert isinstance(error, StreamInterrupted)
    assert len(begun) == 2
    await provider.aclose()


async def test_who_does_not_begin_to_answer_is_left_for_another_without_a_second_try(server: ModelServer) -> None:
    server.will_reply(NoAnswer())
    server.will_say("ok")
    wire = Wire(server, "openai", timeout=0.05)
    provider = wire.provider(ONE, models=("slow", "fast"))
    events, error = await heard(provider, asking(model="slow"))
    assert error is None
    assert [event.to for event in events if isinstance(event, Switched)] == ["acme/fast"]
    assert [request.json["model"] for request in server.requests] == ["slow", "fast"]
    await provider.aclose()


async def test_no_key_is_ever_in_an_error(server: ModelServer) -> None:
    for key in (ONE, TWO):
        server.will_fail(401, {"error": {"message": f"the key {key} opens nothing"}})
    provider = Wire(server, "openai").provider(ONE, TWO)
    with pytest.raises(ProviderAuthFailed) as refused:
        await provider.simple_chat("m", "hi")
    assert "All 2 keys of acme failed." in refused.value.message
    assert ONE not in repr(refused.value)
    assert TWO not in repr(refused.value)
    await provider.aclose()
