"""The families of OpenAI's Responses and Google's Gemini over real connections."""

import gc
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Literal, NamedTuple

import anyio
import pytest

from claw_acp.contracts.provider import Finished, ModelInfo, Provider, TextChunk
from claw_acp.contracts.provider_setup import ProviderSetup, Quirks
from claw_acp.core.errors import (
    ContextTooLong,
    EmptyAnswer,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderError,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
    StreamInterrupted,
    ToolsUnsupported,
)
from claw_acp.core.messages import Usage
from claw_acp.core.secret import Secret
from claw_acp.providers.gemini.provider import GeminiProvider
from claw_acp.providers.responses.provider import ResponsesProvider
from tests.providers.conversation import asking
from tests.providers.responses.test_stream import kept
from tests.support.servers import gemini_replies, responses_replies
from tests.support.servers.model_replies import Call, Cut, Json, NoAnswer, Raw, Say, Stall, Tokens, failure
from tests.support.servers.model_server import ModelServer

KEY = "AIza-test-0123456789abcdef"
Kind = Literal["responses", "gemini"]


class Family(NamedTuple):
    """What a test needs to know of a family."""

    kind: Kind
    make: Callable[[ProviderSetup], Provider]
    version: str  # what stands in the base URL
    answered: Callable[[Say], Raw]
    path: str
    headers: Mapping[str, str]


FAMILIES = {
    "responses": Family(
        "responses",
        ResponsesProvider,
        "/v1",
        responses_replies.answered,
        "/v1/responses",
        {"authorization": f"Bearer {KEY}"},
    ),
    "gemini": Family(
        "gemini",
        GeminiProvider,
        "",
        gemini_replies.answered,
        "/v1beta/models/test-model:streamGenerateContent?alt=sse",
        {"x-goog-api-key": KEY},
    ),
}


@pytest.fixture(params=list(FAMILIES))
def family(request: pytest.FixtureRequest) -> Family:
    return FAMILIES[request.param]


def provider_for(kind: Kind, server: ModelServer, *, version: str | None = None) -> Provider:
    family = FAMILIES[kind]
    url = f"http://127.0.0.1:{server.port}{family.version if version is None else version}"
    return family.make(ProviderSetup(name="acme", kind=kind, base_url=url, api_key=Secret(KEY)))


@pytest.fixture
async def provider(family: Family, server: ModelServer) -> AsyncIterator[Provider]:
    async with aclosing(provider_for(family.kind, server)) as provider:
        yield provider


# ------------------------------------------------------------------ requests and connections


async def test_a_request_has_its_path_and_its_key_in_a_header(
    server: ModelServer, provider: Provider, family: Family
) -> None:
    server.will_reply(family.answered(Say(text=("Hel", "lo"))))
    assert (await provider.chat(asking())).text == "Hello"
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", family.path)
    assert family.headers.items() <= request.headers.items()
    assert KEY not in request.path


async def test_turns_share_one_connection(server: ModelServer, provider: Provider, family: Family) -> None:
    for _ in range(3):
        server.will_reply(family.answered(Say(text=("x",))))
        await provider.chat(asking())
    assert [request.connection for request in server.requests] == [0, 0, 0]


async def test_cancelling_a_stream_closes_its_connection(
    server: ModelServer, provider: Provider, family: Family
) -> None:
    pieces = family.answered(Say(text=("a", "b"))).pieces
    server.will_reply(Raw(pieces=[*pieces[: 4 if family.kind == "responses" else 1], Stall()]))
    with anyio.CancelScope() as scope:
        async with aclosing(provider.stream(asking())) as events:  # pyright: ignore[reportArgumentType]
            async for event in events:
                if isinstance(event, TextChunk):
                    scope.cancel()
    assert scope.cancelled_caught
    await server.all_closed()
    gc.collect()  # anything left behind would complain now
    server.will_reply(family.answered(Say(text=("next",))))
    assert (await provider.chat(asking())).text == "next"


async def test_cancelling_before_the_first_byte_closes_the_connection(server: ModelServer, provider: Provider) -> None:
    server.will_reply(NoAnswer())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(provider.chat, asking())
        await server.until(lambda server: len(server.requests) == 1)
        tasks.cancel_scope.cancel()
    await server.all_closed()
    gc.collect()


