"""Whoever builds a commit gets the files that were published: neither times nor permissions of a checkout matter."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOMENT = "1790000000"


def checkout(folder: Path, *, mode: int, moment: int) -> Path:
    """A part of the sources, as another machine may have them."""
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "claw_acp/core", "claw_acp/__init__.py"):
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, target)
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else mode)
        os.utime(path, (moment, moment))
    return folder


def sums(folder: Path) -> Iterator[tuple[str, str]]:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder.parent / "dist")]
    subprocess.run(
        command, cwd=folder, env={**os.environ, "SOURCE_DATE_EPOCH": MOMENT}, check=True, capture_output=True
    )
    return (
        (path.name, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in sorted((folder.parent / "dist").iterdir())
    )


def test_two_builds_give_the_same_wheel_and_the_same_sources(tmp_path: Path) -> None:
    one = checkout(tmp_path / "one" / "x", mode=0o644, moment=1_000_000_000)
    other = checkout(tmp_path / "other" / "claw", mode=0o600, moment=1_700_000_000)
    built = dict(sums(one))
    assert dict(sums(other)) == built
    assert [Path(name).suffix for name in built] == [".whl", ".gz"]
