"""Both families over real connections: what comes back, what goes wrong, and what happens to the sockets."""

import gc
import gzip
from collections.abc import AsyncIterator
from contextlib import aclosing

import anyio
import pytest

from claw_acp.contracts.provider import ChatRequest, Finished, Provider, StreamEvent, TextChunk, ThoughtChunk
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import (
    ClawError,
    ContextTooLong,
    EmptyAnswer,
    MalformedReply,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
    ServiceMisconfigured,
    StreamInterrupted,
)
from claw_acp.core.secret import Secret
from claw_acp.providers.anthropic.provider import AnthropicProvider
from claw_acp.providers.openai.provider import OpenAIChatProvider
from claw_acp.providers.transport.http_service import Timeouts
from tests.providers.conversation import asking
from tests.support.servers.model_replies import (
    Call,
    Cut,
    Family,
    Gate,
    HangUp,
    NoAnswer,
    Raw,
    Reply,
    Say,
    Stall,
    failure,
)
from tests.support.servers.model_server import ModelServer, refusing_address, running_model_server

KEY = "sk-test-0123456789abcdef"
# one short bound each: the other must not depend on how busy this machine is
HASTY: dict[type, Timeouts] = {NoAnswer: Timeouts(first_byte=0.05), Say: Timeouts(idle=0.05)}


def provider_for(
    family: Family, server: ModelServer, *, timeouts: Timeouts | None = None, key: str | None = KEY
) -> Provider:
    url = server.openai_url if family == "openai" else server.anthropic_url
    setup = ProviderSetup(name="acme", kind=family, base_url=url, api_key=Secret(key) if key else None)
    make = OpenAIChatProvider if family == "openai" else AnthropicProvider
    return make(setup, timeouts=timeouts)


@pytest.fixture
async def provider(family: Family, server: ModelServer) -> AsyncIterator[Provider]:
    async with aclosing(provider_for(family, server)) as provider:
        yield provider


async def events_of(provider: Provider, request: ChatRequest | None = None) -> list[StreamEvent]:
    return [event async for event in provider.stream(request or asking())]


# ------------------------------------------------------------------ answers


@pytest.mark.parametrize("split", ["events", "bytes", "whole"])
async def test_an_answer_arrives_however_the_network_cuts_it(
    server: ModelServer, provider: Provider, split: str
) -> None:
    call = Call(name="f", arguments={"a": "żółć"}, id="c1")
    server.will_reply(Say(thinking=("hm",), text=("Hel", "lo"), calls=(call,), split=split))  # pyright: ignore[reportArgumentType]
    *chunks, last = await events_of(provider)
    together = split == "whole"  # what came in one read is passed on in one piece
    assert [event.text for event in chunks if isinstance(event, TextChunk)] == (
        ["Hello"] if together else ["Hel", "lo"]
    )
    assert isinstance(last, Finished)
    assert (last.response.text, last.response.stop) == ("Hello", "tool_calls")
    assert last.response.tool_calls[0].arguments == call.json


async def test_pieces_that_arrive_together_are_joined_by_kind_and_never_across_blocks(
    server: ModelServer, provider: Provider, family: Family
) -> None:
    server.will_reply(Say(thinking=("h", "m"), text=("Hel", "lo"), split="whole"))
    thought, *rest = (await events_of(provider))[:-1]
    assert thought == ThoughtChunk(text="hm")
    if family == "anthropic":
        signed = rest.pop(0)
        assert isinstance(signed, ThoughtChunk)
        assert signed.signature
    assert rest == [TextChunk(text="Hello")]


async def test_chat_is_the_stream_in_one_piece(server: ModelServer, provider: Provider) -> None:
    server.will_say("Hel", "lo")
    assert (await provider.chat(asking())).text == "Hello"
    server.will_say("again")
    assert await provider.simple_chat("test-model", "hi") == "again"


