"""A directory with a bench on it, for every test of a tool."""

from pathlib import Path

import pytest

from tests.support.tool_bench import Bench


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The session's directory, with a directory beside it that is outside."""
    directory = tmp_path.resolve() / "project"
    directory.mkdir()
    return directory


@pytest.fixture
def bench(root: Path) -> Bench:
    """A session in `root`."""
    return Bench.on(root)
