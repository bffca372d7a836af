"""Contents by their hash: kept once, read back exactly, private, and removed when they are old or too many."""

import os
from pathlib import Path

import pytest

from claw_acp.core.errors import ToolError
from claw_acp.store.contents import ContentStore

DAY = 86_400.0
NOW = 2_000_000_000.0


def _files(folder: Path) -> list[Path]:
    return list(folder.glob("*/*"))


@pytest.mark.parametrize("content", [b"", b"text\r\n", bytes(range(256)) * 999])
def test_a_content_is_kept_once_and_read_back(tmp_path: Path, content: bytes) -> None:
    store = ContentStore(tmp_path / "blobs")
    assert store.put(content) == store.put(content, durable=False)
    assert ContentStore(tmp_path / "blobs").get(store.put(content)) == content
    assert len(_files(tmp_path / "blobs")) == 1
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "blobs").rglob("*")} == {0}


@pytest.mark.parametrize(("damage", "reason"), [(b"", "cannot be read"), (None, "not kept any more")])
def test_a_content_that_is_gone_or_damaged_is_never_returned(tmp_path: Path, damage: bytes | None, reason: str) -> None:
    store = ContentStore(tmp_path)
    digest = store.put(b"text")
    (path,) = _files(tmp_path)
    path.unlink() if damage is None else path.write_bytes(damage)
    with pytest.raises(ToolError, match=reason):
        store.get(digest)


def test_a_content_that_a_power_cut_emptied_is_written_again(tmp_path: Path) -> None:
    store = ContentStore(tmp_path)
    store.put(b"text", durable=False)
    (path,) = _files(tmp_path)
    path.write_bytes(b"")
    assert store.get(store.put(b"text")) == b"text"


@pytest.mark.parametrize(
    ("size", "left"),
    [(10**6, {"today", "last week"}), (0, {"today"})],
)
def test_the_sweep_removes_what_is_old_and_the_oldest_of_what_is_too_much(
    tmp_path: Path, size: int, left: set[str]
) -> None:
    store = ContentStore(tmp_path)
    paths: dict[str, Path] = {}
    for age, name in ((0.5, "today"), (7, "last week"), (40, "last month")):
        digest = store.put(name.encode())
        paths[name] = tmp_path / digest[:2] / digest[2:]
        os.utime(paths[name], (NOW - age * DAY, NOW - age * DAY))
    removed = store.sweep(now=NOW, days=30, size=size)
    assert {name for name, path in paths.items() if path.exists()} == left
    assert removed == 3 - len(left)
    assert store.sweep(now=NOW + DAY / 2, days=0, size=0) == 0  # once a day
