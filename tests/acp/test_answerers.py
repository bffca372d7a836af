"""Who answers in a session: other keys, routes, fallbacks and the model for pictures, through the real program."""

import json
from collections.abc import AsyncGenerator

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, Outcome, RpcFailure
from tests.support.servers.model_server import ModelServer

PIXEL = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
PICTURE: Json = {"type": "image", "data": PIXEL, "mimeType": "image/gif"}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as running:
        yield running


def config(server: ModelServer, top: str = "", more: str = "") -> str:
    return (
        f'{top}\n[providers.work]\nkind = "openai"\nbase_url = "{server.openai_url}"\n'
        f'models = ["gpt-oss", "gpt-4o", "home-made"]\n{more}\n'
    )


def models_asked(server: ModelServer) -> list[object]:
    return [request.json["model"] for request in server.requests if request.method == "POST"]


def told(outcome: Outcome) -> str:
    """All updates of a turn, as text."""
    return json.dumps(outcome.updates)


@pytest.mark.parametrize("seeing", ["gpt-4o", "home-made"])
async def test_pictures_go_to_the_model_that_sees_and_the_rest_to_the_chosen_one(
    seeing: str, opened: Spawn, server: ModelServer
) -> None:
    for answer in ("Hello.", "A pixel.", "You are welcome."):
        server.will_say(answer)
    top = f'model = "work/gpt-oss"\nvision_model = "work/{seeing}"'
    async with opened(config=config(server, top)) as editor:
        await editor.prompt("Hi")
        seen = await editor.prompt([text("What is it?"), PICTURE])
        await editor.prompt("Thanks")
    assert models_asked(server) == ["gpt-oss", seeing, "gpt-oss"]
    assert told(seen).count(f"work/{seeing} answers") == 1
    assert PIXEL in server.requests[1].body.decode()
    assert PIXEL not in server.requests[2].body.decode()
    assert "[left out: this model does not read images]" in server.requests[2].body.decode()


async def test_who_sees_is_asked_itself(opened: Spawn, server: ModelServer) -> None:
    server.will_say("A pixel.")
    async with opened(config=config(server, 'model = "work/gpt-4o"\nvision_model = "work/home-made"')) as editor:
        await editor.prompt([text("What is it?"), PICTURE])
    assert models_asked(server) == ["gpt-4o"]


@pytest.mark.parametrize(
    ("top", "message"),
    [
        ("", "work/gpt-oss does not read images; leave it out or choose another model"),
        ('vision_model = "anthropic"', 'vision_model = "anthropic" cannot be used: there is no key for "anthropic"'),
    ],
)
async def test_without_anybody_who_sees_the_prompt_is_refused_clearly(
    top: str, message: str, opened: Spawn, server: ModelServer
) -> None:
    async with opened(config=config(server, f'model = "work/gpt-oss"\n{top}')) as editor:
        with pytest.raises(RpcFailure) as refused:
            await editor.prompt([PICTURE])
    assert message in refused.value.message
    assert server.requests == []


async def test_a_refused_key_gives_way_to_the_next_for_the_whole_process(opened: Spawn, server: ModelServer) -> None:
    server.serves_only("key-number-two")
    for _ in range(2):
        server.will_say("Hello.")
    keys = 'api_keys = ["key-number-one", "key-number-two"]'
    async with opened(config=config(server, 'model = "work/gpt-oss"', keys)) as editor:
        first = await editor.prompt("Hi")
        await editor.new_session()
        second = await editor.prompt("Hi")
    assert (first.text, second.text) == ("Hello.", "Hello.")
    sent = [request.headers["authorization"] for request in server.requests if request.method == "POST"]
    assert sent == [f"Bearer key-number-{number}" for number in ("one", "two", "two")]
    assert "Another key of work" in told(first)
    assert "key-number" not in told(first) + told(second)


async def test_when_the_model_is_gone_the_fallback_answers_and_is_named(opened: Spawn, server: ModelServer) -> None:
    server.will_fail(404, {"error": {"message": "model gpt-oss not found", "code": "model_not_found"}})
    server.will_say("Hello.")
    async with opened(config=config(server, 'model = "work/gpt-oss"', 'fallback_models = ["home-made"]')) as editor:
        outcome = await editor.prompt("Hi")
    assert outcome.text == "Hello."
    assert models_asked(server) == ["gpt-oss", "home-made"]
    assert "work/home-made answers instead" in told(outcome)


ROUTES = """
[routes]
plain = "work/gpt-oss"
clever = "work/home-made"
[[rules]]
route = "clever"
keywords = ["prove"]
[[rules]]
route = "plain"
"""


async def test_a_session_on_auto_asks_whom_the_rules_say(opened: Spawn, server: ModelServer) -> None:
    for _ in range(3):
        server.will_say("Yes.")
    async with opened(config=config(server, 'model = "hint:auto"', ROUTES)) as editor:
        await editor.prompt("Prove it")
        await editor.prompt("Hi")
        await editor.prompt("/model hint:clever")
        await editor.prompt("Hi")
    assert models_asked(server) == ["home-made", "gpt-oss", "home-made"]


async def test_a_session_keeps_the_routes_name_so_that_a_changed_route_counts(
    opened: Spawn, server: ModelServer
) -> None:
    server.will_say("One.")
    server.will_say("Two.")
    async with opened(config=config(server, 'model = "hint:plain"', ROUTES)) as editor:
        await editor.prompt("Hi")
        file = editor.project.parent / "home" / "claw" / "config.toml"
        file.write_text(file.read_text().replace('plain = "work/gpt-oss"', 'plain = "work/gpt-4o"'))
        await editor.prompt("Hi")
    assert models_asked(server) == ["gpt-oss", "gpt-4o"]


async def test_routes_are_offered_and_a_wrong_one_says_what_there_is(opened: Spawn, server: ModelServer) -> None:
    async with opened(config=config(server, 'model = "hint:plain"', ROUTES)) as editor:
        result = await editor.new_session()
        model = next(option for option in result["configOptions"] if option["id"] == "model")
        offered = [option["value"] for option in model["options"]]
        assert (model["currentValue"], offered[:3]) == ("hint:plain", ["hint:auto", "hint:plain", "hint:clever"])
    async with opened(config=config(server, 'model = "work/gpt-oss"', ROUTES)) as editor:
        wrong = await editor.prompt("/model hint:clevr")
        assert 'no route "clevr"; did you mean "clever"?' in wrong.text


async def test_a_cancel_ends_a_wait_for_the_service_at_once(opened: Spawn, server: ModelServer) -> None:
    server.will_fail(429, {"error": {"message": "slow down"}}, headers={"retry-after": "60"})
    async with opened(config=config(server, 'model = "work/gpt-oss"')) as editor:
        call = await editor.start_prompt("Hi")
        await editor.wait_for_text("Trying again in 60.0 s", kind="agent_thought_chunk")
        await editor.cancel()
        assert (await call.outcome()).stop_reason == "cancelled"
