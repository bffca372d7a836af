"""Clients that should not come in, and those that should no longer be there."""

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Final

import anyio
import httpx
import pytest

from tests.gateway.attacks.conftest import OWNER, Serve, bearer, calling, chatting, token_for
from tests.gateway.conftest import INITIALIZE
from tests.support.editors.websocket_client import Closed, Rejected, WebSocketClient
from tests.support.program.agent_process import TIMEOUT
from tests.support.script_files import Script, hold, say, turn
from tests.support.servers.small_gateway import SmallGateway

STATUS: Final = {"jsonrpc": "2.0", "id": 1, "method": "hub/status"}
Way = Callable[[SmallGateway, dict[str, str]], Awaitable[int]]


async def _rpc(gateway: SmallGateway, headers: dict[str, str]) -> int:
    return await _post(f"{gateway.base}/rpc", STATUS, headers)


async def _acp(gateway: SmallGateway, headers: dict[str, str]) -> int:
    return await _post(gateway.url, INITIALIZE, headers)


async def _chat(gateway: SmallGateway, headers: dict[str, str]) -> int:
    return await _post(f"{gateway.base}/api/chat", {"message": "/mode"}, headers)


async def _chat_socket(gateway: SmallGateway, headers: dict[str, str]) -> int:
    return await _upgrade(f"{gateway.websocket_url.removesuffix('/acp')}/ws/chat", headers)


async def _acp_socket(gateway: SmallGateway, headers: dict[str, str]) -> int:
    return await _upgrade(gateway.websocket_url, headers)


async def _metrics(gateway: SmallGateway, headers: dict[str, str]) -> int:
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT) as client:
        return (await client.get(f"{gateway.base}/metrics", headers=headers)).status_code


async def _post(url: str, content: object, headers: dict[str, str]) -> int:
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT) as client:
        return (await client.post(url, json=content, headers=headers)).status_code


async def _upgrade(url: str, headers: dict[str, str]) -> int:
    try:
        async with WebSocketClient.connected(url, headers={name.title(): text for name, text in headers.items()}):
            return 101
    except Rejected as refused:
        return refused.status


WAYS: Final[dict[str, tuple[Way, str]]] = {
    "/rpc": (_rpc, "read"),
    "/metrics": (_metrics, "read"),
    "/acp": (_acp, "attach"),
    "/acp as a WebSocket": (_acp_socket, "attach"),
    "/api/chat": (_chat, "chat"),
    "/ws/chat": (_chat_socket, "chat"),
}


@pytest.mark.parametrize("way", WAYS)
async def test_whoever_has_not_the_right_token_is_kept_out_and_named_in_the_log(
    serve: Serve, caplog: pytest.LogCaptureFixture, way: str
) -> None:
    enter, scope = WAYS[way]
    async with serve() as gateway:
        other = token_for(gateway, *({"read", "chat", "attach"} - {scope}), name="narrow")  # pyright: ignore[reportArgumentType]
        revoked = token_for(gateway, "read", "chat", "control", "attach", name="lost phone")
        gateway.tokens.remove("lost phone")
        expired = token_for(gateway, "read", "chat", "control", "attach", name="old phone", lifetime=-1.0)
        for headers, status, logged in (
            ({}, 401, "a token is needed"),
            (bearer("a-guess"), 401, "the token is wrong"),
            (bearer(revoked), 401, "the token is wrong"),
            (bearer(expired), 401, "old phone"),
            (bearer(other), 403, "narrow"),
            ({**bearer(OWNER), "origin": "https://evil.example"}, 403, "https://evil.example"),
            ({**bearer(OWNER), "host": "rebound.example"}, 403, "rebound.example"),
            ({**bearer(OWNER), "sec-fetch-site": "cross-site"}, 403, "pages of that origin"),
        ):
            caplog.clear()
            assert await enter(gateway, headers) == status, headers
            (line,) = [record for record in caplog.records if record.getMessage() == "refused"]
            told = str(vars(line))
            assert logged in told, told
            assert "127.0.0.1" in told
            assert not any(secret in told for secret in (OWNER, other, expired, revoked, "a-guess"))
        assert await enter(gateway, bearer(OWNER)) in {101, 200, 503}


