"""JSON-RPC on a pair of file descriptors.

Reading is a daemon thread in `os.read`: it works on pipes, sockets, files and terminals alike, and cannot keep the
process from ending. It hands each piece to the event loop and waits until it was taken, so a flood is not buffered.
"""

import logging
import os
import select
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
from anyio.from_thread import run_sync
from anyio.lowlevel import EventLoopToken, current_token

from claw_acp.rpc.backlog import LOW_WATER
from claw_acp.rpc.framing import Frame, LineSplitter
from claw_acp.rpc.outbox import OutboxSender

log = logging.getLogger(__name__)

READ_SIZE = 256 * 1024
FRAMES_WAITING = 4096  # frames not yet received before the reader pauses
BYTES_WAITING = 16 * 1024 * 1024  # and bytes of them
LOOK_AGAIN = 0.25  # seconds between looks whether the other side left, while the reader pauses
DRAIN_TIMEOUT = 0.3  # seconds at the very end for a reader that is merely slow


class StdioTransport(OutboxSender):
    """Frames over two descriptors. Made by `stdio_transport`."""

    def __init__(
        self,
        input_fd: int,
        output_fd: int,
        *,
        splitter: LineSplitter,
        early: list[Frame],
        on_end: Callable[[], None],
    ) -> None:
        super().__init__(output_fd, on_broken=self.end)
        self._input_fd = input_fd
        self._splitter = splitter
        self._frames: deque[Frame] = deque(early)
        self._bytes = sum(map(len, early))
        self._news = anyio.Event()
        self._ended = False
        self._on_end = on_end
        self._room = threading.Event()
        self._room.set()

    async def receive(self) -> Frame | None:
        """See `Transport.receive`."""
        while not self._frames:
            if self._ended:
                return None
            self._news = anyio.Event()
            await self._news.wait()
        frame = self._frames.popleft()
        self._bytes -= len(frame)
        self._pause_or_go_on()
        return frame

    def end(self) -> None:
        """Stop: the output failed, or the process is to end. Frames that were not received yet are dropped."""
        self._frames.clear()
        self._bytes = 0
        self._end()

    def _end(self) -> None:
        self._ended = True
        self._on_end()
        self._outbox.backlog.end()
        self._room.set()
        self._news.set()

    # ------------------------------------------------------------------ the reader thread

    def read_in_thread(self, token: EventLoopToken) -> None:
        """Read until the input ends or the loop is gone."""
        try:
            while (data := self._read()) and self._may_go_on():
                run_sync(self._arrive, data, token=token)
            self._on_end()  # at once: the event loop may be what hangs
            run_sync(self._finish, token=token)
        except RuntimeError:  # the event loop has ended; nobody is left to tell
            log.debug("reader ends with the event loop")

    def _read(self) -> bytes:
        while True:
            try:
                return os.read(self._input_fd, READ_SIZE)
            except BlockingIOError:  # one socket for both directions: making the output non-blocking was heard here too
                self._poll(select.POLLIN, timeout=None)
            except OSError as error:
                log.info("input failed", extra={"errno": error.errno})
                return b""

    def _may_go_on(self) -> bool:
        """Wait until there is room. False at the end, also if the client left without reading its answers."""
        while not self._room.wait(LOOK_AGAIN):
            stalled = self._outbox.backlog.size > LOW_WATER
            if stalled and self._poll(getattr(select, "POLLRDHUP", 0), timeout=0):
                return False
        return not self._ended

    def _poll(self, events: int, *, timeout: int | None) -> bool:
        """Wait for one of `events`; a hang-up always counts."""
        poll = select.poll()
        poll.register(self._input_fd, events)
        return bool(poll.poll(timeout))

    def _arrive(self, data: bytes) -> None:
        if self._ended:
            return
        frames = self._splitter.feed(data)
        self._frames.extend(frames)
        self._bytes += sum(map(len, frames))
        self._pause_or_go_on()
        self._news.set()

    def _pause_or_go_on(self) -> None:
        if len(self._frames) < FRAMES_WAITING and self._bytes < BYTES_WAITING:
            self._room.set()
        else:
            self._room.clear()

    def _finish(self) -> None:
        if not self._ended:
            self._frames.extend(self._splitter.finish())
        self._end()


@asynccontextmanager
async def stdio_transport(
    input_fd: int,
    output_fd: int,
    *,
    splitter: LineSplitter | None = None,
    early: list[Frame] | None = None,
    on_end: Callable[[], None] = lambda: None,
) -> AsyncGenerator[StdioTransport]:
    """Frames over two descriptors.

    Args:
        input_fd: Read until it ends.
        output_fd: Written without blocking; made non-blocking when it is a pipe or socket.
        splitter: Continues a stream that was partly read before.
        early: Frames that were read before.
        on_end: Called when the input ends, the output breaks, or `end` is called; from any thread, perhaps repeatedly.
    """
    transport = StdioTransport(
        input_fd, output_fd, splitter=splitter or LineSplitter(), early=early or [], on_end=on_end
    )
    thread = threading.Thread(
        target=transport.read_in_thread, args=(current_token(),), name="claw-acp stdin", daemon=True
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transport.write_waiting, name="stdout")
        thread.start()
        try:
            yield transport
        finally:
            with anyio.move_on_after(DRAIN_TIMEOUT, shield=True):
                await transport.written()
            tasks.cancel_scope.cancel()
