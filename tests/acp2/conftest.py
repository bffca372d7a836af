"""Tests of protocol 2, over the spawned program."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.support.editors.editor_fixtures import home, project
from tests.support.editors.editor_v2 import EditorV2

__all__ = ["home", "opened", "project", "spawn"]

Spawn: TypeAlias = Callable[..., AbstractAsyncContextManager[EditorV2]]


@pytest.fixture
def spawn(project: Path, home: Path) -> Spawn:
    """`EditorV2.spawned` in the project."""
    return partial(EditorV2.spawned, project=project, home=home)


@pytest.fixture
def opened(project: Path, home: Path) -> Spawn:
    """`EditorV2.opened` in the project: initialized, with a session."""
    return partial(EditorV2.opened, project=project, home=home)
