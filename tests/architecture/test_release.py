"""Whoever builds a commit gets the files that were published, and who installs them gets all that the program reads."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from claw_acp.core.version import VERSION

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


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, unpacked as an installer does it."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "installed")
    return folder / "installed"


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(installed: Path) -> None:
    assert set(files_of(installed / "claw_acp")) == set(files_of(ROOT / "claw_acp"))
    assert {path.name for path in installed.iterdir()} == {"claw_acp", f"claw_acp-{VERSION}.dist-info"}


def files_of(package: Path) -> Iterator[str]:
    every = (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return (str(path.relative_to(package)) for path in every)


def test_an_installed_program_finds_its_skills_and_answers_without_a_key(installed: Path, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CLAW_ACP", "PYTHON"))}
    own = {**kept, "HOME": str(tmp_path), "CLAW_ACP_HOME": str(tmp_path / "claw"), "PYTHONPATH": str(installed)}

    def said(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=tmp_path, env=own, check=True, capture_output=True, text=True).stdout

    assert said("-c", "import claw_acp; print(claw_acp.__file__)").startswith(str(installed))
    assert said("-m", "claw_acp", "skills", "list").count(" built-in ") == 12
    assert "list files in" in said("-m", "claw_acp", "run", "hello", "--model", "offline/assistant")
