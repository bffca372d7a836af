"""Budget for request bodies of all clients together, which bounds memory."""

from collections.abc import Generator
from contextlib import contextmanager

from anyio import CapacityLimiter, WouldBlock

from claw_acp.gateway.http.http_error import HttpError
from claw_acp.gateway.http.limits import Limits

BUSY = {"retry-after": "1"}


@contextmanager
def one_of(room: CapacityLimiter, what: str) -> Generator[None]:
    """A place of a limited number, for the block; `what` completes "32 ..." where there is none.

    Raises:
        HttpError: 503, all are taken.
    """
    place = object()
    try:
        room.acquire_on_behalf_of_nowait(place)
    except WouldBlock:
        raise HttpError(503, f"{room.total_tokens:.0f} {what}", headers=BUSY) from None
    try:
        yield
    finally:
        room.release_on_behalf_of(place)


class ReceiveBudget:
    """Counts the bodies being received, and their bytes."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.bodies = 0
        self.bytes = 0

    @contextmanager
    def for_one(self) -> Generator["Share"]:
        """A share of the budget for one body, for the duration of the block.

        Raises:
            Refused: 503, too many bodies are being received.
        """
        if self.bodies >= self.limits.posts:
            raise HttpError(503, "too many requests at once; wait for some of the answers", headers=BUSY)
        self.bodies += 1
        share = Share(self)
        try:
            yield share
        finally:
            self.bodies -= 1
            self.bytes -= share.size


class Share:
    """The share of one body in the budget."""

    def __init__(self, room: ReceiveBudget) -> None:
        self.size = 0
        self._room = room

    def grow(self, more: int) -> HttpError | None:
        """Take `more` bytes; returns the refusal when a limit is passed, after which no data must be kept."""
        limits = self._room.limits
        self.size += more
        self._room.bytes += more
        if self.size > limits.message:
            return HttpError(413, f"a message may have at most {limits.message} bytes")
        if self._room.bytes > limits.messages:
            return HttpError(503, "too much is being received at once; try again in a moment", headers=BUSY)
        return None
