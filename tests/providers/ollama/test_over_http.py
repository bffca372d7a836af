"""Ollama over real connections: answers, what it says of its models, refusals, and an agent's whole conversation."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import anyio
import pytest

from claw_acp.contracts.provider import Capabilities, ModelInfo, TextChunk
from claw_acp.contracts.provider_setup import ProviderSetup, Quirks
from claw_acp.core.errors import (
    ModelNotFound,
    ProviderUnavailable,
    ProviderUnreachable,
    StreamInterrupted,
    ToolsUnsupported,
)
from claw_acp.core.secret import Secret
from claw_acp.providers.ollama.provider import OllamaProvider
from tests.providers.conversation import asking
from tests.support.servers.loopback import Answered
from tests.support.servers.model_replies import Raw, Stall
from tests.support.servers.model_server import ModelServer, refusing_address
from tests.support.servers.ollama_server import NDJSON, OllamaServer, line, lines, running_ollama, shown

MODEL = "qwen3:8b"


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with running_ollama(
        qwen3_8b=shown("completion", "tools", "thinking"),
        llava_7b=shown("completion", "vision", window=4_096),
        nomic_embed=shown("embedding"),
        big_1b=shown("completion", "tools", parameters="temperature 0.7\nnum_ctx 65536\n"),
    ) as server:
        yield server


@pytest.fixture
async def provider(server: OllamaServer) -> AsyncIterator[OllamaProvider]:
    async with aclosing(OllamaProvider(ProviderSetup(name="local", kind="ollama", base_url=server.url))) as provider:
        yield provider


async def test_an_answer_streams_and_the_model_is_looked_at_once(
    server: OllamaServer, provider: OllamaProvider
) -> None:
    server.will_say("Hel", "lo")
    events = [event async for event in provider.stream(asking(model=MODEL, tools=True))]
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == "Hello"
    server.will_say("again")
    assert (await provider.chat(asking(model=MODEL))).text == "again"
    assert [asked.path for asked in server.asked] == ["/api/show", "/api/chat", "/api/chat"]
    assert server.chats[0]["options"] == {"num_ctx": 32_768}


async def test_configured_options_are_laid_over_ours(server: OllamaServer) -> None:
    setup = ProviderSetup(
        name="local",
        kind="ollama",
        base_url=server.url,
        api_key=Secret("cloud-key-1234"),
        body='{"options": {"num_ctx": 4096, "seed": 1}, "keep_alive": -1}',
    )
    async with aclosing(OllamaProvider(setup)) as provider:
        server.will_say("x")
        await provider.chat(asking(model=MODEL, temperature=0.1))
    assert server.chats[0]["options"] == {"num_ctx": 4096, "temperature": 0.1, "seed": 1}
    assert server.chats[0]["keep_alive"] == -1
    assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer cloud-key-1234"}


async def test_models_are_listed_with_what_they_can_do(server: OllamaServer, provider: OllamaProvider) -> None:
    assert await provider.models() == [
        ModelInfo(
            id="qwen3:8b", description="8.0B Q4_K_M", context_window=32_768, tools=True, images=False, thinking=True
        ),
        ModelInfo(
            id="llava:7b", description="8.0B Q4_K_M", context_window=4_096, tools=False, images=True, thinking=False
        ),
        ModelInfo(
            id="big:1b", description="8.0B Q4_K_M", context_window=65_536, tools=True, images=False, thinking=False
        ),
    ]
    asked = len(server.asked)
    await provider.models()
    assert len(server.asked) == asked + 1  # the list anew, the models not
    assert provider.capabilities("llava:7b") == Capabilities(tools=False, images=True, context_window=4_096)
    assert provider.capabilities(MODEL) == Capabilities(tools=True, thinking=True, context_window=32_768)
    assert provider.capabilities("never-seen").context_window == 32_768


async def test_a_model_that_is_not_there_is_to_be_pulled(server: OllamaServer, provider: OllamaProvider) -> None:
    server.will_fail(404, "model 'nope:1b' not found")
    with pytest.raises(ModelNotFound, match=r"local has no model nope:1b\. Get it with `ollama pull nope:1b`"):
        await provider.chat(asking(model="nope:1b"))
    server.models = {**server.models, "nope:1b": shown("completion", "tools")}
    server.will_say("pulled")
    assert (await provider.chat(asking(model="nope:1b", tools=True))).text == "pulled"


async def test_a_model_without_tools_is_not_asked_in_vain(server: OllamaServer, provider: OllamaProvider) -> None:
    with pytest.raises(ToolsUnsupported, match="llava:7b does not support tools"):
        await provider.chat(asking(model="llava:7b", tools=True))
    assert server.chats == []
    server.will_say("fine")
    assert (await provider.chat(asking(model="llava:7b"))).text == "fine"


async def test_a_refusal_of_tools_is_known_before_and_within_the_stream(
    server: OllamaServer, provider: OllamaProvider
) -> None:
    words = "registry.ollama.ai/library/old:1b does not support tools"
    server.models = {**server.models, "old:1b": {}}
    server.will_fail(400, words)
    server.script.append(Answered([line(error=words)], kind=NDJSON))
    for _ in range(2):
        with pytest.raises(ToolsUnsupported):
            await provider.chat(asking(model="old:1b", tools=True))


async def test_thinking_that_is_refused_is_left_out_from_then_on(
    server: OllamaServer, provider: OllamaProvider
) -> None:
    server.models = {**server.models, "old:1b": {}}
    server.will_fail(400, '"old:1b" does not support thinking')
    server.will_say("quick")
    assert (await provider.chat(asking(model="old:1b", effort="high"))).text == "quick"
    server.will_say("quicker")
    assert (await provider.chat(asking(model="old:1b", effort="high"))).text == "quicker"
    assert [chat.get("think") for chat in server.chats] == [True, None, None]


async def test_a_server_that_describes_nothing_is_talked_to_all_the_same(
    server: OllamaServer, provider: OllamaProvider
) -> None:
    server.models = {**server.models, "odd": "not an object"}
    server.will_say("x")
    assert (await provider.chat(asking(model="odd", tools=True))).text == "x"


async def test_an_error_among_the_lines_and_a_broken_stream_are_errors(
    server: OllamaServer, provider: OllamaProvider
) -> None:
    server.script.append(Answered([*lines("a")[:1], line(error="out of memory")], kind=NDJSON))
    with pytest.raises(ProviderUnavailable, match="out of memory"):
        await provider.chat(asking(model=MODEL))
    server.script.append(Answered(lines("a")[:1], kind=NDJSON, whole=False))
    with pytest.raises(StreamInterrupted):
        await provider.chat(asking(model=MODEL))


async def test_a_cancelled_answer_lets_go_of_its_connection() -> None:
    async with ModelServer() as stalling:
        stalling.will_reply(Raw(pieces=[b"{}"], content_type="application/json"))  # to what the model can do
        stalling.will_reply(Raw(pieces=[*lines("a")[:1], Stall()], content_type=NDJSON))
        setup = ProviderSetup(name="local", kind="ollama", base_url=stalling.anthropic_url)
        async with aclosing(OllamaProvider(setup)) as provider:
            with anyio.CancelScope() as scope:
                async for _ in provider.stream(asking(model=MODEL)):
                    scope.cancel()
            assert scope.cancelled_caught
            await stalling.all_closed()


async def test_a_server_that_is_not_there_is_named() -> None:
    with refusing_address() as address:
        async with aclosing(OllamaProvider(ProviderSetup(name="local", kind="ollama", base_url=address))) as provider:
            with pytest.raises(ProviderUnreachable, match=r"no connection to 127.0.0.1:\d+"):
                await provider.chat(asking(model=MODEL))


async def test_tools_can_be_switched_off_by_the_configuration(server: OllamaServer) -> None:
    setup = ProviderSetup(name="local", kind="ollama", base_url=server.url, quirks=Quirks(tools=False))
    async with aclosing(OllamaProvider(setup)) as provider:
        await provider.models()
        assert provider.capabilities(MODEL).tools is False
