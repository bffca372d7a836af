"""Memories as Markdown files, and back."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.memory import EVERYTHING, Memory, MemoryEntry
from claw_acp.core.errors import StoreError
from claw_acp.core.value import as_dict
from claw_acp.memory.import_export import export_to, import_from
from claw_acp.memory.markdown import read, written
from claw_acp.memory.normalizing import normalized

TEXT = st.text(st.characters(codec="utf-8")) | st.text(st.sampled_from("-*#<!>= \n\r\t:ab`"))
ENTRY = st.builds(
    MemoryEntry,
    id=st.uuids().map(lambda number: f"mem_{number.hex}"),
    key=TEXT.map("k".__add__),
    content=TEXT.map("c".__add__) | TEXT.map(lambda text: f"- {text} c"),
    category=st.sampled_from(["core", "daily", "a b", "ü=&-->"]),
    timestamp=st.floats(0, 4e9) | st.integers(0, 4_000_000_000).map(float),
    session_id=st.none() | TEXT,
    namespace=TEXT.map("n".__add__),
    importance=st.none() | st.floats(0, 1),
    superseded_by=st.none() | st.just("mem_x"),
    source=st.sampled_from(["person", "agent", "stranger"]),
)


@pytest.mark.parametrize("end", ["", " y", "--", " -->", "-- >"])
@pytest.mark.parametrize("pairs", ["a=", "a= ", "a=b ", "a=-->"])
def test_a_note_that_looks_like_what_stands_behind_notes_is_read_as_fast_as_others(pairs: str, end: str) -> None:
    entry = MemoryEntry(id="mem_1", key="k", content=f"x <!-- {pairs * 500}{end}", timestamp=0)
    [found] = read(written([normalized(entry)])["MEMORY.md"])
    assert (found.id, found.content) == ("mem_1", normalized(entry).content)
    assert len(read(f"- x <!-- {pairs * 500}{end}\n")) == 1


@settings(max_examples=60)
@given(st.lists(ENTRY, max_size=3, unique_by=lambda entry: entry.id))
def test_what_is_written_is_read_again(entries: list[MemoryEntry]) -> None:
    kept = [normalized(entry) for entry in entries]
    found = [as_dict(entry) for text in written(kept).values() for entry in read(text)]
    expected = [{name: value for name, value in as_dict(entry).items() if name != "score"} for entry in kept]
    assert sorted(found, key=lambda entry: str(entry["id"])) == sorted(expected, key=lambda entry: str(entry["id"]))


@given(TEXT)
def test_any_text_is_read_as_something(text: str) -> None:
    read(text)


async def test_an_export_can_be_edited_and_imported_any_number_of_times(memory: Memory, tmp_path: Path) -> None:
    port = await memory.store_with_metadata("port", "Staging listens on 8080.", namespace="project:/a")
    gone = await memory.store_with_metadata("day", "It rained.", namespace="user", category="daily")
    assert await export_to(tmp_path, memory) == 2
    assert "It rained." in (tmp_path / "HISTORY.md").read_text()
    file = tmp_path / "MEMORY.md"
    file.write_text(file.read_text().replace("8080.", "9090.\n\n  Or on 9091.") + "- A new line\n- **k**: by hand\n")
    await memory.forget(gone.id)
    outcome = await import_from(tmp_path, memory)
    assert (outcome.new, outcome.changed, outcome.same) == (3, 1, 0)
    edited = await memory.get(port.id)
    assert edited is not None
    assert edited.content == "Staging listens on 9090.\n\nOr on 9091."
    again = await import_from(tmp_path, memory)
    assert (again.new, again.changed, again.same) == (0, 0, 4)
    assert await memory.count(EVERYTHING) == 4
    assert [entry.source for entry in await memory.recall("by hand")] == ["person"]


async def test_a_file_that_is_no_text_is_refused(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_bytes(b"- \xff\xfe")
    with pytest.raises(StoreError, match="UTF-8"):
        await import_from(tmp_path, memory)
    with pytest.raises(OSError, match="HISTORY"):
        await import_from(tmp_path / "..", memory)
