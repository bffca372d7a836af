"""A model server on loopback, and the two families that it speaks."""

from collections.abc import AsyncGenerator

import pytest

from tests.support.servers.model_replies import Family
from tests.support.servers.model_server import ModelServer


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture(params=["openai", "anthropic"])
def family(request: pytest.FixtureRequest) -> Family:
    return request.param