async def test_a_chunk_is_yielded_before_the_next_one_is_sent(
    server: ModelServer, provider: Provider, family: Family
) -> None:
    gate = Gate()
    server.will_say("a", "b", insert={2 if family == "openai" else 4: gate})
    seen: list[str] = []
    with anyio.fail_after(5):
        async for event in provider.stream(asking()):
            if isinstance(event, TextChunk):
                seen.append(event.text)
                gate.open()  # only now may the second piece leave the server
    assert seen == ["a", "b"]


async def test_a_compressed_stream_is_read_although_none_was_asked_for(server: ModelServer, provider: Provider) -> None:
    plain = b"".join(b for b in Say(text=("x",)).render(family_of(provider)).pieces if isinstance(b, bytes))
    server.will_reply(Raw(pieces=[gzip.compress(plain)], headers={"content-encoding": "gzip"}))
    assert (await provider.chat(asking())).text == "x"


def family_of(provider: Provider) -> Family:
    return "openai" if isinstance(provider, OpenAIChatProvider) else "anthropic"


async def test_requests_carry_key_version_and_path(server: ModelServer, provider: Provider, family: Family) -> None:
    server.will_say("x")
    await provider.chat(asking())
    (request,) = server.requests
    assert request.method == "POST"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["accept-encoding"] == "identity"
    if family == "openai":
        assert request.path == "/v1/chat/completions"
        assert request.headers["authorization"] == f"Bearer {KEY}"
    else:
        assert request.path == "/v1/messages"
        assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == (KEY, "2023-06-01")


async def test_betas_are_asked_for_only_by_configured_headers(server: ModelServer) -> None:
    beta = (("anthropic-beta", Secret("some-beta-2026-01-01")),)
    for headers, sent in (((), None), (beta, "some-beta-2026-01-01")):
        setup = ProviderSetup(name="acme", kind="anthropic", base_url=server.anthropic_url, headers=headers)
        async with aclosing(AnthropicProvider(setup)) as provider:
            server.will_say("x")
            await provider.chat(asking(model="claude-opus-5", effort="high", tools=True))
        assert server.requests[-1].headers.get("anthropic-beta") == sent


def test_anthropic_caches_up_to_marks_and_the_others_by_themselves() -> None:
    anthropic = AnthropicProvider(ProviderSetup(name="a", kind="anthropic"))
    openai = OpenAIChatProvider(ProviderSetup(name="o", kind="openai"))
    assert (anthropic.capabilities("claude-opus-5").cache, openai.capabilities("gpt-5").cache) == ("explicit", "none")


async def test_without_a_key_none_is_sent(server: ModelServer, family: Family) -> None:
    async with aclosing(provider_for(family, server, key=None)) as provider:
        server.will_say("x")
        await provider.chat(asking())
    assert not {"authorization", "x-api-key"} & server.requests[0].headers.keys()


async def test_text_that_is_not_unicode_is_sent_as_well_as_it_can_be(server: ModelServer, provider: Provider) -> None:
    server.will_say("x")
    await provider.simple_chat("test-model", "half a \ud83e pair")
    assert b"half a ? pair" in server.requests[0].body


async def test_models_are_listed(server: ModelServer, provider: Provider) -> None:
    assert [model.id for model in await provider.models()] == ["test-model", "other-model"]


# ------------------------------------------------------------------ connections


async def test_turns_share_one_connection(server: ModelServer, provider: Provider) -> None:
    for _ in range(3):
        server.will_say("x")
        await provider.chat(asking())
    assert [request.connection for request in server.requests] == [0, 0, 0]


async def test_a_connection_the_service_closed_meanwhile_is_replaced(server: ModelServer, provider: Provider) -> None:
    server.will_say("x")
    await provider.chat(asking())
    await server.drop_connections()
    server.will_say("y")
    assert (await provider.chat(asking())).text == "y"
    assert server.connections == 2


async def test_a_refused_request_leaves_the_connection_usable(server: ModelServer, provider: Provider) -> None:
    server.will_fail(429, {"error": {"message": "slow"}})
    server.will_say("x")
    with pytest.raises(RateLimited):
        await provider.chat(asking())
    await provider.chat(asking())
    assert server.connections == 1


