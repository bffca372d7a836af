"""A desk for every test with somebody else's client, and a model server that has its requests checked."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.support.foreign.desk import Desk
from tests.support.foreign.models import check_valid
from tests.support.servers.model_server import ModelServer


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as server:
        yield server
        for request in server.requests:
            if request.method == "POST":
                check_valid(request)
