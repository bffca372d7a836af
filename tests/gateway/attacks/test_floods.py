"""Clients that send more than anybody can take: they wait, or are hung up on, and memory stays as it is."""

import json
import socket
import threading
import tracemalloc
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from anyio.lowlevel import checkpoint

from claw_acp.config.locations import find_locations
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.gateway.control.api import serve_control
from claw_acp.gateway.control.server import ControlledServer
from claw_acp.gateway.http.limits import Limits
from claw_acp.rpc.socket import socket_transport
from claw_acp.telemetry.metrics import Metrics
from claw_acp.telemetry.prometheus import figures_text
from tests.gateway.attacks.conftest import OWNER, Serve, bearer, chatting
from tests.support.editors.websocket_client import Closed, Rejected
from tests.support.program.agent_process import TIMEOUT
from tests.support.servers.small_gateway import SmallGateway

MEGABYTE = 1024 * 1024
UPGRADE = (
    "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: Upgrade\r\n"
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
SOON = 0.2  # seconds: a bound that is to be met


@contextmanager
def memory() -> Generator[list[int]]:
    """The most bytes that were taken during the block, known after it."""
    most: list[int] = []
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    try:
        yield most
    finally:
        most.append(tracemalloc.get_traced_memory()[1] - before)
        tracemalloc.stop()


@asynccontextmanager
async def raw(gateway: SmallGateway, begin: bytes) -> AsyncGenerator[socket.socket]:
    """A connection from which nobody reads; `begin` is there before the server has even accepted it."""
    parts = urlsplit(gateway.url)
    with anyio.fail_after(TIMEOUT), socket.create_connection((parts.hostname, parts.port)) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(begin)
        connection.settimeout(0)
        yield connection


async def pour(connection: socket.socket, data: bytes) -> None:
    """Send until the server hangs up."""
    view = memoryview(data)
    while True:
        await anyio.wait_writable(connection)
        try:
            view = view[connection.send(view) :] or memoryview(data)
        except BlockingIOError:
            continue
        except OSError:
            return


def frame(opcode: int, data: bytes, *, last: bool = True) -> bytes:
    """A frame of a WebSocket client, masked with zeros."""
    assert len(data) < 126
    return bytes([(0x80 if last else 0) | opcode, 0x80 | len(data), 0, 0, 0, 0]) + data


@pytest.mark.parametrize(
    "begin",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n",
        b"POST /pair HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
        UPGRADE.format(path="/ws/chat", token="wrong").encode(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01",
    ],
)
async def test_a_stranger_who_pours_in_data_at_once_fills_no_memory(serve: Serve, begin: bytes) -> None:
    async with serve(Limits(flush=SOON, first_message=SOON, gap=SOON, body=SOON, unused=SOON)) as gateway:
        async with httpx.AsyncClient(trust_env=False) as client:
            await client.get(f"{gateway.base}/healthz")
        with memory() as most:
            async with raw(gateway, begin + b"x" * 100_000) as connection:
                await pour(connection, b"x" * MEGABYTE)
        assert most[0] < 6 * MEGABYTE


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/ws/chat", frame(1, b"{") * 500),
        ("/ws/chat", frame(1, json.dumps({"type": "permission", "id": "x", "option": "y"}).encode()) * 500),
        ("/ws/chat", frame(9, b"x" * 125) * 500),
        ("/acp", frame(1, b"{") * 500),
    ],
)
async def test_a_client_that_never_reads_its_answers_is_not_listened_to(serve: Serve, path: str, data: bytes) -> None:
    begin = UPGRADE.format(path=path, token=OWNER).encode()
    async with serve(Limits(stall=SOON, flush=SOON)) as gateway, raw(gateway, begin + data) as connection:
        await pour(connection, data)


async def test_a_control_client_on_the_socket_that_never_reads_is_not_listened_to(serve: Serve) -> None:
    ours, theirs = socket.socketpair()
    theirs.settimeout(0)
    async with serve() as gateway, socket_transport(ours) as transport, anyio.create_task_group() as tasks:
        server = ControlledServer(
            engine=gateway.house, stop=lambda: None, locations=find_locations({}), pairing=None, started_at=0.0
        )
        tasks.start_soon(serve_control, transport, server)
        waited = 0
        while waited < 1000 and transport.backlog < MEGABYTE:
            await checkpoint()
            try:
                theirs.send(b"x\n" * 100)
            except BlockingIOError:
                waited += 1
        assert transport.backlog < MEGABYTE
        tasks.cancel_scope.cancel()
        theirs.close()


