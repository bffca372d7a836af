"""Newline-delimited frames, without any input or output of its own. Standard library only (boot path).

Only LF ends a frame: a string may hold U+2028, NEL or a bare CR. A CR before the LF belongs to the line end, blank
lines are skipped, and a last line without LF counts when the stream ends.
"""

import re
from typing import NamedTuple, TypeAlias

FRAME_LIMIT = 64 * 1024 * 1024  # bytes; images travel inside frames


class Oversized(NamedTuple):
    """A frame longer than the limit, dropped as it came; the rest is read from its beginning, in the usual form."""

    size: int
    id_json: bytes | None
    """The id as written."""
    is_response: bool = False
    """True if it answers a request of ours."""


Frame: TypeAlias = bytes | Oversized

_HEAD = 256  # bytes of a dropped frame that are looked at
_BEGINNING = re.compile(
    rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?'
    rb'"id"\s*:\s*(-?(?:0|[1-9]\d{0,17})|"[ !#-\[\]-~]{0,128}")\s*,\s*("result"|"error")?'
)


class LineSplitter:
    """Cuts a byte stream into frames, whatever the pieces it comes in. `limit` is the size of the longest."""

    def __init__(self, *, limit: int = FRAME_LIMIT) -> None:
        self.limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._head: bytes | None = None  # set while an oversized frame is being dropped

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that `data` completes."""
        lines = data.split(b"\n")
        frames: list[Frame] = []
        for line in lines[:-1]:
            self._grow(line)
            frame = self._take()
            if frame is not None:
                frames.append(frame)
        self._grow(lines[-1])
        return frames

    def finish(self) -> list[Frame]:
        """Return the frame after the last LF when the stream ended, if any."""
        frame = self._take()
        return [] if frame is None else [frame]

    def _grow(self, piece: bytes) -> None:
        if not piece:
            return
        self._size += len(piece)
        if self._head is not None:
            return
        self._pieces.append(piece)
        if self._size > self.limit:
            self._head = b"".join(self._pieces)[:_HEAD]
            self._pieces.clear()

    def _take(self) -> Frame | None:
        size, head = self._size, self._head
        line = b"".join(self._pieces)
        self._pieces.clear()
        self._size, self._head = 0, None
        if head is not None:
            match = _BEGINNING.match(head)
            return Oversized(size, match[1], match[2] is not None) if match else Oversized(size, None)
        line = line.removesuffix(b"\r")
        return line if line.strip() else None