async def test_leaving_a_stream_early_closes_its_connection(
    server: ModelServer, provider: Provider, family: Family
) -> None:
    pieces = family.answered(Say(text=("a", "b", "c"))).pieces
    server.will_reply(Raw(pieces=[*pieces[:5], Stall()]))
    async with aclosing(provider.stream(asking())) as events:  # pyright: ignore[reportArgumentType]
        async for event in events:
            if isinstance(event, TextChunk):
                break
    await server.all_closed()
    gc.collect()


async def test_an_answer_that_breaks_off_is_an_error(server: ModelServer, provider: Provider, family: Family) -> None:
    server.will_reply(Raw(pieces=[*family.answered(Say(text=("a", "b"))).pieces[:-1], Cut()]))
    with pytest.raises(StreamInterrupted, match="broke off"):
        await provider.chat(asking())


async def test_an_empty_answer_tells_its_usage(server: ModelServer, provider: Provider, family: Family) -> None:
    server.will_reply(family.answered(Say(usage=Tokens(input=3, output=2))))
    with pytest.raises(EmptyAnswer) as caught:
        await provider.chat(asking())
    assert caught.value.usage == Usage(input_tokens=3, output_tokens=2)
    assert (caught.value.model, caught.value.provider) == ("test-model", "acme")


# ------------------------------------------------------------------ refusals

DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"


def google(code: int, status: str, message: str, *details: Json) -> Raw:
    """A `google.rpc.Status`, in the list in which streaming methods send it."""
    return failure(code, [{"error": {"code": code, "message": message, "status": status, "details": details}}])


def spent(quota: str) -> Raw:
    """A quota's refusal as in https://ai.google.dev/gemini-api/docs/rate-limits and
    https://github.com/google-gemini/gemini-cli/issues/8437."""
    kinds = "type.googleapis.com/google.rpc."
    words = "You exceeded your current quota, please check your plan and billing details."
    violated: Json = {"@type": f"{kinds}QuotaFailure", "violations": [{"quotaId": quota}]}
    return google(429, "RESOURCE_EXHAUSTED", words, violated, {"@type": f"{kinds}RetryInfo", "retryDelay": "36.4s"})


BAD_KEY: Json = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
NOT_FOUND = "models/test-model is not found for API version v1beta, or is not supported for generateContent."
TOO_LONG = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."
NO_TOOLS = "Function calling is not enabled for models/gemma-3-27b-it"

