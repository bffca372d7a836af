"""Our ends of the pipes to a child process, as byte streams.

They are not asyncio's pipes: with those, waiting for a process also waits for whatever inherited its pipes, and reading
goes on even if no data is wanted.
"""

import os
import select
from contextlib import suppress

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

CHUNK = 256 * 1024  # bytes read at once


class PipeReader(ByteReceiveStream):
    """Reads a pipe; one task at a time. A program that writes faster than this reads has to wait.

    Attributes:
        ended: Set when nothing more can come.
    """

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self.ended = anyio.Event()

    @property
    def hung_up(self) -> bool:
        """True if the other end was closed; there may still be something to read."""
        return self._descriptor < 0 or self.ended.is_set() or _hung_up(self._descriptor)

    async def receive(self, max_bytes: int = CHUNK) -> bytes:
        """The next bytes.

        Raises:
            EndOfStream: There are no more.
            ClosedResourceError: The stream was closed, perhaps during the call.
            BrokenResourceError: The system refuses.
        """
        while self._descriptor >= 0:
            await anyio.wait_readable(self._descriptor)
            try:
                data = os.read(self._descriptor, max_bytes)
            except BlockingIOError:
                continue
            except OSError as error:
                self.ended.set()
                raise anyio.BrokenResourceError from error
            if data:
                return data
            self.ended.set()
            raise anyio.EndOfStream
        raise anyio.ClosedResourceError

    async def aclose(self) -> None:
        """Close our end; the writer gets an error."""
        self.close()

    def close(self) -> None:
        """Do the same at once."""
        descriptor, self._descriptor = self._descriptor, -1
        _close(descriptor)
        self.ended.set()


class PipeWriter(ByteSendStream):
    """Writes to a pipe; one task at a time."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor

    async def send(self, item: bytes) -> None:
        """Write all of it, waiting while the pipe is full.

        Raises:
            BrokenResourceError: The pipe has no reader any more.
            ClosedResourceError: The stream was closed, perhaps during the call.
        """
        rest = memoryview(item)
        while rest:
            if self._descriptor < 0:
                raise anyio.ClosedResourceError
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._descriptor)
            except OSError as error:
                raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        """Close our end, which ends the program's input."""
        self.close()

    def close(self) -> None:
        """Do the same at once."""
        descriptor, self._descriptor = self._descriptor, -1
        _close(descriptor)


def _close(descriptor: int) -> None:
    if descriptor >= 0:
        with suppress(RuntimeError):  # outside an event loop nobody waits for it
            anyio.notify_closing(descriptor)
        os.close(descriptor)


def _hung_up(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, 0)
    return bool(poll.poll(0))
