"""Connections that have shown no right to be served yet: they are the first to go when there are too many."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio


class Stranger:
    """One of them."""

    def __init__(self, others: "dict[Stranger, anyio.CancelScope]") -> None:
        self._others = others

    def admitted(self) -> None:
        """Be no stranger any more."""
        self._others.pop(self, None)


class Strangers:
    """All of them, the longest here first."""

    def __init__(self) -> None:
        self._here: dict[Stranger, anyio.CancelScope] = {}

    @contextmanager
    def one(self) -> Generator[Stranger]:
        """Count a connection, whose block may be cancelled as long as it is a stranger."""
        stranger = Stranger(self._here)
        with anyio.CancelScope() as scope:
            self._here[stranger] = scope
            try:
                yield stranger
            finally:
                stranger.admitted()

    def hang_up_on_oldest(self) -> bool:
        """Hang up on the one that has been here longest; False: there is none."""
        if not self._here:
            return False
        self._here.pop(next(iter(self._here))).cancel()
        return True
