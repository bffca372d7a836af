"""Places for sandboxes."""

from collections.abc import Generator
from pathlib import Path

import pytest

from claw_acp.sandbox.machine import sandbox_of_this_machine
from tests.support.disk import directory_on_disk


@pytest.fixture(scope="session")
def disk() -> Generator[Path]:
    """A directory that is not a temporary one."""
    with directory_on_disk() as directory:
        yield directory


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory to work in."""
    directory = tmp_path.resolve() / "project"
    directory.mkdir()
    return directory


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for our caches, on a machine where a sandbox works."""
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
