"""Frames over real descriptors."""

import array
import fcntl
import os
import socket
import termios
import threading
from collections.abc import AsyncGenerator

import anyio
import pytest

from claw_acp.rpc.backlog import LOW_WATER
from claw_acp.rpc.framing import Frame
from claw_acp.rpc.outbox import TOGETHER
from claw_acp.rpc.stdio import FRAMES_WAITING, StdioTransport, stdio_transport
from tests.support.program.agent_process import eventually

SOON = 5  # seconds; a bound for waits that should end at once


class Pipes:
    """Both pipes of a program: what it reads from and writes to, and our ends of them."""

    def __init__(self) -> None:
        self.input, self.feed = os.pipe()
        self.read, self.output = os.pipe()
        self._open = {self.input, self.feed, self.read, self.output}

    def close(self, descriptor: int) -> None:
        self._open.remove(descriptor)
        os.close(descriptor)

    def end_input(self) -> None:
        if self.feed in self._open:
            self.close(self.feed)

    def close_all(self) -> None:
        for descriptor in tuple(self._open):
            self.close(descriptor)


@pytest.fixture
async def pipes() -> AsyncGenerator[Pipes]:
    both = Pipes()
    yield both
    both.end_input()
    # A reader that is late would read what next has the number of its descriptor.
    await eventually(lambda: not _readers(), what="an end of the thread that reads")
    both.close_all()


def _readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "claw-acp stdin"]


def _unread(descriptor: int) -> int:
    count = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, count)
    return count[0]


async def _received(transport: StdioTransport, count: int) -> list[Frame | None]:
    with anyio.fail_after(SOON):
        return [await transport.receive() for _ in range(count)]


async def test_lines_of_one_tick_travel_together_and_later_ones_do_not_wait_for_more(pipes: Pipes) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # a packet is one write
    with ours, theirs:
        async with stdio_transport(pipes.input, theirs.fileno()) as transport:
            transport.send(b"1\n")
            transport.send(b"2\n")
            await anyio.wait_all_tasks_blocked()
            transport.send(b"3\n")
            await anyio.wait_all_tasks_blocked()
            assert [ours.recv(100), ours.recv(100)] == [b"1\n2\n", b"3\n"]
            pipes.close(pipes.feed)


async def test_much_at_once_does_not_wait_for_the_end_of_the_tick(pipes: Pipes) -> None:
    async with stdio_transport(pipes.input, pipes.output) as transport:
        transport.send(b"x" * TOGETHER)
        assert os.read(pipes.read, 2 * TOGETHER) == b"x" * TOGETHER
        pipes.close(pipes.feed)


async def test_what_a_slow_reader_gets_is_whole_and_in_order(pipes: Pipes) -> None:
    lines = [b"%06d\n" % number * 100 for number in range(2000)]
    async with stdio_transport(pipes.input, pipes.output) as transport:
        for line in lines:
            transport.send(line)
        await anyio.wait_all_tasks_blocked()
        assert transport.backlog > LOW_WATER
        got = b""
        with anyio.fail_after(SOON):
            while len(got) < sum(map(len, lines)):
                await anyio.wait_readable(pipes.read)
                got += os.read(pipes.read, 1 << 20)
        assert got == b"".join(lines)
        await anyio.wait_all_tasks_blocked()
        assert transport.backlog == 0
        pipes.close(pipes.feed)


@pytest.mark.parametrize("how", ["the input ends", "told to stop", "the output breaks"])
async def test_the_end_is_told_at_once_and_releases_senders_that_wait(pipes: Pipes, how: str) -> None:
    told = threading.Event()  # it is told from the reader's thread, too
    async with stdio_transport(pipes.input, pipes.output, on_end=told.set) as transport:
        transport.send(b"x" * 10 * LOW_WATER)
        assert not told.is_set()
        with anyio.fail_after(SOON):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(transport.drained)
                await anyio.wait_all_tasks_blocked()
                match how:
                    case "the input ends":
                        pipes.close(pipes.feed)
                    case "told to stop":
                        transport.end()
                    case _:
                        pipes.close(pipes.read)
        assert told.is_set()
        assert await _received(transport, 1) == [None]


async def test_what_was_sent_last_reaches_a_reader_that_is_merely_slow(pipes: Pipes) -> None:
    whole = b"x" * 300_000 + b"\n"

    def read() -> bytes:
        got = b""
        while len(got) < len(whole):
            got += os.read(pipes.read, 1 << 20)
        return got

    async with anyio.create_task_group() as tasks:

        async def check() -> None:
            assert await anyio.to_thread.run_sync(read) == whole

        async with stdio_transport(pipes.input, pipes.output) as transport:
            transport.send(whole)
            tasks.start_soon(check)
            pipes.close(pipes.feed)


async def test_told_to_stop_a_flood_ends(pipes: Pipes) -> None:
    async with stdio_transport(pipes.input, pipes.output) as transport:
        os.write(pipes.feed, b"{}\n" * 5000)
        assert await _received(transport, 1) == [b"{}"]
        transport.end()
        os.write(pipes.feed, b"{}\n" * 5000)
        assert await _received(transport, 1) == [None]


async def test_a_client_that_left_without_reading_ends_the_input_that_nobody_takes(pipes: Pipes) -> None:
    async with stdio_transport(pipes.input, pipes.output) as transport:
        transport.send(b"x" * 10 * LOW_WATER)
        os.write(pipes.feed, b"{}\n" * FRAMES_WAITING)
        with anyio.fail_after(SOON):
            while _unread(pipes.input):  # the reader takes the second piece after the first has filled the room
                await anyio.wait_all_tasks_blocked()
            os.write(pipes.feed, b"{}\n")
            pipes.close(pipes.feed)
            await transport.drained()
        *frames, last = await _received(transport, FRAMES_WAITING + 1)
        assert (set(frames), last) == ({b"{}"}, None)


async def test_one_socket_for_both_directions_is_not_taken_for_an_end() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        descriptor = os.dup(theirs.fileno())  # the same socket, so also the same blocking mode
        async with stdio_transport(theirs.fileno(), descriptor) as transport:
            await anyio.wait_all_tasks_blocked()
            for frame in (b"1", b"2"):
                ours.sendall(frame + b"\n")
                assert await _received(transport, 1) == [frame]
            ours.shutdown(socket.SHUT_WR)
            assert await _received(transport, 1) == [None]
        os.close(descriptor)
