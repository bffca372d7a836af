"""How much may be received at once, all clients together, so that memory stays bounded whoever sends."""

from collections.abc import Generator
from contextlib import contextmanager

from claw_acp.gateway.limits import Limits
from claw_acp.gateway.refused import Refused

BUSY = {"retry-after": "1"}


class Room:
    """Counts bodies that are being received, and their bytes."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.bodies = 0
        self.bytes = 0

    @contextmanager
    def for_one(self) -> Generator["Share"]:
        """The room that one body takes, for as long as it is being received.

        Raises:
            Refused: 503, there are too many.
        """
        if self.bodies >= self.limits.posts:
            raise Refused(503, "too many requests at once; wait for some of the answers", headers=BUSY)
        self.bodies += 1
        share = Share(self)
        try:
            yield share
        finally:
            self.bodies -= 1
            self.bytes -= share.size


class Share:
    """What one body takes of the room."""

    def __init__(self, room: Room) -> None:
        self.size = 0
        self._room = room

    def grow(self, more: int) -> Refused | None:
        """Take more room; the refusal when there is none, and then nothing is to be kept."""
        limits = self._room.limits
        self.size += more
        self._room.bytes += more
        if self.size > limits.message:
            return Refused(413, f"a message may have at most {limits.message} bytes")
        if self._room.bytes > limits.messages:
            return Refused(503, "too much is being received at once; try again in a moment", headers=BUSY)
        return None
