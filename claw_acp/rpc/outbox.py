"""Writing to a file descriptor without ever blocking the event loop, in order, with a visible backlog."""

import errno
import logging
import os
import stat
import sys
from collections import deque
from collections.abc import Callable

import anyio

log = logging.getLogger(__name__)

LOW_WATER = 64 * 1024  # bytes left when waiting senders go on


class Outbox:
    """Owns the sending side of a descriptor.

    What the other side can take at once is written at once; the rest waits in memory for `run`, in order. Regular
    files are written directly: they never make the writer wait.
    """

    def __init__(self, fd: int, *, on_broken: Callable[[], None]) -> None:
        self._fd = fd
        self._on_broken = on_broken
        self._queue: deque[memoryview] = deque()
        self._work = anyio.Event()
        self._low = anyio.Event()
        self.backlog = 0
        self.broken = False
        mode = os.fstat(fd).st_mode
        self._waits = (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) and sys.platform != "win32"
        if self._waits:
            os.set_blocking(fd, False)

    def send(self, data: bytes) -> None:
        """Write or queue; dropped when the other side is gone."""
        if self.broken:
            return
        view = memoryview(data)
        if not self._queue:
            view = self._write(view)
        if view:
            self._queue.append(view)
            self.backlog += len(view)
            self._work.set()

    async def drained(self) -> None:
        """Wait until little is queued, or nobody will ever read it."""
        while self.backlog > LOW_WATER and not self.broken:
            self._low = anyio.Event()
            await self._low.wait()

    async def run(self) -> None:
        """Write what had to wait; runs as long as the connection."""
        while True:
            self._work = anyio.Event()
            if not self._queue:
                await self._work.wait()
            await anyio.wait_writable(self._fd)
            self._flush()

    def flush_blocking(self) -> None:
        """Last words on the way out: write what the other side still takes without waiting for it."""
        self._flush()

    def _flush(self) -> None:
        while self._queue:
            view = self._queue.popleft()
            rest = self._write(view)
            if self.broken:
                return
            self.backlog -= len(view) - len(rest)
            if rest:
                self._queue.appendleft(rest)
                break
        if self.backlog <= LOW_WATER:
            self._low.set()

    def _write(self, view: memoryview) -> memoryview:
        while view and not self.broken:
            try:
                view = view[os.write(self._fd, view) :]
            except BlockingIOError:
                break
            except InterruptedError:
                continue
            except OSError as error:
                self._break(error)
        return view[:0] if self.broken else view

    def _break(self, error: OSError) -> None:
        log.info("the other side stopped reading", extra={"errno": errno.errorcode.get(error.errno or 0, "?")})
        self.broken = True
        self._queue.clear()
        self.backlog = 0
        self._low.set()
        self._on_broken()
