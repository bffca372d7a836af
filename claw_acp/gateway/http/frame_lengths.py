"""The lengths of HTTP/2 frames, checked at their heads: h2 would first hold up to 16 MiB of one that is too long."""

from typing import Final

_HEAD: Final = 9  # bytes, the first three of which are the length of the rest


class FrameLengths:
    """Follows the frames of one connection.

    Args:
        before: Bytes that come before the first frame.
        longest: Bytes that a frame may have behind its head.
    """

    def __init__(self, *, before: int, longest: int) -> None:
        self._left = before
        self._longest = longest
        self._head = b""

    def allow(self, data: bytes) -> bool:
        """Return whether the frames in `data`, which comes behind what was there before, are short enough."""
        at = 0
        while at < len(data):
            if self._left:
                step = min(self._left, len(data) - at)
                self._left -= step
                at += step
                continue
            more = data[at : at + _HEAD - len(self._head)]
            self._head += more
            at += len(more)
            if len(self._head) == _HEAD:
                self._left = int.from_bytes(self._head[:3], "big")
                self._head = b""
                if self._left > self._longest:
                    return False
        return True
