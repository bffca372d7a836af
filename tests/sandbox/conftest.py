"""A project, and the sandboxes that this machine has."""

from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory to work in, with a directory beside it that is outside."""
    directory = tmp_path.resolve() / "project"
    directory.mkdir()
    (tmp_path / "outside").mkdir()
    return directory
