"""OpenAI's models at Azure: both APIs, both ways to prove oneself, and what its content filter says.

Addresses and headers: https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle and
https://learn.microsoft.com/azure/ai-foundry/openai/reference. Filter results in streams and refusals:
https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter.
"""

import json
from contextlib import aclosing

import pytest
from inline_snapshot import snapshot

from claw_acp.contracts.provider import ChatResponse
from claw_acp.contracts.provider_setup import ProviderSetup, Quirks
from claw_acp.core.errors import ModelNotFound, RateLimited, RequestRejected
from claw_acp.core.messages import Message, Usage
from claw_acp.core.secret import Secret
from claw_acp.providers.openai.azure import AzureProvider
from claw_acp.providers.openai.stream import OpenAIStream
from tests.providers.conversation import asking
from tests.support.fixed_clock import FixedClock
from tests.support.servers.model_replies import Json, Raw, Say
from tests.support.servers.model_server import ModelServer

KEY = "0123456789abcdef0123456789abcdef"


def azure(
    server: ModelServer,
    end: str = "",
    *,
    version: str = "",
    key: str = KEY,
    headers: tuple[tuple[str, Secret], ...] = (),
    quirks: Quirks | None = None,
) -> AzureProvider:
    return AzureProvider(
        ProviderSetup(
            name="azure",
            kind="azure",
            base_url=server.anthropic_url + end,  # the server's address without a path
            api_version=version,
            api_key=Secret(key) if key else None,
            headers=headers,
            quirks=quirks or Quirks(),
        )
    )


V1 = "/openai/v1/chat/completions"
CLASSIC = "/openai/deployments/{}/chat/completions?api-version={}"


@pytest.mark.parametrize(
    ("end", "version", "asked"),
    [
        ("", "", V1),
        ("/", "", V1),
        ("/openai", "", V1),
        ("/openai/v1", "", V1),
        ("/openai/v1/", "", V1),
        ("/openai/v1/chat/completions", "", V1),
        ("", "preview", f"{V1}?api-version=preview"),
        ("", "2025-04-01-preview", CLASSIC.format("my%20gpt", "2025-04-01-preview")),
        ("/openai/v1", "2024-10-21", CLASSIC.format("my%20gpt", "2024-10-21")),
        ("/openai/deployments/theirs", "", CLASSIC.format("theirs", "2024-10-21")),
        (
            "/openai/deployments/theirs/chat/completions?api-version=2023-05-15",
            "2024-06-01",
            CLASSIC.format("theirs", "2024-06-01"),
        ),
    ],
)
async def test_requests_go_to_the_api_that_is_configured(
    server: ModelServer, end: str, version: str, asked: str
) -> None:
    server.will_say("x")
    async with aclosing(azure(server, end, version=version)) as provider:
        await provider.chat(asking(model="my gpt"))
    (request,) = server.requests
    assert request.path == asked
    assert request.headers["api-key"] == KEY
    assert "authorization" not in request.headers


async def test_a_request_is_openais_with_the_name_of_a_deployment(server: ModelServer) -> None:
    server.will_say("x")
    async with aclosing(azure(server)) as provider:
        await provider.chat(asking(Message.system("Be brief."), Message.user("hi"), model="my-gpt", max_tokens=9))
    assert server.requests[0].json == snapshot(
        {
            "model": "my-gpt",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_completion_tokens": 9,
        }
    )


async def test_a_token_of_entra_in_the_configured_headers_is_enough(server: ModelServer) -> None:
    server.will_say("x")
    token = (("authorization", Secret("Bearer eyToken")),)
    async with aclosing(azure(server, key="", headers=token)) as provider:
        await provider.chat(asking())
    (request,) = server.requests
    assert request.headers["authorization"] == "Bearer eyToken"
    assert "api-key" not in request.headers


async def test_quirks_go_before_what_azure_usually_wants(server: ModelServer) -> None:
    server.will_say("x")
    own = Quirks(auth="bearer", max_tokens="max_tokens", path="gateway/chat", stream_usage=False)
    async with aclosing(azure(server, quirks=own)) as provider:
        await provider.chat(asking(max_tokens=9))
    (request,) = server.requests
    assert (request.path, request.headers["authorization"]) == ("/gateway/chat", f"Bearer {KEY}")
    assert request.json["max_tokens"] == 9
    assert "stream_options" not in request.json


