"""Places for the proof of a sandbox, and the sandboxes that this machine has."""

import os
import pwd
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from claw_acp.sandbox.machine import sandbox_of_this_machine


@pytest.fixture(scope="session")
def disk() -> Iterator[Path]:
    """A directory that is not a temporary one: those are replaced in a sandbox, so nothing is proved there."""
    place = "/srv" if os.access("/srv", os.W_OK) else pwd.getpwuid(os.getuid()).pw_dir
    directory = Path(mkdtemp(prefix="claw-acp-tests-", dir=place))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory to work in."""
    directory = tmp_path.resolve() / "project"
    directory.mkdir()
    return directory


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cache")
    if sandbox_of_this_machine(cache=place) is None:
        pytest.skip("no sandbox works on this machine")
    return place


@pytest.fixture
def place(disk: Path, cache: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a project and a home, outside of the temporary ones."""
    assert cache
    made = disk / f"{abs(hash(request.node.name)):x}"
    for folder in ("project", "home", "programs"):
        (made / folder).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(made / "home"))
    return made
