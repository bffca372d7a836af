"""Writing to a file descriptor without ever blocking the event loop, in order, with a visible backlog."""

import asyncio
import errno
import logging
import os
import stat
import sys
from collections import deque
from collections.abc import Callable

import anyio

from claw_acp.rpc.backlog import Backlog

log = logging.getLogger(__name__)

TOGETHER = 16 * 1024  # bytes that are written at once, without waiting for the end of the tick


class Outbox:
    """Owns the sending side of a descriptor.

    What is sent in one tick of the event loop is written together at its end: a system call for every line would be the
    largest cost of a stream. What the descriptor does not take then waits in memory for `run`, in order. Regular files
    are written directly: they never make the writer wait.
    """

    def __init__(self, fd: int, *, on_broken: Callable[[], None]) -> None:
        self._fd = fd
        self._on_broken = on_broken
        self._gathered: list[bytes] = []
        self._gathered_size = 0
        self._queue: deque[memoryview] = deque()
        self._work = anyio.Event()
        self._empty = anyio.Event()
        # anyio has no word for the end of a tick; asyncio is the only event loop this program runs on.
        self._at_end_of_tick = asyncio.get_running_loop().call_soon
        self._tick_ends = False
        self.backlog = Backlog()
        self.broken = False
        mode = os.fstat(fd).st_mode
        if (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) and sys.platform != "win32":
            os.set_blocking(fd, False)

    def send(self, data: bytes) -> None:
        """Write at the end of the tick, or queue; dropped when the other side is gone."""
        if self.broken:
            return
        self._gathered.append(data)
        self._gathered_size += len(data)
        self.backlog.add(len(data))
        if self._gathered_size >= TOGETHER:
            self._write_gathered()
        elif not self._tick_ends:
            self._tick_ends = True
            self._at_end_of_tick(self._end_tick)

    async def run(self) -> None:
        """Write what had to wait; runs as long as the connection lives."""
        while True:
            self._work = anyio.Event()
            if not self._queue:
                await self._work.wait()
            await anyio.wait_writable(self._fd)
            self._write_queue()

    def flush(self) -> None:
        """Write everything that can be written without waiting."""
        self._queue_gathered()
        self._write_queue()

    async def written(self) -> None:
        """Wait until everything is written; needs `run`."""
        self.flush()
        while self._queue:
            self._empty = anyio.Event()
            await self._empty.wait()

    def _end_tick(self) -> None:
        self._tick_ends = False
        self._write_gathered()

    def _write_gathered(self) -> None:
        others_wait = bool(self._queue)
        self._queue_gathered()
        if not others_wait:
            self._write_queue()
        if self._queue:
            self._work.set()

    def _queue_gathered(self) -> None:
        if self._gathered:
            self._queue.append(memoryview(b"".join(self._gathered)))
            self._gathered.clear()
            self._gathered_size = 0

    def _write_queue(self) -> None:
        while self._queue and not self.broken:
            view = self._queue.popleft()
            rest = self._write(view)
            self.backlog.take(len(view) - len(rest))
            if rest:
                self._queue.appendleft(rest)
                return
        self._empty.set()

    def _write(self, view: memoryview) -> memoryview:
        """Write, and return the rest."""
        while view:
            try:
                view = view[os.write(self._fd, view) :]
            except BlockingIOError:
                return view
            except OSError as error:
                self._break(error)
                return view[:0]
        return view

    def _break(self, error: OSError) -> None:
        log.info("the other side stopped reading", extra={"errno": errno.errorcode.get(error.errno or 0, "?")})
        self.broken = True
        self._gathered.clear()
        self._queue.clear()
        self.backlog.end()
        self._on_broken()


class OutboxSender:
    """The sending side of a transport on a descriptor: see `Transport`."""

    def __init__(self, fd: int, *, on_broken: Callable[[], None]) -> None:
        self._outbox = Outbox(fd, on_broken=on_broken)

    def send(self, line: bytes) -> None:
        """See `Transport.send`."""
        self._outbox.send(line)

    @property
    def backlog(self) -> int:
        """See `Transport.backlog`."""
        return self._outbox.backlog.size

    async def drained(self) -> None:
        """See `Transport.drained`. Does not wait after the end."""
        await self._outbox.backlog.drained()

    async def write_waiting(self) -> None:
        """Write what could not be written at once; runs as long as the connection lives."""
        await self._outbox.run()

    async def written(self) -> None:
        """Wait until everything that was sent is written, or the other side is gone."""
        await self._outbox.written()
