"""Frames with a `Content-Length` header each, as the Language Server Protocol has them."""

import re
from typing import TYPE_CHECKING, Final

import anyio

from claw_acp.rpc.framing import Frame
from claw_acp.rpc.peer import Transport
from claw_acp.rpc.streams import StreamTransport

LARGEST_FRAME: Final = 16 * 1024 * 1024
"""Bytes of a frame; one that is announced as larger ends the stream."""

MOST_JUNK: Final = 64 * 1024
"""Bytes before a frame that are no header, such as a line that a program prints by mistake."""

_LENGTH = re.compile(rb"\s*content-length\s*:\s*(\d{1,12})\s*", re.IGNORECASE)


class BrokenFraming(Exception):
    """The stream holds no frames; the text says what it holds."""


class HeaderSplitter:
    """Cuts a byte stream into frames, whatever the pieces it comes in."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._announced: int | None = None  # by a header line; the blank line is still to come
        self._length: int | None = None  # of the frame that comes now
        self._junk = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that `data` completes.

        Raises:
            BrokenFraming: No more frames can be found.
        """
        self._rest += data
        frames: list[bytes] = []
        while self._headers_read():
            length = self._length or 0
            if len(self._rest) < length:
                break
            frames.append(bytes(self._rest[:length]))
            del self._rest[:length]
            self._announced = self._length = None
            self._junk = 0
        return frames

    def _headers_read(self) -> bool:
        """Read header lines; returns whether the beginning of a frame is reached."""
        while self._length is None:
            end = self._rest.find(b"\n")
            if self._junk + (len(self._rest) if end < 0 else end) > MOST_JUNK:
                raise BrokenFraming("it prints something that is no protocol")
            if end < 0:
                return False
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            if (match := _LENGTH.fullmatch(line)) is not None:
                self._announced = int(match[1])
                if self._announced > LARGEST_FRAME:
                    raise BrokenFraming(f"a message of {self._announced:,} bytes is too large")
            elif not line.strip():
                self._length = self._announced
            else:
                self._junk += len(line) + 1
        return True


class HeaderTransport(StreamTransport):
    """Frames with headers over byte streams. `write_queued` must run in a task.

    Attributes:
        broken: The reason why reading ended early; empty if there was none.
    """

    broken: str = ""
    _headers: HeaderSplitter | None = None

    async def receive(self) -> Frame | None:
        """See `Transport.receive`."""
        self._headers = self._headers or HeaderSplitter()
        while not self._frames:
            try:
                self._frames.extend(self._headers.feed(await self._input.receive()))
            except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
                return None
            except BrokenFraming as error:
                self.broken = str(error)
                return None
        return self._frames.popleft()

    def send(self, line: bytes) -> None:
        """See `Transport.send`."""
        body = line.rstrip(b"\n")
        super().send(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


if TYPE_CHECKING:
    _conforms: type[Transport] = HeaderTransport
