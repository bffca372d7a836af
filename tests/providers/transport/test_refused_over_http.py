"""What services refuse, and what that has cost, over real connections."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from claw_acp.contracts.provider import Provider
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import EmptyAnswer, ProviderError, ProviderUnavailable, StreamInterrupted
from claw_acp.core.messages import Usage
from claw_acp.providers.anthropic.provider import AnthropicProvider
from claw_acp.providers.openai.provider import OpenAIChatProvider
from tests.providers.conversation import asking
from tests.providers.transport.refusals_seen import SEEN
from tests.support.servers.model_replies import Cut, Family, Json, Raw, Say, Tokens, anthropic_events, openai_events
from tests.support.servers.model_server import ModelServer

SPENT = Tokens(input=7, output=3)


@pytest.fixture
async def provider(family: Family, server: ModelServer) -> AsyncIterator[Provider]:
    make, url = (
        (OpenAIChatProvider, server.openai_url) if family == "openai" else (AnthropicProvider, server.anthropic_url)
    )
    async with aclosing(make(ProviderSetup(name="acme", kind=family, base_url=url))) as provider:
        yield provider


async def test_every_refusal_we_know_of_is_one_error_that_names_provider_and_model(
    server: ModelServer, provider: Provider
) -> None:
    for seen in SEEN:
        server.will_fail(seen.status, seen.body)
        with pytest.raises(ProviderError) as caught:
            await provider.chat(asking())
        error = caught.value
        assert type(error) is seen.kind, seen
        assert (error.provider, error.model, error.status) == ("acme", "test-model", seen.status), seen
        assert str(error).startswith("acme ")
        assert "test-model" in str(error), seen


async def test_an_answer_with_nothing_in_it_says_what_it_has_cost(server: ModelServer, provider: Provider) -> None:
    server.will_reply(Say(usage=SPENT))
    with pytest.raises(EmptyAnswer) as caught:
        await provider.chat(asking())
    assert caught.value.usage == Usage(input_tokens=7, output_tokens=3)


async def test_an_answer_that_breaks_off_says_what_is_known_of_its_cost(
    server: ModelServer, provider: Provider, family: Family
) -> None:
    server.will_reply(Say(text=("a", "b"), usage=SPENT, insert={3: Cut()}))
    with pytest.raises(StreamInterrupted) as caught:
        await provider.chat(asking())
    # Anthropic counts the prompt at the beginning, OpenAI everything at the end
    assert caught.value.usage == (Usage(input_tokens=7, output_tokens=1) if family == "anthropic" else None)


async def test_an_answer_refused_midway_says_what_it_has_cost(
    server: ModelServer, provider: Provider, family: Family
) -> None:
    say = Say(text=("a",), usage=SPENT)
    *events, _ = openai_events(say) if family == "openai" else anthropic_events(say)
    error: Json = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    server.will_reply(Raw(pieces=[*events, f"data: {json.dumps(error)}\n\n".encode()]))
    with pytest.raises(ProviderUnavailable, match=r"\(test-model, HTTP 529\): Overloaded") as caught:
        await provider.chat(asking())
    assert caught.value.usage == Usage(input_tokens=7, output_tokens=3)
