"""What is removed so that memories stay few."""

from pathlib import Path

import pytest

from claw_acp.contracts.memory import EVERYTHING, MemoryEntry, MemoryFilter
from claw_acp.memory import hygiene
from claw_acp.memory.sqlite_backend import opened
from tests.memory.support import TestClock, setup_of


async def test_of_too_many_entries_the_oldest_go_but_never_core_and_nothing_young(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hygiene, "MOST_FADING", 2)
    clock = TestClock()
    old = clock.now() - hygiene.AUDIT - 1
    entries = [
        MemoryEntry(id=f"{category}{number}", key=f"k{number}", content="c", category=category, timestamp=old + number)
        for category in ("core", "daily")
        for number in range(4)
    ]
    replaced = MemoryEntry(
        id="gone", key="k", content="c", category="daily", timestamp=old, superseded_by="x", namespace="other"
    )
    async with opened(setup_of(tmp_path, clock=clock)) as memory:
        await memory.restore([*entries, replaced])
        await memory.store("new", "Something new.", category="daily")
        kept = {entry.id for entry in await memory.list(EVERYTHING)}
        assert {f"core{number}" for number in range(4)} <= kept
        assert kept.isdisjoint({"daily0", "daily1", "gone"})
        assert await memory.count(MemoryFilter(category="daily")) == 3
