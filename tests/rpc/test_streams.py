"""Frames over the pipes of a real child process."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from claw_acp.process.child_process import ChildProcess, start_child
from claw_acp.rpc.framing import Oversized
from claw_acp.rpc.streams import StreamTransport

MORE_THAN_A_PIPE = b"x" * 1_000_000 + b"\n"


@asynccontextmanager
async def talking(script: str, *, limit: int = 2_000_000) -> AsyncGenerator[tuple[ChildProcess, StreamTransport]]:
    child = await start_child(["/bin/sh", "-c", script], stdin="pipe")
    assert child.stdin is not None
    assert child.stdout is not None
    transport = StreamTransport(child.stdout, child.stdin, limit=limit)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transport.write_queued)
            yield child, transport
            tasks.cancel_scope.cancel()
    finally:
        await child.end(terminate=0)


async def begun(transport: StreamTransport) -> None:
    """Wait until the first line fills the pipe."""
    for _ in range(5):
        await anyio.lowlevel.checkpoint()
    assert transport.backlog


async def test_what_was_not_begun_can_be_taken_back_and_is_never_read() -> None:
    first, second, third = MORE_THAN_A_PIPE, b"second\n", b"third\n"
    async with talking("exec sleep 1000") as (child, transport):
        transport.send(first)
        await begun(transport)
        transport.send(second)
        transport.send(third)
        backlog = transport.backlog
        assert not transport.withdraw(first)
        assert transport.withdraw(second)
        assert not transport.withdraw(second)
        assert transport.backlog == backlog - len(second)
        assert child.exit_code is None


async def test_more_can_be_sent_after_all_that_waited_was_taken_back() -> None:
    async with talking("sleep 0.01; exec cat") as (_, transport):
        line = b"taken back\n"
        transport.send(line)
        assert transport.withdraw(line)
        await anyio.lowlevel.checkpoint()
        transport.send(b"sent\n")
        assert await transport.receive() == b"sent"


async def test_a_line_beyond_the_limit_is_dropped_and_the_next_is_read() -> None:
    async with talking("exec cat", limit=10) as (_, transport):
        transport.send(b"x" * 11 + b"\n")
        transport.send(b"next\n")
        assert isinstance(await transport.receive(), Oversized)
        assert await transport.receive() == b"next"


async def test_a_last_line_without_an_end_counts_and_then_there_is_nothing() -> None:
    async with talking("printf last") as (_, transport):
        assert await transport.receive() == b"last"
        assert await transport.receive() is None
