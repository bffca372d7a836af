"""One time limit for a whole call, wherever it waits."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio

from claw_acp.providers.binary.failures import Failures

CALL_TIMEOUT = 120.0  # seconds for a whole call: starting the program, asking, hearing all of the answer


class Deadline:
    """A time limit that starts when this is created."""

    def __init__(self, seconds: float, *, failures: Failures) -> None:
        self._at = anyio.current_time() + seconds
        self._failures = failures

    @contextmanager
    def kept(self) -> Generator[None]:
        """Cancel the block when time is up. A generator must not yield inside.

        Raises:
            ProviderTimeout: Time is up.
        """
        with anyio.CancelScope(deadline=self._at) as scope:
            yield
        if scope.cancelled_caught:
            raise self._failures.timed_out()
