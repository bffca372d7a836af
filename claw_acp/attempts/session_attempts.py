"""The attempts of a session, read from its history: compared, taken, dropped."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from claw_acp.contracts.attempts import Attempts
from claw_acp.contracts.checkpoints import FileComparison
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.events import Attempt, AttemptsChanged
from claw_acp.session.checkpoints.session_checkpoints import SessionCheckpoints
from claw_acp.session.session import Session

MOST_COMPARED: Final = 500
"""Files of an attempt that are compared."""


class SessionAttempts:
    """See `Attempts`.

    Args:
        session: The session.
        checkpoints: Its files.
    """

    def __init__(self, session: Session, *, checkpoints: SessionCheckpoints) -> None:
        self._session = session
        self._checkpoints = checkpoints

    @property
    def current(self) -> Sequence[Attempt]:
        """See `Attempts`."""
        return self._session.history.attempts.attempts

    def find(self, number: int) -> Attempt:
        """See `Attempts`."""
        if not self.current:
            raise InvalidRequest("there are no attempts; `/try 3 prompt` makes three")
        found = next((attempt for attempt in self.current if attempt.number == number), None)
        if found is None:
            raise InvalidRequest(f"there is no attempt {number}; they go from 1 to {len(self.current)}")
        return found

    async def compare(self, number: int) -> Sequence[FileComparison]:
        """See `Attempts`."""
        return await self._checkpoints.compared(self.find(number).changes[:MOST_COMPARED])

    async def drop(self) -> None:
        """See `Attempts`."""
        if not self.current:
            raise InvalidRequest("there are no attempts")
        await self._session.publish(AttemptsChanged())


if TYPE_CHECKING:
    _conforms: type[Attempts] = SessionAttempts
