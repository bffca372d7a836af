"""Fixtures of the tests that drive the program: a project, a home, and ways to spawn an editor in them."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.support.editors.editor import Editor

Spawn: TypeAlias = Callable[..., AbstractAsyncContextManager[Editor]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one file."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("hello\n")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A user's home with nothing in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def spawn(project: Path, home: Path) -> Spawn:
    """`Editor.spawned` in the project."""
    return partial(Editor.spawned, project=project, home=home)


@pytest.fixture
def opened(project: Path, home: Path) -> Spawn:
    """`Editor.opened` in the project: initialized, with a session."""
    return partial(Editor.opened, project=project, home=home)