async def test_an_error_repeats_little_of_what_was_wrong(serve: Serve) -> None:
    async with serve() as gateway, chatting(gateway) as chat:
        await chat.send(type="A" * 100_000)
        assert len((await chat.up_to("error"))["message"]) < 1000


async def test_a_chat_message_has_an_end(serve: Serve) -> None:
    async with serve() as gateway, chatting(gateway) as chat:
        await chat.send(type="message", message="x" * (4 * MEGABYTE))
        closed = await chat.websocket.receive()
        assert isinstance(closed, Closed)
        assert closed.code == 1009


async def test_chats_are_limited(serve: Serve) -> None:
    async with serve(Limits(connections=2)) as gateway, chatting(gateway), chatting(gateway) as second:
        with pytest.raises(Rejected) as refused:
            async with chatting(gateway):
                pass
        assert refused.value.status == 503
        await second.websocket.close()
        with anyio.fail_after(TIMEOUT):
            while True:
                try:
                    async with chatting(gateway):
                        break
                except Rejected:
                    continue


async def test_batches_of_many_clients_at_once_do_not_start_a_thread_for_each_request(serve: Serve) -> None:
    batch = [{"jsonrpc": "2.0", "id": number, "method": "schedules/list"} for number in range(100)]
    statuses: list[int] = []
    most = before = threading.active_count()
    async with serve() as gateway, httpx.AsyncClient(headers=bearer(OWNER), timeout=TIMEOUT, trust_env=False) as client:

        async def ask() -> None:
            statuses.append((await client.post(f"{gateway.base}/rpc", json=batch[:5])).status_code)

        async def look() -> None:
            nonlocal most
            while len(statuses) < 60:
                most = max(most, threading.active_count())
                await checkpoint()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look)
            for _ in range(60):
                tasks.start_soon(ask)
    assert set(statuses) <= {200, 503}
    assert most - before < 100


async def test_strangers_who_keep_connections_open_do_not_keep_others_out(serve: Serve) -> None:
    async with serve(Limits(sockets=4)) as gateway, anyio.create_task_group() as tasks:
        left = anyio.Event()

        async def linger() -> None:
            async with raw(gateway, b"GET /rpc HTTP/1.1\r\nX: "):
                await left.wait()

        for _ in range(8):
            tasks.start_soon(linger)
        async with chatting(gateway) as chat:
            for _ in range(8):
                tasks.start_soon(linger)
            await checkpoint()
            await chat.send(type="message", message="/mode")
            assert (await chat.up_to("done"))["text"]
        left.set()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/pair", '{"code": "\\ud800", "name": "\\ud800"}'),
        ("/rpc", '{"jsonrpc": "2.0", "method": "hub/status", "id": ' + "[" * 900 + "]" * 900 + "}"),
        ("/rpc", '{"jsonrpc": "2.0", "method": "sessions/show", "id": 1, "params": {"sessionId": "\\ud800"}}'),
    ],
)
async def test_odd_requests_are_no_incident(serve: Serve, path: str, body: str) -> None:
    async with serve() as gateway, httpx.AsyncClient(timeout=TIMEOUT, trust_env=False) as client:
        gateway.pairing.begin(frozenset({"read"}), lifetime=None)
        headers = {**bearer(OWNER), "content-type": "application/json"}
        answer = await client.post(f"{gateway.base}{path}", content=body, headers=headers)
        assert answer.status_code in {200, 403}, answer.text


@pytest.mark.parametrize("accept", ["application/openmetrics-text;version=9x", "text/plain;version=x", ";;,=,"])
def test_figures_come_in_some_format_whatever_is_asked_for(accept: str) -> None:
    text, kind = figures_text(Metrics(SYSTEM_CLOCK, {}), accept)
    assert b"claw_acp_info" in text
    assert "version=" in kind
