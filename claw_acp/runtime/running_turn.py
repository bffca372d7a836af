"""A turn that was started. It belongs to its session and goes on whether or not anybody waits for it."""

import logging

import anyio

from claw_acp.agent.loop import Outcome

log = logging.getLogger(__name__)


class RunningTurn:
    """One prompt on its way, from its place in the session's queue to its outcome.

    Args:
        scope: Its place in the queue; cancelling it ends the turn, or keeps it from beginning.
    """

    def __init__(self, scope: anyio.CancelScope) -> None:
        self.scope = scope
        self._waiting = 0
        self._ended = anyio.Event()
        self._outcome: Outcome | BaseException | None = None

    def cancel(self) -> None:
        """Cancel this turn alone; it ends soon, with the outcome `cancelled`."""
        self.scope.cancel()

    async def outcome(self) -> Outcome:
        """Wait for the end. Giving up waiting changes nothing for the turn.

        Raises:
            ClawError: What the turn failed with.
        """
        self._waiting += 1
        try:
            await self._ended.wait()
        finally:
            self._waiting -= 1
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        return self._outcome or Outcome(stop="cancelled", usage=None)

    def end(self, outcome: Outcome | BaseException | None) -> None:
        """Note how it ended (None: it was cancelled); those who wait go on."""
        self._outcome = outcome
        self._ended.set()
        if isinstance(outcome, BaseException) and not self._waiting:
            log.error("a turn failed while nobody waited for it", exc_info=outcome)
