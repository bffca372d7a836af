"""A turn that was started. It belongs to its session and goes on whether or not it is awaited."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import anyio

from claw_acp.agent.loop import Outcome
from claw_acp.agent.steering import Steering, SteeringPrompt
from claw_acp.session.session import CLEANUP_TIMEOUT

if TYPE_CHECKING:
    from claw_acp.contracts.place import Place

log = logging.getLogger(__name__)


class RunningTurn:
    """One prompt, from its place in the session's queue to its outcome.

    Args:
        scope: Its place in the queue; cancelling it ends the turn, or keeps it from beginning.
        place: Where its prompt was typed, if it was at a place; that one leads it.
        steers: Its prompt was to join the turn before it, and could not.

    Attributes:
        lead: The place whose files and terminals it uses, and whose leaving ends it; None: it goes on by itself.
        handed_over: The lead was handed over.
        steering: The prompts that wait to join it.
    """

    def __init__(self, scope: anyio.CancelScope, *, place: "Place | None" = None, steers: bool = False) -> None:
        self.scope = scope
        self.place = place
        self.lead = place
        self.handed_over = False
        self.steers = steers
        self.steering = Steering()
        self._waiting = 0
        self._ended = anyio.Event()
        self._outcome: Outcome | BaseException | None = None

    def cancel(self) -> None:
        """Cancel only this turn; it ends soon, with the outcome `cancelled`."""
        self.scope.cancel()

    def hand_over(self, to: "Place | None") -> None:
        """Make a place its lead, if it belongs to one; None: the next one that comes."""
        if self.place is not None:
            self.lead, self.handed_over = to, True

    def goes_on_without(self, place: "Place") -> bool:
        """Return whether it goes on when a place leaves, because the lead was handed over."""
        return self.handed_over and self.lead is not place

    async def ended(self) -> None:
        """Wait for the end, whatever the outcome is."""
        await self._ended.wait()

    def join(self, prompt: SteeringPrompt) -> "JoinedPrompt | None":
        """Have a prompt join before the next model request; None when the turn accepts none, or was cancelled.

        Raises:
            SessionBusy: Too many prompts wait to join.
        """
        if self.scope.cancel_called or not self.steering.add(prompt):
            return None
        return JoinedPrompt(self, prompt)

    async def outcome(self) -> Outcome:
        """Wait for the end. Cancelling the wait does not affect the turn.

        Raises:
            ClawError: The failure of the turn.
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
        """Set the outcome (None: it was cancelled), once, and wake all who wait."""
        if self._ended.is_set():
            return
        self._outcome = outcome
        self._ended.set()
        if isinstance(outcome, BaseException) and not self._waiting:
            log.error("a turn failed while nobody waited for it", exc_info=outcome)


class JoinedPrompt:
    """A prompt that joins a running turn. Its outcome is that of the turn."""

    def __init__(self, turn: RunningTurn, prompt: SteeringPrompt) -> None:
        self._turn = turn
        self._prompt = prompt
        self._wait = anyio.CancelScope()

    def goes_on_without(self, place: "Place") -> bool:
        """Return whether its turn goes on when a place leaves, because the lead was handed over."""
        return self._turn.goes_on_without(place)

    def cancel(self) -> None:
        """Remove the prompt if it has not joined yet, and stop waiting; the turn goes on."""
        self._turn.steering.withdraw(self._prompt)
        self._wait.cancel()

    async def outcome(self) -> Outcome:
        """Wait for the end of the turn; `cancelled` when this prompt was.

        Raises:
            ClawError: The failure of the turn.
        """
        with self._wait:
            return await self._turn.outcome()
        return Outcome(stop="cancelled", usage=None)


Start: TypeAlias = Callable[..., RunningTurn | JoinedPrompt]
"""`Turns.start`."""


async def outcome_of(turn: RunningTurn | JoinedPrompt) -> Outcome:
    """Wait for the end of a turn that is nobody else's: cancelling the wait ends the turn.

    Raises:
        ClawError: The failure of the turn.
    """
    try:
        return await turn.outcome()
    except anyio.get_cancelled_exc_class():
        turn.cancel()
        with anyio.move_on_after(CLEANUP_TIMEOUT, shield=True):
            await turn.outcome()
        raise