@pytest.mark.parametrize("end", ["removed", "expired"])
@pytest.mark.parametrize("path", ["/acp", "/ws/chat"])
async def test_a_websocket_ends_with_its_token(serve: Serve, path: str, end: str) -> None:
    async with serve(script=Script(turn(say("half"), hold("never")))) as gateway:
        token = token_for(gateway, "chat", "attach", name="phone", lifetime=0.3 if end == "expired" else None)
        url = gateway.websocket_url.removesuffix("/acp") + path
        async with WebSocketClient.connected(url, subprotocols=["acp", f"acp.bearer.{token}"]) as websocket:
            await websocket.send(json.dumps(INITIALIZE if path == "/acp" else {"type": "message", "message": "go"}))
            await websocket.receive()
            if end == "removed":
                gateway.tokens.remove("phone")
            while not isinstance(closed := await websocket.receive(), Closed):
                pass
            assert (closed.code, closed.reason) == (1008, "the token of this connection has ended")


async def test_a_stream_and_its_connection_end_with_the_token(serve: Serve) -> None:
    async with serve() as gateway, httpx.AsyncClient(trust_env=False, timeout=TIMEOUT) as client:
        client.headers.update(bearer(token_for(gateway, "attach", name="laptop")))
        answer = await client.post(gateway.url, json=INITIALIZE)
        named = {"acp-connection-id": answer.headers["acp-connection-id"], "accept": "text/event-stream"}
        async with client.stream("GET", gateway.url, headers=named) as stream:
            gateway.tokens.remove("laptop")
            with anyio.fail_after(TIMEOUT):
                assert [line async for line in stream.aiter_lines() if line.startswith("data")] == []
        owner = await client.get(gateway.url, headers=named | bearer(OWNER))
        assert owner.status_code == 404


async def test_a_running_prompt_ends_with_the_token(serve: Serve) -> None:
    async with serve(script=Script(turn(say("half"), hold("never")))) as gateway:
        token = token_for(gateway, "chat", name="phone")
        async with calling(gateway) as ask, chatting(gateway, token) as chat:
            await chat.send(type="message", message="go")
            await chat.up_to("chunk")
            gateway.tokens.remove("phone")
            with anyio.fail_after(TIMEOUT):
                while (await ask("hub/status"))["turns"]:
                    pass


async def test_strangers_who_guess_do_not_lock_out_those_who_know(serve: Serve) -> None:
    async with serve() as gateway:
        guest = token_for(gateway, "read", name="wall")
        statuses = [await _rpc(gateway, bearer(f"guess-{number}")) for number in range(12)]
        assert statuses == [401] * 10 + [429] * 2
        assert await _rpc(gateway, bearer("guess-0")) == 429
        assert await _rpc(gateway, bearer(guest)) == 200
        assert await _rpc(gateway, bearer(OWNER)) == 200


async def test_a_token_that_a_person_chose_cannot_be_guessed_in_bulk(serve: Serve) -> None:
    async with serve(chosen=True) as gateway:
        assert {await _rpc(gateway, bearer("stale")) for _ in range(30)} == {401}  # no guess: the same again and again
        assert [await _rpc(gateway, bearer(f"guess-{number}")) for number in range(10)] == [401] * 9 + [429]
        assert await _rpc(gateway, bearer(OWNER)) == 429


async def test_a_flood_of_refusals_leaves_room_in_the_log(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    async with serve() as gateway:
        for _ in range(100):
            assert await _rpc(gateway, {}) == 401
    lines = [record.getMessage() for record in caplog.records]
    assert lines.count("refused") == 30
    assert lines[-1].startswith("refused many")


async def test_strangers_who_guess_codes_do_not_keep_others_from_pairing(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "claw_acp")
    async with serve() as gateway, httpx.AsyncClient(trust_env=False, timeout=TIMEOUT) as client:
        code = gateway.pairing.begin(frozenset({"read"}), lifetime=None)
        results: list[int] = []

        async def guess(number: int) -> None:
            body = {"code": f"2222{number:04}".replace("0", "A").replace("1", "B"), "name": "thief"}
            results.append((await client.post(f"{gateway.base}/pair", json=body)).status_code)

        async with anyio.create_task_group() as tasks:
            for number in range(40):
                tasks.start_soon(guess, number)
        assert sorted(results) == [403] * 5 + [429] * 35
        gateway.pairing.finish(code, "phone", address="192.0.2.7")
        assert code not in caplog.text
        assert gateway.pairing.begin(frozenset({"read"}), lifetime=None)
