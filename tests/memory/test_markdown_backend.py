"""Memories in files that people edit by hand, while programs write them, too."""

import os
import shutil
import signal
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.contracts.memory import EVERYTHING, Memory, MemoryEntry
from claw_acp.core.errors import StoreError
from claw_acp.memory.markdown import CORE_FILE, edited, read, written
from claw_acp.memory.markdown_backend import opened
from tests.memory.support import TestClock, setup_of
from tests.memory.test_damage import started

LINES = st.lists(st.sampled_from(["- a", "- **k**: b", "  more", "", "## n", "# t", "prose", "-", "- x <!-- id=i -->"]))


def store(folder: Path) -> AbstractAsyncContextManager[Memory]:
    return opened(setup_of(folder, clock=TestClock()))


async def test_what_people_write_into_the_files_is_known_at_once_and_stays_as_they_wrote_it(tmp_path: Path) -> None:
    file, history = tmp_path / "memory" / "MEMORY.md", tmp_path / "memory" / "HISTORY.md"
    async with store(tmp_path) as memory, store(tmp_path) as other:
        port = await memory.store("port", "Staging listens on 8080.")
        gone = await memory.store("colour", "The button is blue.")
        text = file.read_text().replace("8080", "9090")
        kept = "".join(line for line in text.splitlines(keepends=True) if gone.id not in line)
        file.write_text(
            f"{kept}\nSome words of mine,\nnot in a list.\n\n- **tea**: I drink  green tea.\n\n## user\n\n- Tabs!\n"
        )
        changed = await other.get(port.id)
        assert changed is not None
        assert changed.content == "Staging listens on 9090."
        assert await other.get(gone.id) is None
        [tea] = await other.recall("which tea")
        assert (tea.source, tea.namespace) == ("person", "default")
        assert [entry.content for entry in await other.recall_namespaced("tabs", namespaces=["user"])] == ["Tabs!"]
        await other.store("port", "Staging listens on 7070.")
        after = file.read_text()
        assert "\nSome words of mine,\nnot in a list.\n\n- **tea**: I drink  green tea. <!-- id=" in after
        assert "9090" not in after
        assert "9090" in history.read_text(), "what was replaced is history"
        assert await memory.count(EVERYTHING) == 4


async def test_an_index_that_is_lost_or_damaged_is_made_from_the_files(tmp_path: Path) -> None:
    async with store(tmp_path) as memory:
        stored = await memory.store("port", "Staging listens on 8080.")
    index = tmp_path / "memory" / ".index"
    (index / "memory.db").write_bytes(b"nothing of the kind" * 500)
    (index / "seen.json").unlink()
    async with store(tmp_path) as memory:
        assert await memory.export() == [stored]
    shutil.rmtree(index)
    async with store(tmp_path) as memory:
        assert [entry.id for entry in await memory.recall("staging")] == [stored.id]
        assert await memory.health_check() == ()


async def test_a_file_that_is_no_text_is_left_alone_and_said(tmp_path: Path) -> None:
    async with store(tmp_path) as memory:
        await memory.store("port", "Staging listens on 8080.")
        (tmp_path / "memory" / CORE_FILE).write_bytes(b"- \xff\xfe")
        with pytest.raises(StoreError, match="UTF-8"):
            await memory.store("tea", "Green.")
        assert "UTF-8" in (await memory.health_check())[0]
        assert (tmp_path / "memory" / CORE_FILE).read_bytes() == b"- \xff\xfe"


async def test_a_line_that_was_copied_and_changed_is_a_memory_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "memory" / CORE_FILE
    async with store(tmp_path) as memory:
        await memory.store("port", "Staging listens on 8080.")
        line = file.read_text().splitlines()[-1]
        file.write_text(f"{file.read_text()}{line.replace('port', 'host').replace('8080', 'one')}\n{line}\n")
        assert sorted(entry.key for entry in await memory.list()) == ["host", "port"]
        await memory.store("tea", "Green.")
        assert file.read_text().count("8080") == 1


async def test_two_programs_lose_nothing_when_one_of_them_is_killed(tmp_path: Path) -> None:
    child = started(tmp_path, backend="markdown")
    assert child.stdout is not None
    async with store(tmp_path) as memory:
        for number in range(5):
            await anyio.to_thread.run_sync(child.stdout.readline)
            await memory.store(f"own {number}", f"Colour {number} is c{number}.")
        os.kill(child.pid, signal.SIGKILL)
        told = [4, *map(int, child.stdout.read().split())]
        child.wait()
        child.stdout.close()
    shutil.rmtree(tmp_path / "memory" / ".index")
    async with store(tmp_path) as memory:
        kept = {entry.key for entry in await memory.list(limit=1_000)}
        assert kept >= {f"fact {number}" for number in range(max(told) + 1)} | {f"own {number}" for number in range(5)}


@given(LINES)
def test_any_file_keeps_what_is_no_memory_and_can_be_read_again(lines: list[str]) -> None:
    text = "\n".join(lines)
    entry = MemoryEntry(id="mem_1", key="new", content="Something\n\nnew", timestamp=1.0, namespace="n")
    found = edited(CORE_FILE, text, [entry])
    assert [each.id for each in read(found) if each.key == "new"] == ["mem_1"]
    assert found.count("prose") == text.count("prose") - sum("prose" in each.content for each in read(text))
    assert edited(CORE_FILE, found, [entry]) == found


@given(st.integers(0, 9))
def test_a_file_of_ours_stays_to_the_letter(number: int) -> None:
    entries = [
        MemoryEntry(id=f"mem_{at}", key=f"k{at}", content="a\n\n  b", timestamp=float(at), namespace=f"n{at % 3}")
        for at in range(number)
    ]
    text = written(entries)[CORE_FILE]
    assert edited(CORE_FILE, text, entries) == text
