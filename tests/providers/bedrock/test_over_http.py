"""Bedrock over real connections, to a server that checks every signature with code of its own."""

import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from claw_acp.contracts.provider import Capabilities, ModelInfo, TextChunk
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import (
    ContextTooLong,
    MalformedReply,
    ModelNotAllowed,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
    StreamInterrupted,
    ToolsUnsupported,
)
from claw_acp.core.secret import Secret
from claw_acp.providers.bedrock import provider as bedrock_provider
from claw_acp.providers.bedrock.provider import BedrockProvider
from tests.providers.conversation import MESSAGES, asking
from tests.support.fixed_clock import FixedClock
from tests.support.servers.aws_server import STREAM, AwsServer, event, exception, frames, running_aws
from tests.support.servers.loopback import Answered
from tests.support.servers.model_replies import Raw, Stall
from tests.support.servers.model_server import ModelServer

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
KEY = "bedrock-api-key-0123456789"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
SIGNED = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": SECRET}


@pytest.fixture(autouse=True)
def _no_aws(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def server() -> Iterator[AwsServer]:
    with running_aws() as server:
        yield server


def provider_for(server: AwsServer, *, key: str = "", region: str = "", **environ: str) -> BedrockProvider:
    setup = ProviderSetup(
        name="aws",
        kind="bedrock",
        base_url=server.url,
        api_key=Secret(key) if key else None,
        region=region,
        environ=tuple((name, Secret(value)) for name, value in environ.items()),
        clock=FixedClock(),
    )
    return BedrockProvider(setup)


@pytest.fixture
async def provider(server: AwsServer) -> AsyncIterator[BedrockProvider]:
    async with aclosing(provider_for(server, **SIGNED)) as provider:
        yield provider


async def test_a_signed_request_is_let_in_and_its_answer_streams(server: AwsServer, provider: BedrockProvider) -> None:
    server.will_say("Hel", "lo")
    events = [event async for event in provider.stream(asking(*MESSAGES, model=MODEL, tools=True))]
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == "Hello"
    (asked,) = server.asked
    assert asked.path == "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"
    assert "content-type;host;x-amz-date" in asked.headers["authorization"]


async def test_an_arn_is_signed_as_it_is_sent(server: AwsServer, provider: BedrockProvider) -> None:
    server.will_say("x")
    arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0"
    assert (await provider.chat(asking(model=arn))).text == "x"
    assert "inference-profile%2Fus.amazon.nova-pro-v1%3A0" in server.asked[0].path


async def test_a_session_token_is_sent_and_signed(server: AwsServer) -> None:
    server.will_say("x")
    async with aclosing(provider_for(server, **SIGNED, AWS_SESSION_TOKEN="IQoJ+/=token")) as provider:
        await provider.chat(asking(model=MODEL))
    assert server.asked[0].headers["x-amz-security-token"] == "IQoJ+/=token"
    assert "x-amz-security-token" in server.asked[0].headers["authorization"]


@pytest.mark.parametrize("wrong", [{"AWS_SECRET_ACCESS_KEY": "not-the-secret"}, {"AWS_ACCESS_KEY_ID": "AKIDOTHER"}])
async def test_a_wrong_secret_or_an_unknown_key_is_refused(server: AwsServer, wrong: dict[str, str]) -> None:
    server.will_say("never heard")
    async with aclosing(provider_for(server, **{**SIGNED, **wrong})) as provider:
        with pytest.raises(ProviderAuthFailed, match="aws refused the AWS credentials") as raised:
            await provider.chat(asking(model=MODEL))
    assert "not-the-secret" not in raised.value.message


async def test_another_region_is_another_signature(server: AwsServer) -> None:
    server.region = "eu-central-1"
    server.will_say("x")
    async with aclosing(provider_for(server, region="eu-central-1", **SIGNED)) as provider:
        assert (await provider.chat(asking(model=MODEL))).text == "x"
    async with aclosing(provider_for(server, **SIGNED)) as provider:
        with pytest.raises(ProviderAuthFailed):
            await provider.chat(asking(model=MODEL))


@pytest.mark.parametrize("where", ["setup", "BEDROCK_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"])
async def test_an_api_key_is_a_bearer_and_nothing_is_signed(server: AwsServer, where: str) -> None:
    server.will_say("x")
    environ = SIGNED if where == "setup" else {**SIGNED, where: KEY}
    async with aclosing(provider_for(server, key=KEY if where == "setup" else "", **environ)) as provider:
        assert (await provider.chat(asking(model=MODEL))).text == "x"
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert "x-amz-date" not in server.asked[0].headers


async def test_no_credentials_at_all_say_where_they_were_looked_for(server: AwsServer) -> None:
    async with aclosing(provider_for(server)) as provider:
        with pytest.raises(ProviderAuthFailed, match=r"there are no AWS credentials\. Looked at: .*AWS_ACCESS_KEY_ID"):
            await provider.chat(asking(model=MODEL))
    assert server.asked == []


async def test_credentials_that_were_renewed_on_disk_are_taken_after_a_refusal(server: AwsServer) -> None:
    folder = Path.home() / ".aws"
    folder.mkdir()
    file = folder / "credentials"
    file.write_text("[default]\naws_access_key_id = AKIDOLD\naws_secret_access_key = x\n")
    async with aclosing(provider_for(server)) as provider:
        with pytest.raises(ProviderAuthFailed):
            await provider.chat(asking(model=MODEL))
        file.write_text(f"[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = {SECRET}\n")
        server.will_say("welcome back")
        assert (await provider.chat(asking(model=MODEL))).text == "welcome back"


@pytest.mark.parametrize(
    ("status", "kind", "words", "error"),
    [
        (429, "ThrottlingException", "Too many requests, please wait before trying again.", RateLimited),
        (400, "ValidationException", "The provided model identifier is invalid.", ModelNotFound),
        (404, "ResourceNotFoundException", "Could not resolve the foundation model from the ID.", ModelNotFound),
        (400, "ValidationException", "Input is too long for requested model.", ContextTooLong),
        (400, "ValidationException", "This model doesn't support tool use.", ToolsUnsupported),
        (400, "ValidationException", "Invocation with on-demand throughput isn't supported.", RequestRejected),
        (403, "AccessDeniedException", "You don't have access to the model with this ID.", ModelNotAllowed),
        (403, "ExpiredTokenException", "The security token included in the request is expired", ProviderAuthFailed),
        (408, "ModelTimeoutException", "The model took too long.", ProviderUnavailable),
        (424, "ModelErrorException", "The request failed.", ProviderUnavailable),
        (500, "InternalServerException", "Sorry.", ProviderUnavailable),
        (503, "ServiceUnavailableException", "Sorry.", ProviderUnavailable),
    ],
)
async def test_a_refusal_is_the_error_it_means(
    server: AwsServer, provider: BedrockProvider, status: int, kind: str, words: str, error: type[ProviderError]
) -> None:
    """https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html"""
    server.will_fail(status, kind, words)
    with pytest.raises(error) as raised:
        await provider.chat(asking(model=MODEL))
    assert words.rstrip(".") in raised.value.message
    assert raised.value.status == status


async def test_exceptions_breaks_and_damage_in_the_stream_are_errors(
    server: AwsServer, provider: BedrockProvider
) -> None:
    begun = frames("x")[:2]
    last = frames("x")[-1]
    for pieces, whole, error in (
        ([*begun, exception("throttlingException", "slow down")], True, RateLimited),
        (begun, False, StreamInterrupted),
        (begun, True, StreamInterrupted),
        ([*begun, last[:-1] + b"\x00"], True, MalformedReply),
        ([*begun, b"\x7f" * 12], True, MalformedReply),
    ):
        server.script.append(Answered(pieces, kind=STREAM, whole=whole))
        with pytest.raises(error):
            await provider.chat(asking(model=MODEL))
    server.will_say("and then it works")
    assert (await provider.chat(asking(model=MODEL))).text == "and then it works"


async def test_a_chunk_is_passed_on_before_the_stream_ends(server: AwsServer, provider: BedrockProvider) -> None:
    endless = [event("contentBlockDelta", contentBlockIndex=0, delta={"text": "first"})]
    server.script.append(Answered(endless, kind=STREAM, whole=False))
    async with aclosing(provider.stream(asking(model=MODEL))) as events:
        assert await anext(events) == TextChunk(text="first")
        with pytest.raises(StreamInterrupted):
            await anext(events)


async def test_a_cancelled_answer_lets_go_of_its_connection() -> None:
    async with ModelServer() as stalling:
        stalling.will_reply(Raw(pieces=[*frames("a")[:2], Stall()], content_type=STREAM))
        setup = ProviderSetup(name="aws", kind="bedrock", base_url=stalling.anthropic_url, api_key=Secret(KEY))
        async with aclosing(BedrockProvider(setup)) as provider:
            with anyio.CancelScope() as scope:
                async for _ in provider.stream(asking(model=MODEL)):
                    scope.cancel()
            assert scope.cancelled_caught
            await stalling.all_closed()


async def test_models_and_profiles_are_listed_with_what_they_take(server: AwsServer, provider: BedrockProvider) -> None:
    claude: dict[str, object] = {
        "modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "modelName": "Claude Sonnet 4.5",
        "providerName": "Anthropic",
        "inputModalities": ["TEXT", "IMAGE"],
        "outputModalities": ["TEXT"],
        "responseStreamingSupported": True,
        "inferenceTypesSupported": ["INFERENCE_PROFILE"],
    }
    llama = {**claude, "modelId": "meta.llama3-3-70b-instruct-v1:0", "modelName": "Llama", "providerName": "Meta"}
    llama |= {"inputModalities": ["TEXT"], "inferenceTypesSupported": ["ON_DEMAND"]}
    llama["modelLifecycle"] = {"status": "LEGACY"}
    painter = {**claude, "modelId": "stability.x", "outputModalities": ["IMAGE"]}
    arn = f"arn:aws:bedrock:us-west-2::foundation-model/{claude['modelId']}"
    profile = {"inferenceProfileId": MODEL, "inferenceProfileName": "US Claude", "status": "ACTIVE"}
    server.lists["/foundation-models"] = json.loads(json.dumps({"modelSummaries": [claude, llama, painter]}))
    server.lists["/inference-profiles"] = {
        "inferenceProfileSummaries": [{**profile, "models": [{"modelArn": arn}]}, {"inferenceProfileId": "orphan"}]
    }
    assert await provider.models() == [
        ModelInfo(
            id=MODEL, name="US Claude", description="Anthropic", context_window=200_000, images=True, thinking=True
        ),
        ModelInfo(
            id="meta.llama3-3-70b-instruct-v1:0",
            name="Llama",
            description="Meta (to be retired)",
            context_window=128_000,
            images=False,
        ),
    ]
    assert all(asked.headers["authorization"].startswith("AWS4-HMAC-SHA256") for asked in server.asked)


async def test_a_list_that_may_not_be_read_is_an_error(server: AwsServer, provider: BedrockProvider) -> None:
    server.keys.clear()
    with pytest.raises(ProviderAuthFailed):
        await provider.models()


async def test_capabilities_say_how_prompts_are_cached(provider: BedrockProvider) -> None:
    assert provider.capabilities(MODEL) == Capabilities(
        images=True, thinking=True, context_window=200_000, cache="explicit"
    )
    assert provider.capabilities("meta.llama3-3-70b-instruct-v1:0").cache == "none"
    assert provider.capabilities("amazon.nova-pro-v1:0") == Capabilities(
        images=True, context_window=300_000, cache="explicit"
    )


@pytest.fixture
def _without_botocore(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in [name for name in sys.modules if name.partition(".")[0] == "botocore"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "botocore", None)
    monkeypatch.delitem(sys.modules, "claw_acp.providers.bedrock.session", raising=False)


@pytest.mark.usefixtures("_without_botocore")
async def test_without_botocore_an_api_key_works_and_credentials_say_what_to_install(server: AwsServer) -> None:
    server.will_say("x")
    async with aclosing(provider_for(server, key=KEY)) as provider:
        assert (await provider.chat(asking(model=MODEL))).text == "x"
    async with aclosing(provider_for(server, **SIGNED)) as provider:
        with pytest.raises(ProviderAuthFailed, match=r"aws: .* need botocore.*; run pip install 'claw-acp\[bedrock\]'"):
            await provider.chat(asking(model=MODEL))


async def test_credentials_that_do_not_come_do_not_hold_up_a_request(
    server: AwsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:  # the program waits for as long as this is open
        code = f"import socket\nsocket.create_connection({held.getsockname()!r}).recv(1)"
        (tmp_path / "wait.py").write_text(code)
        (Path.home() / ".aws").mkdir()
        config = f"[default]\ncredential_process = {sys.executable} {tmp_path / 'wait.py'}\n"
        (Path.home() / ".aws" / "config").write_text(config)
        monkeypatch.setattr(bedrock_provider, "CREDENTIALS_TIMEOUT", 0.2)
        async with aclosing(provider_for(server)) as provider:
            with pytest.raises(ProviderAuthFailed, match=r"aws: no AWS credentials could be obtained within 0\.2 s"):
                await provider.chat(asking(model=MODEL))
