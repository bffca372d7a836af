"""The bounds of everything a client can have or take, met one by one."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from anyio.abc import SocketStream

from claw_acp.gateway.http.limits import Limits
from tests.gateway.conftest import INITIALIZE
from tests.support.editors.exchange import Json
from tests.support.editors.http2_transport import http2_client
from tests.support.editors.websocket_client import Closed, Rejected, WebSocketClient
from tests.support.program.agent_process import TIMEOUT, eventually
from tests.support.script_files import Script, hold, say, turn
from tests.support.servers.small_gateway import SmallGateway, open_gateway

LIST: Json = {"jsonrpc": "2.0", "id": 7, "method": "session/list", "params": {}}
JSON = {"content-type": "application/json"}
EVENTS = {"accept": "text/event-stream"}
SOON = 0.05  # seconds: a bound that is to be met
NEVER = 60.0  # seconds: one that is not


@asynccontextmanager
async def client_of(gateway: SmallGateway, *, http2: bool = False) -> AsyncGenerator[httpx.AsyncClient]:
    if http2:
        async with http2_client(gateway.url) as client:
            yield client
    else:
        async with httpx.AsyncClient(timeout=TIMEOUT, trust_env=False) as client:
            yield client


@asynccontextmanager
async def raw(gateway: SmallGateway) -> AsyncGenerator[SocketStream]:
    parts = urlsplit(gateway.url)
    async with await anyio.connect_tcp(parts.hostname or "", parts.port or 0) as stream:
        yield stream


async def connection(client: httpx.AsyncClient, gateway: SmallGateway) -> dict[str, str]:
    """A new connection, as the header that names it."""
    answer = await client.post(gateway.url, json=INITIALIZE)
    assert answer.status_code == 200, answer.text
    return {"Acp-Connection-Id": answer.headers["Acp-Connection-Id"]}


async def status(client: httpx.AsyncClient, gateway: SmallGateway, headers: dict[str, str], message: Any = LIST) -> int:
    return (await client.post(gateway.url, json=message, headers=headers)).status_code


async def until_status(wanted: int, client: httpx.AsyncClient, gateway: SmallGateway, headers: dict[str, str]) -> None:
    with anyio.fail_after(TIMEOUT):
        while await status(client, gateway, headers) != wanted:  # noqa: ASYNC110 - nobody can tell us
            await anyio.sleep(SOON)


async def until_hung_up(stream: SocketStream) -> bytes:
    data = b""
    with anyio.fail_after(TIMEOUT):
        while True:
            try:
                data += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return data


# ---------------------------------------------------------------------- numbers


async def test_connections_are_limited_whichever_way_they_come(home: Path) -> None:
    async with open_gateway(Limits(connections=2), home=home) as gateway, client_of(gateway) as client:
        first = await connection(client, gateway)
        async with WebSocketClient.connected(gateway.websocket_url) as second:
            refused = await client.post(gateway.url, json=INITIALIZE)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            with pytest.raises(Rejected) as refusal:
                async with WebSocketClient.connected(gateway.websocket_url):
                    pass
            assert refusal.value.status == 503
            await second.close()
        await client.delete(gateway.url, headers=first)
        with anyio.fail_after(TIMEOUT):
            while (await client.post(gateway.url, json=INITIALIZE)).status_code == 503:
                pass


async def test_tcp_connections_are_limited(home: Path) -> None:
    request = b"GET /acp HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = request.replace(b"localhost\r\n", b"localhost\r\nConnection: close\r\n")
    async with (
        open_gateway(Limits(sockets=2, unused=NEVER), home=home) as gateway,
        raw(gateway) as first,
        raw(gateway) as second,
    ):
        for stream in (first, second):
            await stream.send(request)
            assert b"HTTP/1.1 406" in await stream.receive()
        async with raw(gateway) as third:
            assert await until_hung_up(third) == b""
        await first.send(last)
        assert b"HTTP/1.1 406" in await until_hung_up(first)
        with anyio.fail_after(TIMEOUT):
            while True:
                async with raw(gateway) as stream:
                    await stream.send(last)
                    if b"HTTP/1.1 406" in await until_hung_up(stream):
                        break


async def test_streams_of_open_sessions_are_limited_in_each_connection(home: Path, project: Path) -> None:
    async with open_gateway(Limits(streams=2), home=home) as gateway, client_of(gateway) as client:
        for _ in range(2):
            headers = await connection(client, gateway)
            sessions = await _open_sessions(client, gateway, headers, project, count=2)
            unknown = {"Acp-Session-Id": f"ses_{0:026}"}
            assert (await client.get(gateway.url, headers=headers | EVENTS | unknown)).status_code == 503
            known = headers | EVENTS | {"Acp-Session-Id": sessions[0]}
            assert await _status_of_stream(client, gateway, known) == 200


async def test_the_streams_of_sessions_that_are_not_open_make_room(home: Path, project: Path) -> None:
    async with open_gateway(Limits(streams=2), home=home) as gateway, client_of(gateway) as client:
        headers = await connection(client, gateway)
        first, second = await _open_sessions(client, gateway, headers, project, count=2)
        stream = client.stream("GET", gateway.url, headers=headers | EVENTS | {"Acp-Session-Id": first})
        async with stream as answer:
            close = {**LIST, "method": "session/close", "params": {"sessionId": first}}
            assert await status(client, gateway, headers | {"Acp-Session-Id": first}, close) == 202
            lines = answer.aiter_lines()
            while "result" not in await anext(lines):
                pass
            await _open_sessions(client, gateway, headers, project, count=1)
            assert [line async for line in lines if line] == []
        known = headers | EVENTS | {"Acp-Session-Id": second}
        assert await _status_of_stream(client, gateway, known) == 200


async def _open_sessions(
    client: httpx.AsyncClient, gateway: SmallGateway, headers: dict[str, str], project: Path, *, count: int
) -> list[str]:
    opened: Json = {**LIST, "method": "session/new", "params": {"cwd": str(project), "mcpServers": []}}
    sessions: list[str] = []
    async with client.stream("GET", gateway.url, headers=headers | EVENTS) as stream:
        lines = stream.aiter_lines()
        while len(sessions) < count:
            assert await status(client, gateway, headers, opened) == 202
            while not (line := await anext(lines)).startswith("data: "):
                pass
            sessions.append(json.loads(line.removeprefix("data: "))["result"]["sessionId"])
    return sessions


async def test_a_stream_that_is_left_makes_room(home: Path) -> None:
    async with open_gateway(Limits(streams=1), home=home) as gateway, client_of(gateway) as client:
        headers = await connection(client, gateway) | EVENTS
        for number in range(3):
            session = {"Acp-Session-Id": f"ses_{number:026}"}
            assert await _status_of_stream(client, gateway, headers | session) == 200


async def _status_of_stream(client: httpx.AsyncClient, gateway: SmallGateway, headers: dict[str, str]) -> int:
    async with client.stream("GET", gateway.url, headers=headers) as stream:
        return stream.status_code


async def test_requests_that_are_just_received_are_limited(home: Path) -> None:
    async with (
        open_gateway(Limits(posts=1), home=home) as gateway,
        client_of(gateway) as client,
        anyio.create_task_group() as tasks,
    ):
        headers = await connection(client, gateway)
        began, end = anyio.Event(), anyio.Event()

        async def slowly() -> AsyncIterator[bytes]:
            yield b'{"jsonrpc":"2.0",'
            began.set()
            await end.wait()
            yield b'"method":"_x"}'

        answers: list[int] = []

        async def send() -> None:
            answer = await client.post(gateway.url, content=slowly(), headers=headers | JSON)
            answers.append(answer.status_code)

        tasks.start_soon(send)
        await began.wait()
        with anyio.fail_after(TIMEOUT):
            while await status(client, gateway, headers) != 503:
                pass
        end.set()
        await eventually(lambda: answers == [202], what="the end of the slow one")
        assert await status(client, gateway, headers) == 202


# ---------------------------------------------------------------------- sizes


@pytest.mark.parametrize("http2", [False, True])
async def test_a_message_that_is_too_long_is_refused_and_the_connection_lives(home: Path, http2: bool) -> None:  # noqa: FBT001
    async with (
        open_gateway(Limits(message=100_000), home=home) as gateway,
        client_of(gateway, http2=http2) as client,
    ):
        headers = await connection(client, gateway)
        async with client.stream("GET", gateway.url, headers=headers | EVENTS) as stream:
            long = {**LIST, "params": {"cwd": "x" * 1_000_000}}
            assert await status(client, gateway, headers, long) == 413
            assert await status(client, gateway, headers) == 202
            assert json.loads((await anext(stream.aiter_lines())).removeprefix("data: "))["id"] == 7


async def test_all_that_is_just_received_is_limited(home: Path) -> None:
    async with open_gateway(Limits(messages=100_000), home=home) as gateway, client_of(gateway) as client:
        headers = await connection(client, gateway)
        assert await status(client, gateway, headers, {**LIST, "params": {"cwd": "x" * 200_000}}) == 503
        assert await status(client, gateway, headers) == 202


async def test_a_websocket_message_that_is_too_long_ends_its_connection_alone(home: Path) -> None:
    async with (
        open_gateway(Limits(message=100_000), home=home) as gateway,
        WebSocketClient.connected(gateway.websocket_url) as client,
        WebSocketClient.connected(gateway.websocket_url) as other,
    ):
        await client.send(json.dumps(INITIALIZE))
        await client.receive()
        await client.send(json.dumps({**LIST, "params": {"cwd": "x" * 200_000}}))
        closed = await client.receive()
        assert isinstance(closed, Closed)
        assert closed.code == 1009
        await other.send(json.dumps(INITIALIZE))
        assert isinstance(await other.receive(), str)


@pytest.mark.parametrize("http2", [False, True])
async def test_a_head_that_is_too_long_is_refused(home: Path, http2: bool) -> None:  # noqa: FBT001
    async with open_gateway(Limits(head=4096), home=home) as gateway:
        async with client_of(gateway, http2=http2) as client:
            answer = await client.post(gateway.url, json=INITIALIZE, headers={"X-Long": "x" * 20_000})
            assert answer.status_code == 431
            assert http2 is False or (await client.post(gateway.url, json=INITIALIZE)).status_code == 200
        async with client_of(gateway, http2=http2) as client:
            await connection(client, gateway)


# ---------------------------------------------------------------------- times


async def test_a_body_that_stops_coming_is_given_up(home: Path) -> None:
    async with open_gateway(Limits(gap=SOON), home=home) as gateway, raw(gateway) as stream:
        await stream.send(
            b"POST /acp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
        )
        assert b"HTTP/1.1 408" in await until_hung_up(stream)


async def test_a_body_that_comes_in_drops_is_given_up_in_the_end(home: Path) -> None:
    async with open_gateway(Limits(body=SOON), home=home) as gateway, raw(gateway) as stream:
        await stream.send(
            b"POST /acp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
        )
        assert b"HTTP/1.1 408" in await until_hung_up(stream)


@pytest.mark.parametrize("begin", [b"", b"POST /acp HTTP/1.1\r\nHost: loc", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"])
async def test_a_head_that_does_not_come_is_given_up(home: Path, begin: bytes) -> None:
    async with open_gateway(Limits(first_message=SOON, unused=NEVER), home=home) as gateway, raw(gateway) as stream:
        await stream.send(begin) if begin else None
        assert b"HTTP/1.1 2" not in await until_hung_up(stream)


async def test_a_websocket_that_says_nothing_is_closed(home: Path) -> None:
    async with (
        open_gateway(Limits(first_message=SOON), home=home) as gateway,
        WebSocketClient.connected(gateway.websocket_url) as client,
    ):
        closed = await client.receive()
        assert isinstance(closed, Closed)
        assert (closed.code, closed.reason) == (1008, "no initialize in time")


async def test_a_connection_without_streams_ends_and_frees_its_sessions(home: Path, project: Path) -> None:
    async with open_gateway(Limits(idle=0.3), home=home) as gateway, client_of(gateway) as client:
        headers = await connection(client, gateway)
        opened: Json = {**LIST, "method": "session/new", "params": {"cwd": str(project), "mcpServers": []}}
        async with client.stream("GET", gateway.url, headers=headers | EVENTS) as stream:
            await status(client, gateway, headers, opened)
            session = json.loads((await anext(stream.aiter_lines())).removeprefix("data: "))["result"]["sessionId"]
            engine = await gateway.engine()
            assert engine.sessions.look_at(session) is not None
        await eventually(
            lambda: engine.sessions.look_at(session) is None,
            what="an end of the session",
        )
        assert await status(client, gateway, headers) == 404


async def test_a_connection_with_a_stream_lives_on(home: Path) -> None:
    async with open_gateway(Limits(idle=SOON, keep_alive=SOON), home=home) as gateway, client_of(gateway) as client:
        headers = await connection(client, gateway)
        async with client.stream("GET", gateway.url, headers=headers | EVENTS) as stream:
            signs = stream.aiter_lines()
            for _ in range(12):  # signs of life, each after as long as it may be unused
                assert await anext(signs) in {":", ""}
            assert await status(client, gateway, headers) == 202


BIG = Script(turn(say("begin "), *[say("x" * 400_000) for _ in range(60)], hold("never")), turn(say("next")), loop=True)


async def _talk(client: httpx.AsyncClient, gateway: SmallGateway, headers: dict[str, str], project: Path) -> str:
    """Open a session and let the model say more than any buffer holds; returns the session."""
    [session] = await _open_sessions(client, gateway, headers, project, count=1)
    params = {"sessionId": session, "prompt": [{"type": "text", "text": "talk"}]}
    message = {**LIST, "method": "session/prompt", "params": params}
    assert await status(client, gateway, headers | {"Acp-Session-Id": session}, message) == 202
    return session


async def test_a_client_that_never_reads_loses_its_connection(home: Path, project: Path) -> None:
    async with (
        open_gateway(Limits(stall=SOON, idle=NEVER), home=home, script=BIG) as gateway,
        client_of(gateway) as client,
    ):
        headers = await connection(client, gateway)
        await _talk(client, gateway, headers, project)
        await until_status(404, client, gateway, headers)


@pytest.mark.parametrize("http2", [False, True])
async def test_a_client_that_stops_reading_its_stream_loses_its_connection(
    home: Path,
    project: Path,
    http2: bool,  # noqa: FBT001
) -> None:
    async with (
        open_gateway(Limits(stall=0.5, idle=NEVER), home=home, script=BIG) as gateway,
        client_of(gateway) as client,
        client_of(gateway, http2=http2) as reader,
    ):
        headers = await connection(client, gateway)
        session = await _talk(client, gateway, headers, project)
        async with reader.stream("GET", gateway.url, headers=headers | EVENTS | {"Acp-Session-Id": session}):
            await until_status(404, client, gateway, headers)


async def test_a_websocket_that_stops_reading_loses_its_connection(home: Path, project: Path) -> None:
    async with (
        open_gateway(Limits(stall=SOON), home=home, script=BIG) as gateway,
        WebSocketClient.connected(gateway.websocket_url) as client,
    ):
        await client.send(json.dumps(INITIALIZE))
        await client.receive()
        opened: Json = {**LIST, "method": "session/new", "params": {"cwd": str(project), "mcpServers": []}}
        await client.send(json.dumps(opened))
        answer = await client.receive()
        assert isinstance(answer, str)
        params = {"sessionId": json.loads(answer)["result"]["sessionId"], "prompt": [{"type": "text", "text": "talk"}]}
        await client.send(json.dumps({**LIST, "method": "session/prompt", "params": params}))
        engine = await gateway.engine()
        await eventually(lambda: not engine.sessions.in_use(), what="an end of the session")
