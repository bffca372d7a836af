"""A WebSocket from its handshake to its close code."""

import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

import httpx
import pytest

from tests.gateway.conftest import INITIALIZE, Serve
from tests.support.editors.exchange import Json
from tests.support.editors.websocket_client import Closed, Rejected, WebSocketClient
from tests.support.servers.remote_server import RemoteServer

LIST: Json = {"jsonrpc": "2.0", "id": 7, "method": "session/list", "params": {}}


def connected(
    server: RemoteServer, *, headers: dict[str, str] | None = None, subprotocols: Sequence[str] = ()
) -> AbstractAsyncContextManager[WebSocketClient]:
    shown = server.headers if headers is None else headers
    return WebSocketClient.connected(server.websocket_url, headers=shown, subprotocols=subprotocols)


async def answer(client: WebSocketClient) -> Json:
    message = await client.receive()
    assert isinstance(message, str), message
    return json.loads(message)


async def test_the_handshake_tells_the_connection(shared: RemoteServer) -> None:
    async with connected(shared) as client:
        assert client.headers["acp-connection-id"].startswith("con_")
        await client.send(json.dumps(INITIALIZE))
        assert (await answer(client))["result"]["protocolVersion"] == 1


async def test_protocol_2_is_spoken_to_who_asks_for_it(shared: RemoteServer) -> None:
    asked: Json = {"protocolVersion": 2, "info": {"name": "test", "version": "1"}, "capabilities": {}}
    async with connected(shared) as client:
        await client.send(json.dumps({**INITIALIZE, "params": asked}))
        assert (await answer(client))["result"]["protocolVersion"] == 2


async def test_messages_of_many_lines_and_any_characters_arrive(shared: RemoteServer) -> None:
    async with connected(shared) as client:
        await client.send(json.dumps(INITIALIZE, indent=2))
        assert (await answer(client))["id"] == 1
        await client.send(json.dumps({**LIST, "id": "\u2028 ü \n"}, ensure_ascii=False))
        assert (await answer(client))["id"] == "\u2028 ü \n"


async def test_binary_messages_are_left_out(shared: RemoteServer) -> None:
    async with connected(shared) as client:
        await client.send_binary(json.dumps(LIST).encode())
        await client.send(json.dumps(INITIALIZE))
        assert (await answer(client))["id"] == 1
        await client.send_binary(b"\xff\x00")
        await client.send(json.dumps(LIST))
        assert (await answer(client))["id"] == 7


@pytest.mark.parametrize(
    "first",
    [LIST, {**INITIALIZE, "id": None}, {"jsonrpc": "2.0", "method": "initialize"}, {"jsonrpc": "2.0", "method": "x"}],
)
async def test_the_first_message_must_be_initialize_with_an_id(shared: RemoteServer, first: Json) -> None:
    async with connected(shared) as client:
        await client.send(json.dumps(first))
        closed = await client.receive()
        assert isinstance(closed, Closed)
        assert closed.code == 1002
        assert "initialize" in closed.reason


@pytest.mark.parametrize(("broken", "code"), [("{", -32700), ("[]", -32600), ("42", -32600), ("{}", -32600)])
async def test_what_is_no_message_is_answered_before_and_after_initialize(
    shared: RemoteServer, broken: str, code: int
) -> None:
    async with connected(shared) as client:
        for then in (INITIALIZE, LIST):
            await client.send(broken)
            refusal = await answer(client)
            assert (refusal["id"], refusal["error"]["code"]) == (None, code)
            await client.send(json.dumps(then))
            assert "result" in await answer(client)


async def test_answers_before_initialize_are_left_out(shared: RemoteServer) -> None:
    async with connected(shared) as client:
        await client.send('{"jsonrpc":"2.0","id":1,"result":{}}')
        await client.send(json.dumps(INITIALIZE))
        assert "result" in await answer(client)


async def test_a_second_initialize_is_refused_and_the_connection_lives(shared: RemoteServer) -> None:
    async with connected(shared) as client:
        await client.send(json.dumps(INITIALIZE))
        await client.receive()
        await client.send(json.dumps({**INITIALIZE, "id": 2}))
        assert (await answer(client))["error"]["code"] == -32600
        await client.send(json.dumps(LIST))
        assert "result" in await answer(client)


async def test_a_close_is_answered(shared: RemoteServer) -> None:
    async with connected(shared) as client:
        await client.send(json.dumps(INITIALIZE))
        await client.receive()
        await client.close()


async def test_its_connection_is_not_one_of_streamable_http(shared: RemoteServer) -> None:
    async with connected(shared) as client, shared.http() as http:
        headers = {"Acp-Connection-Id": client.headers["acp-connection-id"]}
        assert (await http.post(shared.url, json=LIST, headers=headers)).status_code == 404
        assert (await http.delete(shared.url, headers=headers)).status_code == 404


async def test_a_server_that_ends_says_that_it_goes_away(serve: Serve) -> None:
    async with serve() as server, connected(server) as client, connected(server) as silent:
        await client.send(json.dumps(INITIALIZE))
        await client.receive()
        await server.stop()
        for one in (client, silent):
            closed = await one.receive()
            assert isinstance(closed, Closed)
            assert closed.code == 1001


async def test_a_page_shows_the_token_among_its_subprotocols(shared: RemoteServer) -> None:
    offered = ["acp", f"acp.bearer.{shared.token}"]
    async with connected(shared, headers={}, subprotocols=offered) as client:
        assert client.subprotocol == "acp"
        await client.send(json.dumps(INITIALIZE))
        assert (await answer(client))["id"] == 1
    async with connected(shared, headers={}, subprotocols=offered[1:]) as client:
        assert client.subprotocol == offered[1]


@pytest.mark.parametrize(
    ("headers", "subprotocols", "status"),
    [
        ({}, [], 401),
        ({"Authorization": "Bearer wrong"}, [], 401),
        ({"Authorization": "Basic {token}"}, [], 401),
        ({}, ["acp"], 401),
        ({}, ["acp", "acp.bearer.wrong"], 401),
        ({"Authorization": "Bearer {token}", "Origin": "https://evil.example"}, [], 403),
        ({"Authorization": "Bearer {token}", "Host": "evil.example"}, [], 403),
    ],
)
async def test_strangers_are_refused_before_the_upgrade(
    shared: RemoteServer, headers: dict[str, str], subprotocols: list[str], status: int
) -> None:
    shown = {name: value.format(token=shared.token) for name, value in headers.items()}
    with pytest.raises(Rejected) as refusal:
        async with connected(shared, headers=shown, subprotocols=subprotocols):
            pass
    assert refusal.value.status == status
    assert refusal.value.body.endswith("\n")


async def test_other_paths_are_no_endpoint(shared: RemoteServer) -> None:
    url = str(httpx.URL(shared.websocket_url).join("/other"))
    with pytest.raises(Rejected) as refusal:
        async with WebSocketClient.connected(url, headers=shared.headers):
            pass
    assert refusal.value.status == 404