GOOGLES: list[tuple[Raw, type[ProviderError]]] = [
    (google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", BAD_KEY), ProviderAuthFailed),
    (google(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers"), ProviderAuthFailed),
    (google(404, "NOT_FOUND", NOT_FOUND), ModelNotFound),
    (google(400, "INVALID_ARGUMENT", TOO_LONG), ContextTooLong),
    (google(400, "INVALID_ARGUMENT", NO_TOOLS), ToolsUnsupported),
    (google(400, "INVALID_ARGUMENT", "Please ensure that function call turn comes after"), RequestRejected),
    (google(400, "FAILED_PRECONDITION", "User location is not supported for the API use."), RequestRejected),
    (spent(MINUTE), RateLimited),
    (spent(DAY), QuotaExceeded),
    (google(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."), RateLimited),
    (google(500, "INTERNAL", "An internal error has occurred."), ProviderUnavailable),
    (google(503, "UNAVAILABLE", "The model is overloaded. Please try again later."), ProviderUnavailable),
    (google(504, "DEADLINE_EXCEEDED", "The request timed out."), ProviderUnavailable),
]


@pytest.mark.parametrize(("reply", "kind"), GOOGLES)
async def test_a_refusal_of_google_is_the_error_it_means(
    server: ModelServer, reply: Raw, kind: type[ProviderError]
) -> None:
    """The codes: https://ai.google.dev/gemini-api/docs/troubleshooting."""
    async with aclosing(provider_for("gemini", server)) as provider:
        server.will_reply(reply)
        with pytest.raises(kind) as caught:
            await provider.chat(asking())
    assert type(caught.value) is kind
    assert caught.value.retry_after == (36.4 if kind is RateLimited and "current quota" in str(caught.value) else None)


async def test_summaries_are_given_up_where_the_service_refuses_them(server: ModelServer) -> None:
    """The refusal: https://github.com/openai/openai-cookbook/issues/2271."""
    words = "Your organization must be verified to generate reasoning summaries."
    error: Json = {"message": words, "type": "invalid_request_error", "param": "reasoning.summary"}
    request = asking(model="gpt-5.1", effort="low")
    async with aclosing(provider_for("responses", server)) as provider:
        server.will_reply(failure(400, {"error": error}))
        for text in ("a", "b"):
            server.will_reply(responses_replies.answered(Say(text=(text,))))
            assert (await provider.chat(request)).text == text
        asked = [sent.json["reasoning"] for sent in server.requests]
        assert asked == [{"effort": "low", "summary": "auto"}, {"effort": "low"}, {"effort": "low"}]
        server.will_reply(failure(400, {"error": error}))
        with pytest.raises(RequestRejected, match="must be verified"):
            await provider.chat(request)  # it was not asked for: once is enough


async def test_another_refusal_does_not_cost_the_summaries(server: ModelServer) -> None:
    async with aclosing(provider_for("responses", server)) as provider:
        server.will_fail(400, {"error": {"message": "bad top_p"}})
        with pytest.raises(RequestRejected, match="bad top_p"):
            await provider.chat(asking(model="gpt-5.1"))
    assert len(server.requests) == 1


# ------------------------------------------------------------------ addresses and lists


async def test_the_version_in_googles_address_is_said_once(server: ModelServer) -> None:
    for version in ("", "/v1beta"):
        async with aclosing(provider_for("gemini", server, version=version)) as provider:
            server.will_reply(gemini_replies.answered(Say(text=("x",))))
            await provider.chat(asking(model="tunedModels/my model"))
    assert {request.path for request in server.requests} == {
        "/v1beta/tunedModels/my%20model:streamGenerateContent?alt=sse"
    }


async def test_googles_list_has_what_can_answer_and_the_windows(server: ModelServer) -> None:
    server.always_lists(failure(200, gemini_replies.MODELS))
    async with aclosing(provider_for("gemini", server)) as provider:
        assert await provider.models() == [
            ModelInfo(
                id="gemini-3.5-flash",
                name="Gemini 3.5 Flash",
                description="Fast",
                context_window=1_048_576,
                thinking=True,
            ),
            ModelInfo(id="gemma-3", context_window=32_768),
        ]
        broken: list[Json] = [[], {"models": {}}, {"models": [1, {"name": 2}]}]
        for nonsense in broken:
            server.always_lists(failure(200, nonsense))
            assert await provider.models() == []
    assert server.requests[0].path == "/v1beta/models?pageSize=1000"


async def test_the_list_of_a_responses_service_is_that_of_openai(server: ModelServer) -> None:
    async with aclosing(provider_for("responses", server)) as provider:
        assert [model.id for model in await provider.models()] == ["test-model", "other-model"]


async def test_a_service_may_answer_elsewhere_and_have_no_list(server: ModelServer) -> None:
    quirks = Quirks(path="openai/responses?api-version=preview", models_path="")
    url = f"http://127.0.0.1:{server.port}"
    async with aclosing(
        ResponsesProvider(ProviderSetup(name="acme", kind="responses", base_url=url, quirks=quirks))
    ) as provider:
        server.will_reply(responses_replies.answered(Say(text=("x",))))
        await provider.chat(asking())
        assert await provider.models() == ()
    assert [request.path for request in server.requests] == ["/openai/responses?api-version=preview"]


async def test_calls_that_come_in_one_read_are_all_there(
    server: ModelServer, provider: Provider, family: Family
) -> None:
    calls = (Call(name="f", arguments={"a": "żółć"}, id="c1"), Call(name="g", arguments={}, id="c2"))
    server.will_reply(family.answered(Say(thinking=("hm",), text=("Both",), calls=calls, split="whole")))
    response = await provider.chat(asking(tools=True))
    assert ([call.name for call in response.tool_calls], response.stop) == (["f", "g"], "tool_calls")


async def test_thinking_that_ended_is_not_joined_with_what_follows_in_the_same_read(server: ModelServer) -> None:
    parts: list[Json] = [
        {"text": "a", "thought": True},
        {"text": "b", "thought": True, "thoughtSignature": "T"},
        {"text": "x"},
    ]
    server.will_reply(Raw(pieces=[gemini_replies.event(*parts, finish="STOP")]))
    async with aclosing(provider_for("gemini", server)) as provider:
        *events, last = [event async for event in provider.stream(asking())]
    assert isinstance(last, Finished)
    assert kept(events) == last.response.reasoning
    assert [block.text for block in last.response.reasoning] == ["a", "b"]
