"""The HTTP server under clients that are odd, broken or bad, byte by byte."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import h2.config
import h2.connection
import h2.errors
import h2.events
import pytest
from anyio.abc import SocketStream
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claw_acp.gateway.http.limits import Limits
from tests.gateway.conftest import INITIALIZE
from tests.support.editors.http2_transport import http2_client
from tests.support.program.agent_process import TIMEOUT
from tests.support.servers.small_gateway import SmallGateway, open_gateway

BODY = json.dumps(INITIALIZE).encode()
POST = b"POST /acp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
WHOLE = POST + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY


@pytest.fixture
async def gateway(home: Path) -> AsyncGenerator[SmallGateway]:
    async with open_gateway(Limits(), home=home) as gateway:
        yield gateway


@asynccontextmanager
async def connected(gateway: SmallGateway) -> AsyncGenerator[SocketStream]:
    parts = urlsplit(gateway.url)
    with anyio.fail_after(TIMEOUT):
        async with await anyio.connect_tcp(parts.hostname or "", parts.port or 0) as stream:
            yield stream


async def until(stream: SocketStream, text: bytes, *, times: int = 1) -> bytes:
    data = b""
    while data.count(text) < times:
        data += await stream.receive()
    return data


async def to_the_end(stream: SocketStream) -> bytes:
    data = b""
    while True:
        try:
            data += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return data


async def test_a_request_that_comes_byte_by_byte_is_answered(gateway: SmallGateway) -> None:
    async with connected(gateway) as stream:
        for number in range(len(WHOLE)):
            await stream.send(WHOLE[number : number + 1])
        assert (await until(stream, b'"protocolVersion"')).startswith(b"HTTP/1.1 200 ")


async def test_requests_that_come_together_are_answered_in_turn(gateway: SmallGateway) -> None:
    async with connected(gateway) as stream:
        await stream.send(WHOLE * 3)
        answers = await until(stream, b'"protocolVersion"', times=3)
        assert answers.count(b"HTTP/1.1 200 ") == 3


async def test_a_request_without_a_body_leaves_its_connection_open(gateway: SmallGateway) -> None:
    async with connected(gateway) as stream:
        await stream.send(b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"HTTP/1.1 404 " in await until(stream, b"/acp\n")
        await stream.send(WHOLE)
        assert b"HTTP/1.1 200 " in await until(stream, b'"protocolVersion"')


async def test_bodies_in_chunks_are_put_together(gateway: SmallGateway) -> None:
    async with connected(gateway) as stream:
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (BODY[:10], BODY[10:]))
        await stream.send(POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
        assert (await until(stream, b'"protocolVersion"')).startswith(b"HTTP/1.1 200 ")


async def test_a_client_that_wants_to_be_told_to_go_on_is_told(gateway: SmallGateway) -> None:
    async with connected(gateway) as stream:
        await stream.send(POST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(BODY))
        assert (await stream.receive()).startswith(b"HTTP/1.1 100 ")
        await stream.send(BODY)
        assert b"HTTP/1.1 200 " in await until(stream, b'"protocolVersion"')


async def test_http_1_0_is_answered_and_hung_up_on(gateway: SmallGateway) -> None:
    async with connected(gateway) as stream:
        await stream.send(WHOLE.replace(b"HTTP/1.1", b"HTTP/1.0"))
        assert (await to_the_end(stream)).startswith(b"HTTP/1.1 200 ")


async def test_a_second_request_waits_behind_a_stream(gateway: SmallGateway) -> None:
    async with connected(gateway) as stream, connected(gateway) as other:
        await stream.send(WHOLE)
        head = await until(stream, b'"protocolVersion"')
        name = next(line for line in head.split(b"\r\n") if line.startswith(b"acp-connection-id"))
        get = b"GET /acp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" + name + b"\r\n\r\n"
        await stream.send(get + WHOLE)
        assert b"text/event-stream" in await until(stream, b"\r\n\r\n")
        await other.send(b"DELETE /acp HTTP/1.1\r\nHost: localhost\r\n" + name + b"\r\n\r\n")
        await until(other, b"202")
        assert b"HTTP/1.1 200 " in await until(stream, b'"protocolVersion"')


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"garbage\r\n\r\n", b"400"),
        (b"GET /acp HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /acp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400"),
        (POST + b"Content-Length: x\r\n\r\n", b"400"),
        (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
        (POST + b"Transfer-Encoding: gzip\r\n\r\n", b"501"),
        (POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + WHOLE, b"400"),
        (POST + b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n" + WHOLE, b"400"),
        (POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"400"),
    ],
)
async def test_what_is_no_http_is_refused_and_hung_up_on(gateway: SmallGateway, sent: bytes, status: bytes) -> None:
    async with connected(gateway) as stream:
        await stream.send(sent)
        answers = await to_the_end(stream)
        assert answers.startswith(b"HTTP/1.1 " + status + b" ")
        assert answers.count(b"HTTP/1.1 ") == 1


async def test_a_client_that_leaves_in_the_middle_of_a_body_leaves_nothing_behind(gateway: SmallGateway) -> None:
    async with connected(gateway) as stream:
        await stream.send(WHOLE[:-5])
        await stream.send_eof()
        assert b"200" not in await to_the_end(stream)
    async with connected(gateway) as stream:
        await stream.send(WHOLE)
        await until(stream, b'"protocolVersion"')


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300), http2=st.booleans(), begin=st.sampled_from([b"", POST, WHOLE[:-9]]))
async def test_random_bytes_end_nothing_but_their_own_connection(
    gateway: SmallGateway,
    data: bytes,
    http2: bool,  # noqa: FBT001
    begin: bytes,
) -> None:
    async with connected(gateway) as stream:
        await stream.send((b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" if http2 else begin) + data)
        await stream.send_eof()
        await to_the_end(stream)
    async with connected(gateway) as stream:
        await stream.send(WHOLE)
        await until(stream, b'"protocolVersion"')


# ---------------------------------------------------------------------- HTTP/2


class Raw2:
    """HTTP/2 with every freedom."""

    def __init__(self, stream: SocketStream) -> None:
        self.stream = stream
        self.protocol = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))

    async def flush(self) -> None:
        await self.stream.send(self.protocol.data_to_send())

    async def events(self) -> list[h2.events.Event]:
        """What comes next; nothing at the end."""
        try:
            return self.protocol.receive_data(await self.stream.receive())
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return []

    async def goodbye(self) -> int | None:
        """The reason that the server gives before it hangs up, if it gives one."""
        while events := await self.events():
            for event in events:
                if isinstance(event, h2.events.ConnectionTerminated):
                    return int(event.error_code or 0)
        return None

    def ask(self, method: str = "POST", *, end: bool = False, path: str = "/acp") -> int:
        stream_id = self.protocol.get_next_available_stream_id()
        headers = [(":method", method), (":scheme", "http"), (":authority", "localhost"), (":path", path)]
        headers.append(("content-type", "application/json"))
        self.protocol.send_headers(stream_id, headers, end_stream=end)
        return stream_id


@asynccontextmanager
async def raw2(gateway: SmallGateway) -> AsyncGenerator[Raw2]:
    async with connected(gateway) as stream:
        client = Raw2(stream)
        client.protocol.initiate_connection()
        await client.flush()
        yield client


async def test_a_body_behind_an_early_answer_harms_no_other_request(gateway: SmallGateway) -> None:
    async with raw2(gateway) as client:
        early = client.ask(path="/nowhere")
        client.protocol.send_data(early, b"x" * 10_000)
        other = client.ask()
        await client.flush()
        statuses: dict[int, bytes] = {}
        sent = 0
        while statuses.keys() != {early, other}:
            for event in await client.events():
                if isinstance(event, h2.events.ResponseReceived):
                    statuses[event.stream_id or 0] = dict(event.headers or ())[b":status"]
            if early in statuses and not sent:
                client.protocol.send_data(other, BODY, end_stream=True)
                sent = 1
            await client.flush()
        assert statuses == {early: b"404", other: b"200"}


async def test_requests_that_are_taken_back_by_the_hundred_end_the_connection(gateway: SmallGateway) -> None:
    async with raw2(gateway) as client:
        for _ in range(300):
            client.protocol.reset_stream(client.ask())
        await client.flush()
        assert await client.goodbye() == h2.errors.ErrorCodes.ENHANCE_YOUR_CALM
    async with http2_client(gateway.url) as client:
        assert (await client.post(gateway.url, json=INITIALIZE)).status_code == 200


async def test_more_requests_than_allowed_end_the_connection(home: Path) -> None:
    async with open_gateway(Limits(streams=1), home=home) as gateway, raw2(gateway) as client:
        client.protocol.remote_settings.max_concurrent_streams = 2**20
        for _ in range(100):
            client.ask()
        await client.flush()
        assert await client.goodbye() == h2.errors.ErrorCodes.PROTOCOL_ERROR


async def test_other_ways_to_ask_are_refused(gateway: SmallGateway) -> None:
    async with http2_client(gateway.url) as client:
        for method in ("PUT", "HEAD", "TRACE"):
            assert (await client.request(method, gateway.url)).status_code == 405
        assert (await client.get(gateway.url + "?x=y")).status_code == 406
