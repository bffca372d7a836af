"""One small GET on this machine: whatever comes back ends soon, and nothing in it keeps this process busy."""

import socket
from contextlib import suppress

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from anyio.lowlevel import checkpoint
from hypothesis import example, given, settings
from hypothesis import strategies as st

from claw_acp.net import loopback_get
from claw_acp.net.loopback_get import ANSWER_LIMIT, CHUNKS_LIMIT, HEAD_LIMIT, Answer, chunks, get

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\n"


async def asked(said: bytes) -> Answer | None:
    """What is made of an answer that is `said` in these bytes."""

    async def say(client: SocketStream) -> None:
        async with client:
            try:
                await client.receive()
                await client.send(said)
                await client.send_eof()
                await client.receive()
            except (anyio.BrokenResourceError, anyio.EndOfStream, OSError):
                return  # it has heard enough

    answer: Answer | None = None
    async with await anyio.create_tcp_listener(local_host="127.0.0.1", family=socket.AF_INET) as listener:
        port = listener.extra(SocketAttribute.local_port)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, say)
            answer = await get(f"http://127.0.0.1:{port}/")
            tasks.cancel_scope.cancel()
    return answer


@pytest.mark.parametrize(
    ("said", "body"),
    [
        (CHUNKED + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", b"abcde"),
        (CHUNKED + b"A\r\n0123456789\r\n", b"0123456789"),
        (PLAIN + b"Content-Length: 3\r\n\r\nabc", b"abc"),
        (PLAIN + b"\r\nto the end", b"to the end"),
    ],
)
async def test_an_answer_is_read_in_whichever_way_it_is_framed(said: bytes, body: bytes) -> None:
    assert await asked(said) == Answer(status=200, body=body)


@pytest.mark.parametrize(
    "said",
    [
        CHUNKED + b"-1\r\n" * 8,
        CHUNKED + b"1_0\r\n0123456789012345\r\n0\r\n\r\n",
        CHUNKED + b"+1\r\nx\r\n0\r\n\r\n",
        CHUNKED + b"1\r\nx\r\n" * (CHUNKS_LIMIT + 1),
        CHUNKED + b"x" * 1000,
        PLAIN + b"Content-Length: -3\r\n\r\n",
        PLAIN + b"Content-Length: +3\r\n\r\nabc",
        PLAIN + b"X: " + b"x" * HEAD_LIMIT,
        PLAIN + b"\r\n" + b"x" * ANSWER_LIMIT,
        b"HTTP/1.1 -12\r\n\r\n",
    ],
    ids=["negative", "underscore", "sign", "many", "no-chunks", "no-length", "signed-length", "head", "long", "status"],
)
async def test_what_is_no_answer_is_refused(said: bytes) -> None:
    assert await asked(said) is None


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\nX: ", PLAIN + b"\r\n", CHUNKED + b"1;"])
async def test_an_answer_that_comes_byte_by_byte_without_end_is_given_up(
    begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loopback_get, "ANSWER_TIMEOUT", 0.05)
    gone = anyio.Event()

    async def drip(client: SocketStream) -> None:
        async with client:
            with suppress(anyio.BrokenResourceError):
                await client.send(begun)
                while True:
                    await client.send(b"x")
                    await checkpoint()
        gone.set()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", family=socket.AF_INET)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, drip)
        assert await get(f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/") is None
        await gone.wait()
        tasks.cancel_scope.cancel()


async def test_an_answer_that_leads_elsewhere_is_not_followed() -> None:
    away = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
    assert await asked(away) == Answer(status=302, body=b"")


@given(
    st.one_of(
        st.binary(max_size=200), st.lists(st.sampled_from([b"-1", b"0", b"1", b"ff", b";", b"\r\n"])).map(b"".join)
    )
)
@example(b"-1\r\n" * 5000)
@example(b"1\r\nx\r\n" * 170_000)
@settings(max_examples=200, deadline=None)
def test_reading_chunks_goes_over_each_byte_once(body: bytes) -> None:
    steps = size = 0
    try:
        for piece in chunks(body):
            steps += 1
            size += len(piece)
    except ValueError:
        pass
    assert steps <= min(CHUNKS_LIMIT, len(body) // 3 + 1)
    assert size <= len(body)
