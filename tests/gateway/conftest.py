"""Tests of the server for clients elsewhere."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.support.editor_fixtures import home, project
from tests.support.remote_server import RemoteServer

__all__ = ["Serve", "home", "project", "serve"]

Serve: TypeAlias = Callable[..., AbstractAsyncContextManager[RemoteServer]]


@pytest.fixture
def serve(project: Path, home: Path) -> Serve:
    """`RemoteServer.started` for the project."""
    return partial(RemoteServer.started, project=project, home=home)