async def test_cancelling_a_stream_closes_its_connection(server: ModelServer, provider: Provider) -> None:
    server.will_say("a", "b", insert={4: Stall()})
    with anyio.CancelScope() as scope:
        async with aclosing(provider.stream(asking())) as events:  # pyright: ignore[reportArgumentType]
            async for event in events:
                if isinstance(event, TextChunk):
                    scope.cancel()
    assert scope.cancelled_caught
    await server.all_closed()
    gc.collect()  # anything left behind would complain now


async def test_cancelling_before_the_first_byte_closes_the_connection(server: ModelServer, provider: Provider) -> None:
    server.will_reply(NoAnswer())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(provider.chat, asking())
        await server.until(lambda server: len(server.requests) == 1)
        tasks.cancel_scope.cancel()
    await server.all_closed()
    gc.collect()


async def test_leaving_a_stream_early_closes_its_connection(server: ModelServer, provider: Provider) -> None:
    server.will_say("a", "b", "c", insert={5: Stall()})
    async with aclosing(provider.stream(asking())) as events:  # pyright: ignore[reportArgumentType]
        async for event in events:
            if isinstance(event, TextChunk):
                break
    await server.all_closed()
    gc.collect()
    server.will_say("next")
    assert (await provider.chat(asking())).text == "next"


async def test_sessions_stream_side_by_side(server: ModelServer, provider: Provider) -> None:
    gate = Gate()
    server.will_reply(*(Say(text=("x",), insert={0: gate}) for _ in range(20)))
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(provider.chat, asking())
        await server.until(lambda server: len(server.requests) == 20)
        gate.open()
    assert server.connections == 20


# ------------------------------------------------------------------ failures

LONG = "sorry " * 400
FAILURES: list[tuple[Reply, type[ClawError], str]] = [
    (failure(401, {"error": {"message": f"bad key {KEY}"}}), ProviderAuthFailed, r"refused the API key.*key \*\*\*"),
    (failure(404, {"error": {"message": "model: test-model"}}), ModelNotFound, "does not know the model test-model"),
    (failure(429, {"error": {"message": "slow"}}, headers={"retry-after": "3"}), RateLimited, "slow"),
    (failure(429, {"error": {"message": "x", "code": "insufficient_quota"}}), QuotaExceeded, "no credit left"),
    (failure(400, {"error": {"message": "prompt is too long"}}), ContextTooLong, "Shorten or compact"),
    (failure(400, {"error": {"message": "bad top_p"}}), RequestRejected, "bad top_p"),
    (failure(500, LONG), ProviderUnavailable, "sorry"),
    (failure(529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}), ProviderUnavailable, "Overloaded"),
    (failure(502, "<html><body>Bad</body></html>"), ProviderUnavailable, r"\(test-model, HTTP 502\)\. Try again"),
    (failure(307, "", headers={"location": "http://127.0.0.1:1/"}), ServiceMisconfigured, "answered with a redirect"),
    (failure(200, {"error": {"message": "no GPU"}}), ProviderUnavailable, "no GPU"),
    (failure(200, {"choices": []}), MalformedReply, "one JSON document instead of a stream"),
    (Raw(pieces=[b"<html>"], content_type="text/html;charset=utf8"), MalformedReply, "a web page instead of a stream"),
    (Raw(pieces=[b"data: {garbage\n\n"]), MalformedReply, "not JSON"),
    (Raw(pieces=[b"\x00\xff\x17garbage"]), StreamInterrupted, "in the middle of its answer"),
    (Say(text=("a", "b"), insert={4: Cut()}), StreamInterrupted, r"^acme \(test-model\): .* broke off"),
    (Say(), EmptyAnswer, "neither text nor tool calls"),
    (HangUp(), ProviderUnavailable, "closed the connection without an answer"),
    (NoAnswer(), ProviderTimeout, "did not begin to answer within 0.05 s"),
    (Say(text=("a", "b"), insert={4: Stall()}), ProviderTimeout, r"fell silent for 0.05 s"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "kind", "words"), FAILURES, ids=[f"{row[1].__name__}-{i}" for i, row in enumerate(FAILURES)]
)
async def test_a_failure_is_one_error_that_says_what_happened(
    server: ModelServer, family: Family, reply: Reply, kind: type[ClawError], words: str
) -> None:
    timeouts = HASTY[type(reply)] if kind is ProviderTimeout else None
    async with aclosing(provider_for(family, server, timeouts=timeouts)) as provider:
        server.will_reply(reply)
        with pytest.raises(kind, match=words) as caught:
            await provider.chat(asking())
    assert type(caught.value) is kind
    assert str(caught.value).startswith("acme")
    assert "test-model" in str(caught.value)
    assert getattr(caught.value, "model", None) == "test-model"
    assert KEY not in repr(caught.value) + str(caught.value.data)
    assert len(str(caught.value)) < 750


