from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from claw_acp.core.errors import StoreError
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.engine import Engine
from claw_acp.runtime.engine_host import EngineHost
from tests.support.quiet import QUIET


class Openings:
    """Opens a real engine, but first fails as often as there are troubles."""

    def __init__(self, home: Path, *troubles: Exception) -> None:
        self._environ = {**QUIET, "CLAW_ACP_HOME": str(home)}
        self._troubles = list(troubles)

    @asynccontextmanager
    async def __call__(self) -> AsyncGenerator[Engine]:
        if self._troubles:
            raise self._troubles.pop(0)
        async with open_engine(environ=self._environ) as engine:
            yield engine


@pytest.mark.parametrize("trouble", [StoreError("the disk is full"), OSError(28, "the disk is full")])
async def test_an_engine_that_cannot_start_says_why_and_is_tried_again_by_the_next_request(
    tmp_path: Path, trouble: Exception
) -> None:
    house = EngineHost(Openings(tmp_path, trouble, trouble))
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(house.keep)
            for _ in range(2):
                with pytest.raises(StoreError, match="the disk is full"):
                    await house.engine()
            assert await house.engine() is await house.engine()
            tasks.cancel_scope.cancel()


async def test_requests_that_wait_together_fail_together_and_one_attempt_serves_all_later_ones(tmp_path: Path) -> None:
    house = EngineHost(Openings(tmp_path, StoreError("locked")))
    engines: list[Engine] = []

    async def want() -> None:
        try:
            engines.append(await house.engine())
        except StoreError:
            engines.append(await house.engine())

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            async with anyio.create_task_group() as wanting:
                for _ in range(5):
                    wanting.start_soon(want)
                await anyio.wait_all_tasks_blocked()
                tasks.start_soon(house.keep)
            tasks.cancel_scope.cancel()
    assert len(engines) == 5
    assert len(set(map(id, engines))) == 1
