"""The contract of the lease of a store: of all who share it, one fires its jobs."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol


class ScheduleLease(Protocol):
    """The lease of one store."""

    @property
    def held(self) -> bool:
        """True if somebody holds it, as far as is known now."""
        ...

    def holding(self) -> AbstractAsyncContextManager[None]:
        """Hold it for the block; waits while somebody else does, and takes over at once when that one has died.

        A holder that may have lost it is cancelled. Two holders for a moment do no harm: a run is claimed in the store.

        Raises:
            StoreError: It cannot be had.
        """
        ...

    def tell_of_changes(self) -> None:
        """Wake the holder, so that it reads the jobs again. It never waits.

        Raises:
            OSError: It cannot be told; it looks by itself at its next time.
        """
        ...