async def test_retry_after_travels_with_the_error(server: ModelServer, provider: Provider) -> None:
    server.will_fail(429, {"error": {"message": "slow"}}, headers={"Retry-After": "3"})
    with pytest.raises(RateLimited) as caught:
        await provider.chat(asking())
    assert caught.value.retry_after == 3.0
    assert caught.value.data == {
        "kind": "RateLimited",
        "provider": "acme",
        "model": "test-model",
        "status": 429,
        "retryAfter": 3.0,
    }


async def test_a_list_of_models_that_is_none_is_explained(server: ModelServer) -> None:
    async with aclosing(provider_for("openai", server)) as provider:
        server.always_lists(Raw(pieces=[b"<html>"], content_type="text/html"))
        with pytest.raises(MalformedReply, match="not JSON"):
            await provider.models()
        server.always_lists(failure(401, {"error": {"message": "who?"}}))
        with pytest.raises(ProviderAuthFailed, match=r"who\?"):
            await provider.models()


async def test_a_refused_connection_names_host_and_port() -> None:
    with refusing_address() as url:
        async with aclosing(
            OpenAIChatProvider(ProviderSetup(name="acme", kind="openai", base_url=url, api_key=Secret(KEY)))
        ) as provider:
            with pytest.raises(ProviderUnreachable, match=r"127\.0\.0\.1:\d+ \(Connection refused\)"):
                await provider.chat(asking())


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/v1", "127.0.0.1:80/v1", "http://[::bad/v1"])
async def test_a_base_url_that_is_none_is_explained(url: str) -> None:
    async with aclosing(
        OpenAIChatProvider(ProviderSetup(name="acme", kind="openai", base_url=url, api_key=Secret(KEY)))
    ) as provider:
        with pytest.raises(RequestRejected, match="not an http:// or https:// address"):
            await provider.chat(asking())


@pytest.mark.parametrize("key", ["sk-test\nabcdefgh", "sk-tést-abcdefgh"])
async def test_a_key_that_cannot_be_sent_is_explained_and_not_shown(server: ModelServer, key: str) -> None:
    async with aclosing(provider_for("openai", server, key=key)) as provider:
        with pytest.raises(ProviderAuthFailed, match="holds a character that cannot be sent") as caught:
            await provider.chat(asking())
    assert key not in str(caught.value)


async def test_blank_space_around_a_key_is_no_part_of_it(server: ModelServer) -> None:
    async with aclosing(provider_for("openai", server, key=f" {KEY}\n")) as provider:
        server.will_say("x")
        await provider.chat(asking())
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_proxy_settings_that_make_no_sense_are_explained(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "gopher://127.0.0.1:1")
    async with aclosing(provider_for("openai", server)) as provider:
        with pytest.raises(RequestRejected, match="proxy settings of the environment"):
            await provider.chat(asking())


def test_the_server_serves_synchronous_tests_from_a_thread() -> None:
    gate = Gate()
    with running_model_server() as server:
        server.will_say("from ", "a thread", insert={2: gate})

        async def ask() -> str:
            async with aclosing(provider_for("openai", server)) as provider:
                text = ""
                async for event in provider.stream(asking()):
                    if isinstance(event, TextChunk):
                        text += event.text
                        gate.open()
            return text

        assert anyio.run(ask) == "from a thread"
