"""JSON-RPC on a pair of file descriptors.

Reading is a daemon thread in `os.read`: it works on pipes, sockets, files and terminals alike, and cannot keep the
process from ending. It hands each piece to the event loop and waits until it was taken, so a flood is not buffered.
"""

import logging
import os
import threading
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.from_thread import run_sync
from anyio.lowlevel import EventLoopToken, current_token

from claw_acp.rpc.framing import Frame, LineSplitter
from claw_acp.rpc.outbox import Outbox

log = logging.getLogger(__name__)

READ_SIZE = 256 * 1024
FRAMES_WAITING = 4096  # decoded frames not yet received before the reader pauses


class StdioTransport:
    """Frames over two descriptors. Made by `stdio_transport`."""

    def __init__(self, input_fd: int, output_fd: int, *, splitter: LineSplitter, early: list[Frame]) -> None:
        self._input_fd = input_fd
        self._splitter = splitter
        self._frames: deque[Frame] = deque(early)
        self._news = anyio.Event()
        self._ended = False
        self._room = threading.Event()
        self._room.set()
        self._outbox = Outbox(output_fd, on_broken=self.end)

    async def receive(self) -> Frame | None:
        """See `Transport.receive`."""
        while not self._frames:
            if self._ended:
                return None
            self._news = anyio.Event()
            await self._news.wait()
        frame = self._frames.popleft()
        if len(self._frames) < FRAMES_WAITING:
            self._room.set()
        return frame

    def send(self, line: bytes) -> None:
        """See `Transport.send`."""
        self._outbox.send(line)

    @property
    def backlog(self) -> int:
        """See `Transport.backlog`."""
        return self._outbox.backlog

    async def drained(self) -> None:
        """See `Transport.drained`."""
        await self._outbox.drained()

    def end(self) -> None:
        """No more frames will come: the input ended, the output broke, or the process is to stop."""
        self._ended = True
        self._news.set()

    async def write_waiting(self) -> None:
        """Write what could not be written at once; runs as long as the connection."""
        await self._outbox.run()

    def flush(self) -> None:
        """Write what the other side takes without waiting."""
        self._outbox.flush_blocking()

    def read_in_thread(self, token: EventLoopToken) -> None:
        """The reader thread: until the input ends or the loop is gone."""
        try:
            while data := self._read():
                self._room.wait()
                run_sync(self._arrive, data, token=token)
            run_sync(self._finish, token=token)
        except RuntimeError:  # the event loop has ended; nobody is left to tell
            log.debug("reader ends with the event loop")

    def _read(self) -> bytes:
        try:
            return os.read(self._input_fd, READ_SIZE)
        except OSError as error:
            log.info("input failed", extra={"errno": error.errno})
            return b""

    def _arrive(self, data: bytes) -> None:
        self._frames.extend(self._splitter.feed(data))
        if len(self._frames) >= FRAMES_WAITING:
            self._room.clear()
        self._news.set()

    def _finish(self) -> None:
        self._frames.extend(self._splitter.finish())
        self.end()


@asynccontextmanager
async def stdio_transport(
    input_fd: int, output_fd: int, *, splitter: LineSplitter | None = None, early: list[Frame] | None = None
) -> AsyncGenerator[StdioTransport]:
    """Frames over two descriptors.

    Args:
        input_fd: Read until it ends.
        output_fd: Written without blocking; made non-blocking when it is a pipe or socket.
        splitter: Continues a stream that someone began to read.
        early: Frames that were read before.
    """
    transport = StdioTransport(input_fd, output_fd, splitter=splitter or LineSplitter(), early=early or [])
    thread = threading.Thread(
        target=transport.read_in_thread, args=(current_token(),), name="claw-acp stdin", daemon=True
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transport.write_waiting, name="stdout")
        thread.start()
        try:
            yield transport
        finally:
            transport.flush()
            tasks.cancel_scope.cancel()
