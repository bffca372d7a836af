"""Memories to and from Markdown files in a directory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from claw_acp.config.atomic_file import put_in_place
from claw_acp.config.safe_read import read_plain_file
from claw_acp.contracts.memory import EVERYTHING, Memory, MemoryEntry, MemoryFilter
from claw_acp.core.value import Value
from claw_acp.memory.markdown import CORE_FILE, OTHERS_FILE, ReadEntry, read, written
from claw_acp.memory.normalizing import normalized
from claw_acp.store.failures import StoreRefused

_MOST_BYTES: Final = 64 * 1024 * 1024


class Imported(Value):
    """The outcome of an import: entries that were not there, entries that were different, entries as they were."""

    new: int = 0
    changed: int = 0
    same: int = 0


async def export_to(directory: Path, memory: Memory, *, chosen: MemoryFilter = EVERYTHING) -> int:
    """Write the chosen entries into MEMORY.md and HISTORY.md; returns how many there are.

    Raises:
        StoreError: The store failed.
        OSError: A file cannot be written; its old text stays.
    """
    entries = await memory.export(chosen)
    for name, text in written(entries).items():
        put_in_place(directory / name, text)
    return len(entries)


async def import_from(path: Path, memory: Memory) -> Imported:
    """Store the entries of a file, or of MEMORY.md and HISTORY.md of a directory. Twice is as good as once.

    Entries keep their ids, so that what was edited by hand is changed, and what is not in the files stays.

    Raises:
        StoreError: The store failed or refused an entry.
        OSError: A file cannot be read.
    """
    outcome: list[str] = []
    for file in _files(path):
        given = read(file_text(file))
        known = {entry.id: entry for entry in await memory.export()}
        outcome += [await stored(entry, memory, known.get(entry.id or "")) for entry in given]
    return Imported(**{name: outcome.count(name) for name in ("new", "changed", "same")})


async def stored(found: ReadEntry, memory: Memory, known: MemoryEntry | None) -> str:
    """Store an entry of a file; returns `new`, `changed` or `same`. `known` is the entry with its id.

    Raises:
        StoreError: The store failed or refused it.
    """
    if found.id is None or found.timestamp is None:
        before = await memory.count(EVERYTHING)
        await memory.store_with_metadata(
            found.key, found.content, namespace=found.namespace, importance=found.importance, category=found.category,
            session_id=found.session_id, source=found.source,
        )  # fmt: skip
        return "same" if await memory.count(EVERYTHING) == before else "new"
    entry = MemoryEntry(
        id=found.id, key=found.key, content=found.content, category=found.category, timestamp=found.timestamp,
        session_id=found.session_id, namespace=found.namespace, importance=found.importance,
        superseded_by=found.superseded_by, source=found.source,
    )  # fmt: skip
    changed = await memory.restore([normalized(entry)])
    return "same" if not changed else "changed" if known else "new"


def _files(path: Path) -> Sequence[Path]:
    if not path.is_dir():
        return [path]
    found = [path / name for name in (CORE_FILE, OTHERS_FILE) if (path / name).exists()]
    if not found:
        raise FileNotFoundError(2, f"neither {CORE_FILE} nor {OTHERS_FILE} is there", str(path))
    return found


def file_text(file: Path) -> str:
    """The text of a file.

    Raises:
        StoreRefused: It is too large, or no text.
        OSError: It cannot be read.
    """
    content = read_plain_file(file, limit=_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise StoreRefused(f"{file} is larger than {_MOST_BYTES // 2**20} MB; divide it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StoreRefused(f"{file} is not UTF-8 text; save it as such") from error
