"""Servers written with the official SDK, over all that it speaks."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest

from tests.mcp.http_server import http_server
from tests.mcp.support import AUTO, NOTICES, notice, notices, official, ready
from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, shown_text
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, expect, say, turn

Kind = Literal["stdio", "http", "sse"]
TALK = Script(turn(say("hello")), loop=True)
OVER_HTTP: list[Literal["http", "sse"]] = ["http", "sse"]


@asynccontextmanager
async def _declared(kind: Kind, editor: Editor, folder: Path) -> AsyncGenerator[Json]:
    if kind == "stdio":
        yield official(editor)
        return
    async with http_server(kind, folder) as server:
        yield server.declared()


@pytest.mark.parametrize("kind", ["stdio", *OVER_HTTP])
async def test_tools_of_every_sort_work(spawn: Spawn, tmp_path: Path, kind: Kind) -> None:
    script = Script(
        turn(
            call("official__echo", text="grüße"),
            call("official__weather", city="Rome"),
            call("official__fail"),
            call("official__picture"),
            call("official__count", to=3),
            call("official__echo"),
        ),
        turn(say("done")),
    )
    async with (
        spawn(script=script, config=AUTO, capabilities=NOTICES) as editor,
        _declared(kind, editor, tmp_path) as server,
    ):
        await editor.initialize()
        await editor.new_session(mcpServers=[server])
        await ready(editor, "official")
        outcome = await editor.prompt("go")
        assert notices(editor) == []
    echo, weather, fail, picture, count, wrong = outcome.calls
    assert shown_text(echo) == "grüße"
    assert weather["rawOutput"] == {"city": "Rome", "degrees": 21}
    assert (fail["status"], "the sky fell down" in shown_text(fail)) == ("failed", True)
    assert picture["content"][0]["content"]["mimeType"] == "image/png"
    assert (count["status"], shown_text(count)) == ("completed", "counted")
    assert "number" in json.dumps(editor.updates("tool_call_update"))
    assert (wrong["status"], "text" in shown_text(wrong)) == ("failed", True)


@pytest.mark.parametrize("kind", OVER_HTTP)
async def test_headers_go_with_every_request_and_a_refusal_is_told(
    spawn: Spawn, tmp_path: Path, kind: Literal["http", "sse"]
) -> None:
    async with http_server(kind, tmp_path) as server, spawn(script=TALK, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[server.declared(), server.declared("stranger", secret="guess")])
        await ready(editor, "official")
        told = await notice(editor)
        assert {"open sesame", "guess"} == {request.get("x-secret") for request in server.requests()}
    assert told["title"] == "The MCP server stranger is not available"
    assert "HTTP status 401" in told["description"]
    assert "Authorization" in told["description"]


@pytest.mark.parametrize("kind", OVER_HTTP)
async def test_a_server_that_was_restarted_is_found_again(
    spawn: Spawn, tmp_path: Path, kind: Literal["http", "sse"]
) -> None:
    script = Script(
        turn(call("official__echo", text="one")),
        turn(say("first")),
        turn(call("official__echo", text="two")),
        turn(say("second")),
    )
    async with http_server(kind, tmp_path) as server, spawn(script=script, config=AUTO, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[server.declared()])
        await ready(editor, "official")
        assert [shown_text(tool) for tool in (await editor.prompt("go")).calls] == ["one"]
        server.stop()
        await server.start()
        editor.will_answer("allow_once")
        assert [shown_text(tool) for tool in (await editor.prompt("again")).calls] == ["two"]
        assert notices(editor) == []


@pytest.mark.parametrize("kind", OVER_HTTP)
async def test_an_address_where_nobody_listens_is_told(
    spawn: Spawn, tmp_path: Path, kind: Literal["http", "sse"]
) -> None:
    async with spawn(script=Script(turn(say("hello"))), capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(
            mcpServers=[{"type": kind, "name": "away", "url": "http://127.0.0.1:9/mcp", "headers": []}]
        )
        assert "cannot be reached at 127.0.0.1: Connection refused" in (await notice(editor))["description"]
        assert (await editor.prompt("hi")).text == "hello"


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        ({"url": "not an address"}, "has no usable address"),
        ({"url": "http://[broken"}, "has no usable address"),
        ({"url": "http://\ufffd\ufffd0/"}, "has no usable address"),
        (
            {"url": "http://127.0.0.1:9/", "headers": [{"name": "A", "value": "line\nbreak"}]},
            "the header 'A' holds a character that cannot be sent",
        ),
    ],
)
async def test_settings_that_cannot_be_used_are_told(spawn: Spawn, server: Json, reason: str) -> None:
    async with spawn(script=TALK, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[{"type": "http", "name": "odd", "headers": [], **server}])
        assert reason in (await notice(editor))["description"]


async def test_a_session_that_ends_says_goodbye_to_a_server_over_http(spawn: Spawn, tmp_path: Path) -> None:
    async with http_server("http", tmp_path) as server, spawn() as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[server.declared()])
        await ready(editor, "official")
        await editor.request("session/close", {"sessionId": editor.session})
        await eventually(
            lambda: "DELETE" in {request["method"] for request in server.requests()}, what="the end of its session"
        )


async def test_what_a_server_has_later_is_found_after_it_said_so(spawn: Spawn) -> None:
    script = Script(
        turn(call("official__grow")),
        turn(say("asked")),
        turn(call("official__grown")),
        turn(expect("grown"), say("used")),
    )
    async with spawn(script=script, config=AUTO) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[official(editor)])
        await ready(editor, "official")
        assert (await editor.prompt("go")).text == "asked"
        editor.will_answer("allow_once")
        outcome = await editor.prompt("use it")
    assert outcome.text == "used"
