"""Addresses where something else answers, or nothing: bounded, and told."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal

import anyio
import pytest
from anyio.abc import SocketStream

from tests.mcp.http_server import http_server
from tests.mcp.support import AUTO, NOTICES, notice, notices, ready
from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, call, expect, say, turn

TALK = Script(turn(say("hello")), loop=True)
LONG = 1_000_000  # bytes; a reply beyond that ends when the client has had enough
Kind = Literal["http", "sse"]


def _reply(status: str, *headers: str, body: str = "") -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "Connection: close", "", body]
    return "\r\n".join(lines).encode()


@asynccontextmanager
async def answering(reply: bytes | None) -> AsyncGenerator[int]:
    """A port of ours where every connection is answered with this; None: with silence."""

    async def serve(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            with suppress(anyio.BrokenResourceError, anyio.EndOfStream):
                if reply is not None:
                    await stream.send(reply)
                while reply is None or len(reply) > LONG:
                    await stream.receive()

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        yield listener.listeners[0].extra(anyio.abc.SocketAttribute.local_port)
        tasks.cancel_scope.cancel()


def _config(kind: Kind, port: int) -> str:
    return f'\n[mcp.odd]\nurl = "http://127.0.0.1:{port}/mcp"\ntype = "{kind}"\nstart_timeout = 2\n'


@pytest.mark.parametrize(
    ("kind", "reply", "reason"),
    [
        ("http", None, "did not say what it offers within 2 s"),
        ("sse", None, "did not say what it offers within 2 s"),
        ("sse", _reply("200 OK", "Content-Type: text/event-stream"), "closed the connection"),
        ("http", _reply("200 OK", "Content-Type: text/html", body="<h1>hi"), "Unexpected content type: text/html"),
        ("sse", _reply("200 OK", "Content-Type: text/html", body="<h1>hi"), "cannot be reached"),
        ("http", _reply("500 Broken"), "HTTP status 500"),
        ("sse", _reply("500 Broken"), "HTTP status 500"),
        ("http", _reply("404 Not Found"), "HTTP status 404"),
        ("http", _reply("307 Away", "Location: http://elsewhere.example/"), "Redirect to http://elsewhere.example/"),
        ("http", _reply("307 Round", "Location: /mcp"), "not followed"),
        ("http", _reply("200 OK", "Content-Type: application/json", body="{not json"), "Failed to parse JSON"),
        ("http", b"SSH-2.0-OpenSSH_9.9\r\n", "cannot be reached at 127.0.0.1"),
        ("sse", b"SSH-2.0-OpenSSH_9.9\r\n", "cannot be reached at 127.0.0.1"),
    ],
)
async def test_what_is_no_server_is_told_and_keeps_nobody(
    spawn: Spawn, kind: Kind, reply: bytes | None, reason: str
) -> None:
    async with answering(reply) as port:
        config = _config(kind, port)
        async with spawn(script=TALK, capabilities=NOTICES, config=config) as editor:
            await editor.initialize()
            await editor.new_session()
            told = await notice(editor)
            assert (await editor.prompt("hi")).text == "hello"
            assert len(notices(editor)) == 1
    assert reason in told["description"]


async def test_an_endless_answer_is_cut(spawn: Spawn) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    async with (
        answering(head + b"x" * 34_000_000) as port,
        spawn(script=TALK, capabilities=NOTICES, config=_config("http", port)) as editor,
    ):
        await editor.initialize()
        await editor.new_session()
        assert "larger than 33554432 bytes" in (await notice(editor))["description"]


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_proxy_for_the_world_is_none_for_this_machine(spawn: Spawn, tmp_path: Path, kind: Kind) -> None:
    script = Script(turn(call("official__echo", text="hi")), turn(expect("hi"), say("done")))
    proxies = {
        "HTTP_PROXY": "http://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
        "ALL_PROXY": "http://127.0.0.1:9",
    }
    async with http_server(kind, tmp_path) as server, spawn(script=script, config=AUTO, env=proxies) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[server.declared()])
        await ready(editor, "official")
        assert (await editor.prompt("go")).text == "done"
