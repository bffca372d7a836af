"""A desk for every test with somebody else's client."""

from pathlib import Path

import pytest

from tests.support.foreign_desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)
