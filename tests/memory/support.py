"""Setups of memories."""

import os
from pathlib import Path

from claw_acp.contracts.memory import MemorySetup
from claw_acp.core.clock import Clock
from claw_acp.core.redaction import redact
from tests.support.fixed_clock import FixedClock


class TestClock(FixedClock):
    """A clock that stands still, with ids that differ."""

    __test__ = False

    def random_bytes(self, count: int) -> bytes:
        return os.urandom(count)


def setup_of(directory: Path, *, clock: Clock | None = None) -> MemorySetup:
    return MemorySetup(directory=directory, clock=clock or TestClock(), redact=redact)
