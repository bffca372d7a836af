"""Whether prompts are marked for caching is an option, alike in the three wire families that mark them."""

import json
from collections.abc import Callable
from functools import partial

import pytest

from claw_acp.contracts.provider import ChatRequest
from claw_acp.contracts.provider_setup import Quirks
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import Message
from claw_acp.providers.anthropic.request import messages_request
from claw_acp.providers.bedrock.request import converse_body
from claw_acp.providers.openai.request import chat_completion
from tests.providers.conversation import asking

Body = Callable[[Quirks], JsonObject]
CONVERSATION = (Message.system("Be brief."), Message.user("look"))
MODEL = "claude-sonnet-4-6"
REQUEST = asking(*CONVERSATION, model=MODEL, tools=True)
BODIES = {"anthropic": messages_request, "bedrock": converse_body, "openai": chat_completion}


@pytest.fixture(params=BODIES)
def body(request: pytest.FixtureRequest) -> Body:
    make: Callable[..., JsonObject] = BODIES[request.param]
    return partial(_body, make, REQUEST)


def _body(make: Callable[..., JsonObject], request: ChatRequest, quirks: Quirks) -> JsonObject:
    return make(request, provider="acme", quirks=quirks)


def marks(body: JsonObject) -> int:
    text = json.dumps(body)
    return text.count("cache_control") + text.count("cachePoint")


def test_a_prompt_is_marked_at_the_end_of_its_instructions_and_of_the_conversation(body: Body) -> None:
    assert marks(body(Quirks(cache_marks=True))) == 2


def test_no_mark_where_they_are_off(body: Body) -> None:
    assert marks(body(Quirks(cache_marks=False))) == 0


@pytest.mark.parametrize(("length", "marked"), [(13, 2), (10_000, 0)])
def test_a_prompt_shorter_than_wanted_is_not_marked(body: Body, length: int, marked: int) -> None:
    assert marks(body(Quirks(cache_marks=True, cache_min_chars=length))) == marked


def test_tools_count_as_part_of_a_prompt() -> None:
    quirks = Quirks(cache_min_chars=len("Be brief.look") + 1)
    alone = asking(*CONVERSATION, model=MODEL)
    assert (marks(_body(messages_request, alone, quirks)), marks(_body(messages_request, REQUEST, quirks))) == (0, 2)
