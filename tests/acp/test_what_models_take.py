"""What a model can take is told by who knows: its server, its service's list; a model nobody knows is taken to see."""

import json
from pathlib import Path

import pytest

from tests.support.editors.exchange import Json, Outcome
from tests.support.editors.shared_house import Guest, SharedHouse
from tests.support.script_files import Script
from tests.support.servers.loopback import serving
from tests.support.servers.model_replies import Raw, ReceivedRequest, Say, Tokens, failure
from tests.support.servers.model_server import ModelServer
from tests.support.servers.ollama_server import OllamaServer, shown

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURE: list[Json] = [
    {"type": "text", "text": "What is this?"},
    {"type": "image", "mimeType": "image/png", "data": PIXEL},
]
NAME = "acme/unheard-of-7b"
PROPS: Json = {"default_generation_settings": {"n_ctx": 8192}, "modalities": {"vision": True, "audio": False}}
LOADED: Json = {
    "object": "list",
    "data": [
        {"id": NAME, "type": "vlm", "state": "loaded", "max_context_length": 32_768, "loaded_context_length": 8192}
    ],
}
LISTED: Json = {"object": "list", "data": [{"id": NAME, "object": "model", "max_model_len": 8192}]}
TRAINED: Json = {"object": "list", "data": [{"id": NAME, "object": "model", "meta": {"n_ctx_train": 131_072}}]}
PLAIN: Json = {"object": "list", "data": [{"id": NAME, "object": "model"}]}


def meter(outcome: Outcome) -> Json:
    return next(update for update in outcome.updates if update["sessionUpdate"] == "usage_update")


@pytest.mark.parametrize(
    ("server_name", "listing", "pages"),
    [
        ("vllm", LISTED, {}),
        ("llamacpp", TRAINED, {"/props": PROPS}),
        ("lmstudio", PLAIN, {"/api/v0/models": LOADED}),
    ],
)
async def test_an_unknown_model_of_a_local_server_gets_the_picture_and_has_the_window_that_the_server_says(
    server_name: str, listing: Json, pages: dict[str, Json], project: Path, home: Path
) -> None:
    async with ModelServer() as server:
        server.always(Say(text=("A dot.",), usage=Tokens(input=800, output=20)))
        server.always_lists(failure(200, listing))
        for path, body in pages.items():
            server.shows(path, body)
        env = {"CLAW_ACP_LOCAL_SERVERS": f"{server_name}=127.0.0.1:{server.port}", "CLAW_ACP_MODEL": server_name}
        async with SharedHouse.opened(project=project, home=home, script=Script(), env=env) as house:
            editor = await house.visit()
            outcome = await prompted(editor, f"{server_name}/{NAME}")
        assert (outcome.text, meter(outcome)["used"], meter(outcome)["size"]) == ("A dot.", 820, 8192)
        asked = json.loads(server.requests[-1].body)
        assert PIXEL in asked["messages"][-1]["content"][-1]["image_url"]["url"]


async def prompted(editor: Guest, model: str) -> Outcome:
    """A picture, once the model is among those that can be picked."""

    def offered() -> bool:
        news = editor.updates("config_option_update")
        return any(model in str(update["configOptions"]) for update in news)

    session = await editor.new_session()
    if model not in str(session["configOptions"]):
        await editor.wait_for(offered, "news of the models")
    await editor.request(
        "session/set_config_option", {"sessionId": editor.session, "configId": "model", "value": model}
    )
    return await editor.prompt(PICTURE)


async def test_an_unknown_model_of_ollama_gets_the_picture_with_the_first_prompt(project: Path, home: Path) -> None:
    server = OllamaServer({"unheard-of": shown("completion", "vision", "tools")})
    with serving(server):
        server.will_say("A dot.")
        env = {"CLAW_ACP_LOCAL_SERVERS": f"ollama={server.url}", "CLAW_ACP_MODEL": "ollama/unheard-of"}
        async with SharedHouse.opened(project=project, home=home, script=Script(), env=env) as house:
            editor = await house.visit()
            outcome = await prompted(editor, "ollama/unheard-of")
        assert outcome.text == "A dot."
        (asked,) = [json.loads(asked.body) for asked in server.asked if asked.path == "/api/chat"]
        assert asked["messages"][-1]["images"] == [PIXEL]


