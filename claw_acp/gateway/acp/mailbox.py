"""Queue of messages for one stream of server-sent events."""

from collections import deque

import anyio

from claw_acp.gateway.acp.send_backlog import SendBacklog

TOGETHER = 64 * 1024  # bytes of small messages that travel in one piece


class Mailbox:
    """Messages for one stream, kept until a client reads it. One client at a time may read."""

    def __init__(self, unread: SendBacklog) -> None:
        self.open = False
        """True if a client reads the stream."""
        self.kept = False
        """True if messages are still expected, so that the queue must be kept while no client reads."""
        self._unread = unread
        self._lines: deque[bytes] = deque()
        self._finished = False
        self._news = anyio.Event()

    @property
    def forgettable(self) -> bool:
        """True when the queue is empty and no message is expected."""
        return not self._lines and not self.kept

    def put(self, line: bytes) -> None:
        """Add a message, a line of JSON; dropped after `finish`."""
        if not self._finished:
            self._lines.append(line)
            self._unread.add(len(line))
            self._tell()

    async def take(self, *, within: float) -> list[bytes] | None:
        """The next messages; empty when none came within `within` seconds, None after the last.

        They count as unread until `sent` is called with them.
        """
        with anyio.move_on_after(within):
            while not self._lines and not self._finished:
                await self._news.wait()
        if self._finished and not self._lines:
            return None
        lines: list[bytes] = []
        size = 0
        while self._lines and (not lines or size + len(self._lines[0]) <= TOGETHER):
            lines.append(self._lines.popleft())
            size += len(lines[-1])
        return lines

    def sent(self, lines: list[bytes]) -> None:
        """Mark messages as sent, or lost with the stream."""
        self._unread.take(sum(map(len, lines)))

    def finish(self) -> None:
        """Accept no more messages; a reader still gets the queued ones."""
        self._finished = True
        if not self.open:
            self.sent(list(self._lines))
            self._lines.clear()
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()
