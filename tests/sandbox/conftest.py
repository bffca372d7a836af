"""Places for the proof of a sandbox, and the sandboxes that this machine has."""

import os
import pwd
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest


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
