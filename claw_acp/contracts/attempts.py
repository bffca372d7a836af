"""The port through which commands reach the attempts at a prompt."""

from collections.abc import Sequence
from typing import Protocol

from claw_acp.contracts.checkpoints import FileComparison
from claw_acp.core.events import Attempt


class Attempts(Protocol):
    """The attempts of one session that have ended and can be taken."""

    @property
    def current(self) -> Sequence[Attempt]:
        """The attempts, in their order; empty when there are none."""
        ...

    def find(self, number: int) -> Attempt:
        """The attempt with this number.

        Raises:
            InvalidRequest: There is none.
        """
        ...

    async def compare(self, number: int) -> Sequence[FileComparison]:
        """The files that an attempt changed, before and after it; of very many the first.

        Raises:
            InvalidRequest: There is none with this number.
        """
        ...

    async def drop(self) -> None:
        """Forget all attempts.

        Raises:
            InvalidRequest: There are none.
        """
        ...