async def test_tokens_are_shown_also_where_nobody_knows_the_window_and_it_is_said_to_be_assumed(
    project: Path, home: Path
) -> None:
    async with ModelServer() as server:
        server.always(Say(text=("fine",), usage=Tokens(input=800, output=20)))
        work = f'[providers.work]\nkind = "openai"\nbase_url = "{server.openai_url}"\n'
        prices = '[prices."work/*"]\ninput = 1\noutput = 10\n'
        env = {"CLAW_ACP_MODEL": "work/unheard-of"}
        async with SharedHouse.opened(
            project=project, home=home, script=Script(), config=work + prices, env=env
        ) as house:
            editor = await house.visit()
            await editor.new_session()
            told = meter(await editor.prompt("hello"))
        assert (told["used"], told["size"], told["_meta"]) == (820, 64_000, {"claw-acp/windowAssumed": True})
        assert told["cost"] == {"amount": 0.001, "currency": "USD"}


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
        (400, "acme/unheard-of-7b is not a multimodal model"),
        (404, "No endpoints found that support image input"),
        (422, "messages[1]: unknown variant `image_url`, expected `text`"),
        (400, "Image inputs are not supported by this model."),
        (400, "Invalid content type. image_url is only supported by certain models."),
    ],
)
async def test_a_model_that_turns_out_to_be_blind_is_shown_no_picture_again_and_the_session_goes_on(
    status: int, refusal: str, project: Path, home: Path
) -> None:
    def reply(request: ReceivedRequest) -> Raw:
        seen = b"image_url" in request.body
        return failure(status, {"error": {"message": refusal}}) if seen else Say(text=("fine",)).render("openai")

    async with ModelServer() as server:
        server.always(reply)
        work = f'[providers.work]\nkind = "openai"\nbase_url = "{server.openai_url}"\nretries = 0\n'
        env = {"CLAW_ACP_MODEL": "work/unheard-of"}
        async with SharedHouse.opened(project=project, home=home, script=Script(), config=work, env=env) as house:
            editor = await house.visit()
            await editor.new_session()
            refused = await (await editor.start_prompt(PICTURE)).failure()
            assert "takes no pictures" in refused.message
            assert (await editor.prompt("and now?")).text == "fine"
            again = await (await editor.start_prompt(PICTURE)).failure()
            assert "does not read images" in again.message


SOUND: list[Json] = [{"type": "text", "text": "Who is it?"}, {"type": "audio", "mimeType": "audio/wav", "data": "UklG"}]


@pytest.mark.parametrize(
    ("kind", "model", "taken"),
    [
        ("openai", "gemini-3.5-flash", True),
        ("openai", "gpt-5.5", False),
        ("anthropic", "gemini-3.5-flash", False),
        ("responses", "gpt-audio", False),
    ],
)
async def test_sound_goes_to_models_that_hear_where_requests_can_carry_it_and_is_refused_before_anything_else(
    kind: str, model: str, project: Path, home: Path, *, taken: bool
) -> None:
    async with ModelServer() as server:
        server.always(Say(text=("A cat.",)))
        url = server.anthropic_url if kind == "anthropic" else server.openai_url
        work = f'[providers.work]\nkind = "{kind}"\nbase_url = "{url}"\napi_key = "k"\n'
        env = {"CLAW_ACP_MODEL": f"work/{model}"}
        async with SharedHouse.opened(project=project, home=home, script=Script(), config=work, env=env) as house:
            editor = await house.visit()
            await editor.new_session()
            if not taken:
                refused = await (await editor.start_prompt(SOUND)).failure()
                assert (refused.code, "does not listen to audio" in refused.message) == (-32602, True)
            else:
                assert (await editor.prompt(SOUND)).text == "A cat."
                sent = {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}
                assert json.loads(server.requests[-1].body)["messages"][-1]["content"][-1] == sent
