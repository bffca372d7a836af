"""Instructions that a client gives a session (unstable: `sessionCapabilities.systemPrompt`)."""

from typing import Any, cast

import pytest

from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json
from tests.support.servers.model_server import ModelServer

POET: Json = {"mode": "append", "content": [{"type": "text", "text": "Speak in rhymes."}]}
JUDGE: Json = {
    "mode": "override",
    "content": [{"type": "text", "text": "You are a judge."}, {"type": "text", "text": "Be strict."}],
}
OURS = "You are Claw"


def _set_up(server: ModelServer) -> dict[str, Any]:
    env = {"OPENAI_API_KEY": "sk-test-0123456789", "OPENAI_BASE_URL": server.openai_url}
    return {"env": env, "config": 'model = "openai/test-model"'}


def _system(server: ModelServer) -> str:
    messages = cast("list[Json]", server.requests[-1].json["messages"])
    [system] = [message["content"] for message in messages if message["role"] == "system"]
    return system


async def _heard(editor: Editor, server: ModelServer, *, session: str | None = None) -> str:
    """The system prompt of a turn."""
    server.will_say("yes")
    await editor.prompt("hello", session=session)
    return _system(server)


async def _open(editor: Editor, method: str, session: str, **params: object) -> Json:
    asked: Json = {"sessionId": session, "cwd": str(editor.project), "mcpServers": [], **params}
    return await editor.request(f"session/{method}", asked)


@pytest.mark.rule("session.system-prompt-text")
@pytest.mark.rule("session.system-prompt-level")
async def test_what_is_appended_stands_below_our_own_instructions(spawn: Spawn) -> None:
    async with ModelServer() as server, spawn(**_set_up(server)) as editor:
        await editor.initialize()
        await editor.new_session(systemPrompt=None)
        plain = await _heard(editor, server)
        await editor.new_session(systemPrompt=POET)
        heard = await _heard(editor, server)
        assert heard.startswith(plain)
        assert heard.endswith("Speak in rhymes.\n")
        assert OURS in plain


@pytest.mark.rule("session.system-prompt-text")
@pytest.mark.rule("session.system-prompt-level")
async def test_what_overrides_stands_in_place_of_our_own_words_and_nothing_else_changes(spawn: Spawn) -> None:
    async with ModelServer() as server, spawn(**_set_up(server)) as editor:
        (editor.project / "AGENTS.md").write_text("Use tabs.")
        await editor.initialize()
        plain = await editor.new_session()
        await _heard(editor, server)
        tools = server.requests[-1].json["tools"]
        made = await editor.new_session(systemPrompt=JUDGE)
        heard = await _heard(editor, server)
        assert heard.startswith("You are a judge.\n\nBe strict.\n")
        assert OURS not in heard
        assert f"Working folder: {editor.project}" in heard
        assert "Use tabs." in heard
        assert server.requests[-1].json["tools"] == tools
        assert made["modes"] == plain["modes"]


@pytest.mark.rule("session.system-prompt-text")
async def test_instructions_are_kept_with_the_session_until_others_are_given(spawn: Spawn) -> None:
    async with ModelServer() as server:
        async with spawn(**_set_up(server)) as editor:
            await editor.initialize()
            await editor.new_session(systemPrompt=POET)
            session, first = editor.session, await _heard(editor, server)
            assert await _heard(editor, server) == first  # byte for byte, turn after turn
        async with spawn(**_set_up(server)) as editor:
            await editor.initialize()
            await _open(editor, "resume", session)
            assert await _heard(editor, server, session=session) == first
            copy = (await _open(editor, "fork", session, systemPrompt=None))["sessionId"]
            assert await _heard(editor, server, session=copy) == first
            await _open(editor, "load", session, systemPrompt=JUDGE)
            assert (await _heard(editor, server, session=session)).startswith("You are a judge.")
            await _open(editor, "load", session)
            assert (await _heard(editor, server, session=session)).startswith("You are a judge.")
            other = (await _open(editor, "fork", session, systemPrompt=POET))["sessionId"]
            assert await _heard(editor, server, session=other) == first
            assert (await _heard(editor, server, session=copy)) == first


@pytest.mark.rule("session.system-prompt-text")
async def test_instructions_given_by_another_process_count_from_the_next_turn_on(spawn: Spawn) -> None:
    async with (
        ModelServer() as server,
        spawn(**_set_up(server)) as one,
        spawn(**_set_up(server)) as other,
    ):
        await one.initialize()
        await other.initialize()
        await one.new_session()
        assert OURS in await _heard(one, server)
        await _open(other, "resume", one.session, systemPrompt=JUDGE)
        assert OURS not in await _heard(one, server)


IMPOSSIBLE: list[Any] = [
    {"mode": "prepend", "content": [{"type": "text", "text": "x"}]},
    {"mode": "_own", "content": [{"type": "text", "text": "x"}]},
    {"mode": "append", "content": []},
    {"mode": "append", "content": [{"type": "text", "text": " \n"}]},
    {"mode": "append", "content": [{"type": "image", "data": "", "mimeType": "image/png"}]},
    {"mode": "append", "content": [{"type": "text", "text": "x"}, {"type": "hologram"}]},
    {"mode": "append", "content": [{"type": "text", "text": "x" * 100_001}]},
    {"mode": "append"},
    {"content": [{"type": "text", "text": "x"}]},
    "Speak in rhymes.",
    [],
    7,
]


@pytest.mark.rule("session.system-prompt-error")
@pytest.mark.parametrize("wrong", IMPOSSIBLE, ids=lambda wrong: repr(wrong)[:40])
async def test_instructions_that_cannot_be_followed_open_and_change_nothing(spawn: Spawn, wrong: object) -> None:
    async with spawn() as editor:
        await editor.initialize()
        asked: Json = {"cwd": str(editor.project), "mcpServers": [], "systemPrompt": wrong}
        assert (await editor.failing("session/new", asked)).code == -32602
        assert await editor.request("session/list", {}) == {"sessions": []}
        await editor.new_session(systemPrompt=POET)
        session = editor.session
        await editor.request("session/close", {"sessionId": session})
        for method in ("load", "resume", "fork"):
            failure = await editor.failing(f"session/{method}", {"sessionId": session, **asked})
            assert (failure.code, "systemPrompt" in failure.message) == (-32602, True)
        assert await editor.request("session/status", {"sessionId": session}) == {"status": "saved"}
        assert (await editor.request("session/list", {}))["sessions"] == []
