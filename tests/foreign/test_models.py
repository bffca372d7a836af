"""The whole program against a model server over real HTTP: what is asked of the model, and what is shown of it."""

import base64

import pytest
from acp import embedded_blob_resource, embedded_text_resource, image_block, resource_block, resource_link_block

from tests.support.foreign.desk import Desk
from tests.support.foreign.editor import answering
from tests.support.foreign.models import DEFAULT_MODELS, FAMILIES, KEYS, Family, address, conversation, powered
from tests.support.servers.model_replies import Call, Gate, Say, Tokens
from tests.support.servers.model_server import ModelServer

PIXEL = base64.b64encode(
    bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")
).decode()


@pytest.mark.parametrize("family", FAMILIES)
async def test_text_thoughts_and_usage_are_streamed(desk: Desk, server: ModelServer, family: Family) -> None:
    server.will_say("Hel", "lo", thinking=("Hm",), usage=Tokens(input=900, output=50))
    async with powered(desk, family, address(server, family)).editor() as editor:
        session = await editor.open()
        ended = await editor.prompt(session, "Hi")
        assert ended.stop_reason == "end_turn"
        assert [getattr(chunk.content, "text", "") for chunk in editor.seen(session).agent_messages] == ["Hel", "lo"]
        assert editor.thought(session) == "Hm"
        count = editor.usage(session)
        assert count is not None
        assert count.used == 950
    (request,) = server.requests
    header = request.headers.get("x-api-key") or request.headers["authorization"].removeprefix("Bearer ")
    assert header == KEYS[family]


@pytest.mark.parametrize("family", FAMILIES)
async def test_parallel_calls_run_and_their_results_go_back(desk: Desk, server: ModelServer, family: Family) -> None:
    desk.file("a.txt", "alpha-content\n")
    desk.file("b.txt", "beta-content\n")
    calls = (Call(name="read_file", arguments={"path": "a.txt"}), Call(name="read_file", arguments={"path": "b.txt"}))
    server.will_reply(Say(text=("Reading.",), calls=calls), Say(text=("Read both.",)))
    async with powered(desk, family, address(server, family)).editor() as editor:
        session = await editor.open()
        await editor.prompt(session, "Read both")
        assert [tool.status for tool in editor.tools(session)] == ["completed", "completed"]
        assert editor.said(session) == "Reading.Read both."
    second = server.requests[1]
    assert [message["role"] for message in conversation(second)] == (
        ["user", "assistant", "tool", "tool"] if family == "openai" else ["user", "assistant", "user"]
    )
    assert b"alpha-content" in second.body
    assert b"beta-content" in second.body


async def test_signed_thinking_is_sent_back_with_the_results_of_its_calls(desk: Desk, server: ModelServer) -> None:
    desk.file("a.txt", "alpha\n")
    call = Call(name="read_file", arguments={"path": "a.txt"})
    server.will_reply(Say(thinking=("I must ", "look."), signature="signed-by-them", calls=(call,)), Say(text=("Ok",)))
    async with powered(desk, "anthropic", server.anthropic_url).editor() as editor:
        session = await editor.open()
        await editor.prompt(session, "Read it")
    answer = conversation(server.requests[1])[1]
    assert answer["content"][0] == {"type": "thinking", "thinking": "I must look.", "signature": "signed-by-them"}
    assert answer["content"][-1]["type"] == "tool_use"


@pytest.mark.parametrize("family", FAMILIES)
async def test_files_links_and_pictures_reach_the_model(desk: Desk, server: ModelServer, family: Family) -> None:
    server.will_say("Seen.")
    async with powered(desk, family, address(server, family)).editor() as editor:
        session = await editor.open()
        await editor.prompt(
            session,
            "Look at",
            resource_link_block("guide", "file:///guide.md"),
            resource_block(embedded_text_resource("file:///notes.md", "the notes themselves")),
            image_block(PIXEL, "image/gif"),
        )
        assert editor.said(session) == "Seen."
    body = server.requests[0].body.decode()
    for sent in ("Look at", "file:///guide.md", "file:///notes.md", "the notes themselves", PIXEL):
        assert sent in body


