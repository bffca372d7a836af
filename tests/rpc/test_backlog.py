"""Waiting until the other side has read most of what was sent."""

import anyio
import anyio.lowlevel

from claw_acp.rpc.backlog import LOW_WATER, Backlog

SOON = 5  # seconds; a bound for waits that should end at once


async def test_all_who_wait_go_on_when_little_is_left() -> None:
    backlog = Backlog()
    backlog.add(4 * LOW_WATER)
    gone_on: list[int] = []

    async def wait(number: int) -> None:
        await backlog.drained()
        gone_on.append(number)

    with anyio.fail_after(SOON):
        async with anyio.create_task_group() as tasks:
            for number in range(3):
                tasks.start_soon(wait, number)
            for _ in range(3):
                await anyio.lowlevel.checkpoint()
            backlog.take(2 * LOW_WATER)
            await anyio.lowlevel.checkpoint()
            assert gone_on == []
            backlog.take(LOW_WATER)
    assert sorted(gone_on) == [0, 1, 2]


async def test_who_waits_goes_on_when_nobody_reads_any_more() -> None:
    backlog = Backlog()
    backlog.add(2 * LOW_WATER)
    with anyio.fail_after(SOON):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(backlog.drained)
            await anyio.lowlevel.checkpoint()
            backlog.end()
    assert backlog.size == 0
