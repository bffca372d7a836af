"""The end of a stream of bytes, as text."""

import codecs


class OutputTail:
    """Keeps the last `limit` bytes of what was added. Memory stays below twice the limit."""

    def __init__(self, *, limit: int) -> None:
        self._limit = max(limit, 0)
        self._kept = bytearray()
        self._truncated = False

    @property
    def truncated(self) -> bool:
        """True if the beginning was dropped."""
        return self._truncated or len(self._kept) > self._limit

    def add(self, chunk: bytes) -> None:
        """Append a chunk."""
        self._kept += chunk
        if len(self._kept) > 2 * self._limit:  # not at each chunk: moving the rest to the front costs its length
            del self._kept[: len(self._kept) - self._limit]
            self._truncated = True

    def raw(self, *, limit: int) -> bytes:
        """The last `limit` bytes. If the beginning is cut off, they start with a line where possible."""
        start = max(len(self._kept) - min(limit, self._limit), 0)
        kept = bytes(self._kept[start:])
        if not (start or self._truncated):
            return kept
        return kept[kept.find(b"\n", 0, -1) + 1 or _rest_of_character(kept) :]

    def text(self, *, ended: bool) -> str:
        """The kept output decoded as UTF-8; invalid bytes become U+FFFD.

        It begins with a whole character. Until the stream has `ended` it also ends with one, so that later text
        continues earlier text.
        """
        kept = bytes(self._kept[max(len(self._kept) - self._limit, 0) :])
        if self.truncated:
            kept = kept[_rest_of_character(kept) :]
        return codecs.getincrementaldecoder("utf-8")("replace").decode(kept, final=ended)


def _rest_of_character(text: bytes) -> int:
    """The number of bytes at the start that continue a character that began before."""
    return next((index for index, byte in enumerate(text[:3]) if byte & 0xC0 != 0x80), min(len(text), 3))