@pytest.mark.parametrize("family", FAMILIES)
async def test_cancelling_hangs_up_on_the_model_and_what_was_said_is_remembered(
    desk: Desk, server: ModelServer, family: Family
) -> None:
    never = Gate()
    server.will_reply(Say(text=("Half", " of", " it", " and more"), insert={4: never}), Say(text=("Going on.",)))
    async with powered(desk, family, address(server, family)).editor() as editor:
        session = await editor.open()
        async with editor.prompting(session, "Speak") as running:
            await editor.until(lambda: "Half" in editor.said(session))
            await editor.agent.cancel(session)
        assert running.response.stop_reason == "cancelled"
        never.open()
        await editor.prompt(session, "Go on")
    assert "Half" in str(conversation(server.requests[-1])[1]["content"])


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_cancelled_call_has_a_result_when_the_next_process_goes_on(
    desk: Desk, server: ModelServer, family: Family
) -> None:
    calls = (Call(name="shell", arguments={"command": "sleep 60"}), Call(name="read_file", arguments={"path": "a.txt"}))
    server.will_reply(Say(calls=calls), Say(text=("Going on.",)))
    powered(desk, family, address(server, family))
    async with desk.editor(answering("allow_once")) as editor:
        session = await editor.open()
        async with editor.prompting(session, "Run") as running:
            await editor.until(lambda: [tool.status for tool in editor.tools(session)] == ["in_progress", "pending"])
            await editor.agent.cancel(session)
        assert running.response.stop_reason == "cancelled"
    async with desk.editor() as editor:
        await editor.agent.load_session(cwd=str(desk.project), session_id=session)
        await editor.prompt(session, "Go on")
        assert editor.said(session) == "Going on."
    assert server.requests[-1].body.count(b"interrupted") == len(calls)


@pytest.mark.parametrize("family", FAMILIES)
async def test_the_model_can_be_changed_in_the_middle_of_a_conversation(
    desk: Desk, server: ModelServer, family: Family
) -> None:
    desk.file("a.txt", "alpha\n")
    call = Call(name="read_file", arguments={"path": "a.txt"})
    server.will_reply(Say(thinking=("Hm.",), calls=(call,)), Say(text=("Read.",)), Say(text=("I am another.",)))
    for each in FAMILIES:
        powered(desk, each, address(server, each))
    other: Family = "anthropic" if family == "openai" else "openai"
    async with desk.editor() as editor:
        session = await editor.open()
        await editor.agent.set_config_option(config_id="model", session_id=session, value=DEFAULT_MODELS[family])
        await editor.prompt(session, "Read it")
        await editor.agent.set_config_option(config_id="model", session_id=session, value=DEFAULT_MODELS[other])
        await editor.prompt(session, "Who are you?")
        assert editor.said(session) == "Read.I am another."
    assert [request.family for request in server.requests] == [family, family, other]


@pytest.mark.parametrize("family", FAMILIES)
async def test_an_attachment_that_no_model_reads_is_refused_and_spoils_nothing(
    desk: Desk, server: ModelServer, family: Family
) -> None:
    server.will_say("Fine.")
    async with powered(desk, family, address(server, family)).editor() as editor:
        session = await editor.open()
        error = await editor.refused(session, "Look", image_block("AAAA", "image/bmp"))
        assert error.code == -32602
        assert "image/bmp" in str(error)
        await editor.prompt(session, "Go on")
        assert editor.said(session) == "Fine."


@pytest.mark.parametrize("family", FAMILIES)
async def test_of_a_document_it_cannot_read_the_model_is_told(desk: Desk, server: ModelServer, family: Family) -> None:
    server.will_say("I cannot read it.")
    document = resource_block(embedded_blob_resource("file:///a.pdf", "AAAA", mime_type="application/pdf"))
    async with powered(desk, family, address(server, family)).editor() as editor:
        session = await editor.open()
        await editor.prompt(session, "Look", document)
        assert editor.said(session) == "I cannot read it."
    (request,) = server.requests
    assert "cannot read the attached file:///a.pdf" in request.body.decode()


async def test_a_model_without_eyes_is_told_that_a_picture_was_left_out(desk: Desk, server: ModelServer) -> None:
    (desk.project / "a.gif").write_bytes(base64.b64decode(PIXEL))
    call = Call(name="read_file", arguments={"path": "a.gif"})
    server.will_reply(Say(text=("I see.",)), Say(calls=(call,)), Say(text=("I see no more.",)))
    (desk.claw / "config.toml").write_text('[providers.openai]\nmodels = ["gpt-5.1", "gpt-3.5-turbo"]\n')
    async with powered(desk, "openai", server.openai_url).editor() as editor:
        session = await editor.open()
        await editor.prompt(session, "Look", image_block(PIXEL, "image/gif"))
        await editor.agent.set_config_option(config_id="model", session_id=session, value="openai/gpt-3.5-turbo")
        await editor.prompt(session, "Look again")
        assert editor.tool(session).status == "completed"
        assert editor.said(session) == "I see.I see no more."
    before, *after = server.requests
    assert PIXEL in before.body.decode()
    for request in after:
        assert PIXEL not in request.body.decode()
        assert "[left out: this model does not read images]" in request.body.decode()
