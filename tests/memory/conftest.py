"""A store of memories of each backend."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from claw_acp.contracts.memory import Memory, MemorySetup
from claw_acp.memory import session_memory
from claw_acp.memory.markdown_backend import opened as opened_markdown
from claw_acp.memory.sqlite_backend import opened as opened_sqlite
from tests.memory.support import TestClock, setup_of

BACKENDS = {"sqlite": opened_sqlite, "markdown": opened_markdown}


@pytest.fixture(autouse=True)
def time_to_recall(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no part of these tests."""
    monkeypatch.setattr(session_memory, "WITHIN", 30.0)


@pytest.fixture
def clock() -> TestClock:
    return TestClock()


@pytest.fixture
def setup(tmp_path: Path, clock: TestClock) -> MemorySetup:
    return setup_of(tmp_path, clock=clock)


@pytest.fixture(params=BACKENDS)
async def memory(request: pytest.FixtureRequest, setup: MemorySetup) -> AsyncGenerator[Memory]:
    async with BACKENDS[request.param](setup) as memory:
        yield memory
