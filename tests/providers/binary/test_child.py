"""The process of a plugin and its pipes."""

import anyio
import pytest

from claw_acp.contracts.provider_setup import Program
from claw_acp.providers.binary.child import STDERR_KEPT, start_child
from claw_acp.providers.binary.failures import Failures
from claw_acp.workspace import process_groups
from tests.providers.binary.support import gone

FAILURES = Failures("mine", command="sh", timeout=20)
MORE_THAN_A_PIPE = b"x" * 1_000_000


def shell(script: str) -> Program:
    return Program(command="/bin/sh", args=("-c", script))


async def test_what_was_not_begun_can_be_taken_back() -> None:
    child = await start_child(shell("exec sleep 1000"), failures=FAILURES)
    first, second, third = MORE_THAN_A_PIPE, b"second", b"third"
    for data in (first, second, third):
        child.send(data)
    backlog = child.backlog
    assert 0 < backlog < len(first) + len(second) + len(third)
    assert not child.unsend(first)
    assert child.unsend(second)
    assert not child.unsend(second)
    assert child.backlog == backlog - len(second)
    await child.destroy()


async def test_more_can_be_sent_after_the_last_piece_that_waited_was_taken_back() -> None:
    child = await start_child(shell("exec sleep 1000"), failures=FAILURES)
    last = b""
    while not child.backlog:
        last = b"x" * 3000
        child.send(last)
    assert child.unsend(last)
    assert not child.backlog
    child.send(last)
    assert child.backlog
    child.end_input()
    assert child.unsend(last)
    child.send(b"too late")
    assert not child.backlog
    await child.destroy()


async def test_all_that_was_sent_arrives_in_order() -> None:
    child = await start_child(shell("sleep 0.01; exec cat"), failures=FAILURES)
    pieces = [bytes([65 + index]) * 200_000 for index in range(5)]
    for piece in pieces:
        child.send(piece)
    child.end_input()
    printed = b""
    while not child.gone:
        printed += await child.step()
    assert printed == b"".join(pieces)
    assert child.exit_code == 0
    await child.destroy()


async def test_only_the_end_of_the_complaints_is_kept() -> None:
    child = await start_child(shell("head -c 3000000 /dev/zero >&2; echo the end >&2"), failures=FAILURES)
    while not child.gone:
        await child.step()
    assert len(child.complaints) == STDERR_KEPT
    assert child.complaints.endswith("the end\n")
    await child.destroy()


async def test_it_has_time_to_end_by_itself() -> None:
    child = await start_child(
        shell("trap 'echo bye >&2; exit 7' TERM; echo up; while :; do sleep 0.01; done"), failures=FAILURES
    )
    while await child.step() != b"up\n":
        pass
    await child.terminate()
    assert child.exit_code == 7


async def test_once_let_go_it_cannot_be_stepped() -> None:
    child = await start_child(shell("exec sleep 1000"), failures=FAILURES)
    assert child.pid in process_groups.live_groups()

    async def step_until_the_end() -> None:
        while True:
            await child.step()

    async def hears_of_it() -> None:
        with pytest.raises(anyio.ClosedResourceError):
            await step_until_the_end()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hears_of_it)
        await anyio.lowlevel.checkpoint()
        child.let_go()
    child.let_go()
    assert child.pid not in process_groups.live_groups()
    await gone(child.pid)
    with pytest.raises(anyio.ClosedResourceError):
        await child.step()
    child.send(b"nobody reads this")
    await child.destroy()
