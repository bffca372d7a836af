"""Transport of an ACP connection over a WebSocket: one text message is one frame."""

from collections import deque

import anyio

from claw_acp.gateway.acp.close_code import LEFT, OVER, STALLED, CloseReason
from claw_acp.gateway.acp.send_backlog import SendBacklog
from claw_acp.gateway.http.http_error import ClientGone
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.websocket import WebSocket


class WebSocketTransport:
    """The frames of one accepted WebSocket. See `Transport`; `write` must run as long as the connection."""

    def __init__(self, websocket: WebSocket, *, limits: Limits) -> None:
        self.ending = OVER
        """Why it ended, once it has."""
        self._websocket = websocket
        self._limits = limits
        self._early: list[bytes] = []
        self._queue: deque[bytes] = deque()
        self._work = anyio.Event()
        self._over = anyio.Event()
        self._reading: anyio.CancelScope | None = None
        self._unread = SendBacklog(stall=limits.stall, on_stall=lambda: self.end(STALLED))

    async def receive(self) -> bytes | None:
        """See `Transport.receive`."""
        if self._early:
            return self._early.pop()
        while not self._over.is_set():
            with anyio.CancelScope() as self._reading:
                frame = await self._websocket.receive()
                if frame is not None:
                    return frame
                self.end(LEFT)
        return None

    def put_back(self, frame: bytes) -> None:
        """Put back the frame that `receive` returned; the next call returns it again."""
        self._early.append(frame)

    def send(self, line: bytes) -> None:
        """See `Transport.send`."""
        if not self._over.is_set():
            self._queue.append(line)
            self._unread.add(len(line))
            self._work.set()

    @property
    def backlog(self) -> int:
        """See `Transport.backlog`."""
        return self._unread.size

    async def drained(self) -> None:
        """See `Transport.drained`. A client that stops reading for too long is disconnected."""
        await self._unread.drained()

    def end(self, ending: CloseReason) -> None:
        """See `RemoteTransport.end`."""
        if not self._over.is_set():
            self.ending = ending
            self._over.set()
            self._unread.end()
            self._work.set()
            if self._reading is not None:
                self._reading.cancel()

    async def write(self) -> None:
        """Send queued frames until `end`, then close the WebSocket and wait a moment for the client's close frame."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._give_up_after_end, tasks.cancel_scope)
            try:
                await self._write_queue()
                if self.ending is not LEFT:
                    await self._websocket.close(self.ending.code, self.ending.reason)
            except ClientGone:
                self.end(LEFT)
            tasks.cancel_scope.cancel()

    async def _write_queue(self) -> None:
        while self._queue or not self._over.is_set():
            if not self._queue:
                self._work = anyio.Event()
                await self._work.wait()
                continue
            line = self._queue.popleft()
            await self._websocket.send(line.rstrip(b"\n").decode())
            self._unread.take(len(line))

    async def _give_up_after_end(self, scope: anyio.CancelScope) -> None:
        await self._over.wait()
        await anyio.sleep(self._limits.flush)
        scope.cancel()