async def test_without_an_address_it_says_what_to_configure() -> None:
    async with aclosing(AzureProvider(ProviderSetup(name="azure", kind="azure", api_key=Secret(KEY)))) as provider:
        with pytest.raises(RequestRejected, match=r"Set base_url \(or AZURE_OPENAI_ENDPOINT\) to https://NAME"):
            await provider.chat(asking())


async def test_there_is_no_list_of_deployments(server: ModelServer) -> None:
    async with aclosing(azure(server)) as provider:
        assert await provider.models() == ()
    assert not server.requests


async def test_a_deployment_that_is_not_there_is_an_unknown_model(server: ModelServer) -> None:
    words = "The API deployment for this resource does not exist."
    server.will_fail(404, {"error": {"code": "DeploymentNotFound", "message": words}})
    async with aclosing(azure(server)) as provider:
        with pytest.raises(ModelNotFound, match="azure does not know the model my-gpt"):
            await provider.chat(asking(model="my-gpt"))


async def test_azures_own_way_to_say_when_to_come_back(server: ModelServer) -> None:
    server.will_fail(429, {"error": {"code": "429", "message": "slow"}}, headers={"retry-after-ms": "1500"})
    async with aclosing(azure(server)) as provider:
        with pytest.raises(RateLimited) as caught:
            await provider.chat(asking())
    assert caught.value.retry_after == 1.5


# ------------------------------------------------------------------ the content filter

SAFE: Json = {"hate": {"filtered": False, "severity": "safe"}}
FOUND: Json = {"hate": {"filtered": False, "severity": "safe"}, "violence": {"filtered": True, "severity": "medium"}}


async def test_a_prompt_that_is_filtered_says_why(server: ModelServer) -> None:
    words = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    inner: Json = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": FOUND}
    error: Json = {"message": words, "type": None, "param": "prompt", "code": "content_filter", "status": 400}
    server.will_fail(400, {"error": {**error, "innererror": inner}})
    async with aclosing(azure(server)) as provider:
        with pytest.raises(RequestRejected) as caught:
            await provider.chat(asking(model="my-gpt"))
    assert str(caught.value) == snapshot(
        "azure did not pass the prompt on, for its content filter (my-gpt, HTTP 400): The response was filtered due "
        "to the prompt triggering Azure OpenAI's content management policy. (filtered: violence). Rephrase "
        "the prompt, or change the filter with the vendor."
    )


def stream(*, finish: str) -> bytes:
    """A stream of Azure's: first what the filter says of the prompt, then pieces with what it says of them."""
    chunks: list[Json] = [
        {"choices": [], "model": "", "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": SAFE}]},
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
        {"choices": [{"content_filter_results": SAFE, "delta": {"content": "Zażó"}, "finish_reason": None}]},
        {"choices": [{"content_filter_results": SAFE, "delta": {"content": "łć"}, "finish_reason": None}]},
        {"choices": [{"index": 0, "content_filter_results": FOUND, "delta": {}, "finish_reason": finish}]},
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}},
    ]  # fmt: skip
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + b"data: [DONE]\n\n"


def parsed(*reads: bytes) -> ChatResponse:
    parser = OpenAIStream(provider="azure", model="my-gpt", clock=FixedClock())
    for data in reads:
        parser.feed(data)
    return parser.response()


@pytest.mark.parametrize(("finish", "stop"), [("stop", "end"), ("content_filter", "refusal"), ("length", "max_tokens")])
def test_an_answer_is_the_same_wherever_its_bytes_are_cut(finish: str, stop: str) -> None:
    body = stream(finish=finish)
    whole = parsed(body)
    assert (whole.text, whole.stop) == ("Zażółć", stop)
    assert whole.usage == Usage(input_tokens=9, output_tokens=4)
    assert parsed(*(body[at : at + 1] for at in range(len(body)))) == whole
    for cut in range(1, len(body)):
        assert parsed(body[:cut], body[cut:]) == whole, cut


async def test_an_answer_that_is_filtered_midway_is_a_refusal(server: ModelServer) -> None:
    server.will_reply(Raw(pieces=[stream(finish="content_filter")]))
    async with aclosing(azure(server)) as provider:
        response = await provider.chat(asking())
    assert (response.text, response.stop) == ("Zażółć", "refusal")


async def test_an_answer_that_is_filtered_whole_is_a_refusal_too(server: ModelServer) -> None:
    server.will_reply(Say(stop="content_filter"))
    async with aclosing(azure(server)) as provider:
        assert (await provider.chat(asking())).stop == "refusal"
