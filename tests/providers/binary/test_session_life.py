"""A plugin that stays: how it begins and ends, and what happens when it ends by itself."""

import gc
import json
import os
import signal

import anyio
import pytest

from claw_acp.contracts.provider_setup import ProviderProgram
from claw_acp.core.errors import ProviderError, ProviderUnavailable
from claw_acp.process import groups as process_groups
from claw_acp.providers.binary.connection import open_connection
from claw_acp.providers.binary.failures import Failures
from claw_acp.providers.binary.provider import BinaryProvider, Restarts
from tests.providers.binary.support import (
    SESSION,
    gone,
    group_gone,
    open_descriptors,
    program,
    provider_of,
    runs,
    saying,
    session,
)
from tests.support.fixed_clock import FixedClock

CALLS = 1000
WARM_UP = 50


async def pid_of(provider: BinaryProvider) -> int:
    return int(json.loads((await provider.chat(saying("environment HOME"))).text)[2])


async def failure(provider: BinaryProvider, text: str) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await provider.chat(saying(text))
    return caught.value


async def test_a_crash_fails_all_requests_with_its_last_words() -> None:
    async with session() as provider:
        held = provider.stream(saying("hold"))
        await anext(held)
        error = await failure(provider, "crash")
        assert isinstance(error, ProviderUnavailable)
        assert error.message == "Provider plugin 'mine' exited with code 3: out of memory"
        with pytest.raises(ProviderUnavailable) as other:
            await anext(held)
        assert other.value.message == error.message
        assert other.value is not error
        assert (await provider.chat(saying("whole again"))).text == "again"


class Faulty(Failures):
    def left(self, code: int, *, said: str) -> ProviderUnavailable:
        raise ZeroDivisionError(f"{code} {said}")


async def test_a_fault_of_ours_costs_one_plugin_and_nothing_beside_it(caplog: pytest.LogCaptureFixture) -> None:
    failures = Faulty("mine", command="sh", timeout=20)
    quitter = ProviderProgram(command="/bin/sh", args=("-c", "read line"))
    async with anyio.create_task_group() as tasks:
        connection = await open_connection(quitter, tasks=tasks, failures=failures)
        call = connection.call("chat", {})
        await connection.wait(call)
        with pytest.raises(ProviderUnavailable, match="'mine' was ended after an internal error, which is in the log"):
            connection.answer(call)
        await connection.aclose()
        assert not tasks.cancel_scope.cancel_called
    assert "ZeroDivisionError" in caplog.text


async def test_a_kill_in_mid_answer_fails_the_request() -> None:
    async with session() as provider:
        error = await failure(provider, "kill")
        assert error.message == "Provider plugin 'mine' was ended by signal SIGKILL"
        assert (await provider.chat(saying("whole again"))).text == "again"


async def test_a_plugin_killed_between_requests_is_started_again() -> None:
    async with session() as provider:
        pid = await pid_of(provider)
        os.kill(pid, signal.SIGKILL)
        await gone(pid)
        assert await pid_of(provider) != pid


async def test_what_a_crashed_plugin_started_ends_with_it() -> None:
    async with session() as provider:
        error = await failure(provider, "orphan")
        code, _, orphan = error.message.partition(": ")
        assert code.endswith("exited with code 4")
        await gone(int(orphan))


async def test_a_plugin_that_closes_its_output_is_ended() -> None:
    async with session() as provider:
        pid = await pid_of(provider)
        assert "closed its output" in (await failure(provider, "hang-up")).message
        await gone(pid)


async def test_a_plugin_is_asked_to_go_and_goes() -> None:
    async with session() as provider:
        pid = await pid_of(provider)
        await provider.aclose()
        assert not runs(pid)
        assert pid not in process_groups.live_groups()
        assert await pid_of(provider) != pid


async def test_closing_fails_what_is_under_way() -> None:
    async with session() as provider:
        held = provider.stream(saying("hold"))
        await anext(held)
        await provider.aclose()
        with pytest.raises(ProviderUnavailable, match="was closed"):
            await anext(held)


async def test_a_plugin_that_does_not_go_is_killed_with_what_it_started() -> None:
    provider = provider_of(program(SESSION, "stays", protocol="session"))
    pid = await pid_of(provider)
    with anyio.move_on_after(0.2):  # whoever closes has little time; what is left of it is a kill
        await provider.aclose()
    await group_gone(pid)


async def test_a_program_that_ends_at_once_is_no_session_plugin() -> None:
    broken = provider_of(program(SESSION.with_name("none.py"), protocol="session"))
    error = await failure(broken, "whole x")
    assert error.message.startswith("Provider plugin 'mine' exited with code 2: ")
    assert "none.py" in error.message


async def test_nothing_leaks_over_a_thousand_requests() -> None:
    async with session() as provider:
        for _ in range(WARM_UP):
            await provider.chat(saying("say a b"))
        before, processes = open_descriptors(), process_groups.live_groups()
        gc.collect()
        objects = len(gc.get_objects())
        for _ in range(CALLS):
            await provider.chat(saying("say a b"))
        gc.collect()
        assert len(gc.get_objects()) - objects < CALLS / 10
        assert open_descriptors() == before
        assert process_groups.live_groups() == processes


async def test_nothing_leaks_over_a_hundred_processes_for_one_request_each() -> None:
    script = (
        'read -r line; echo noise >&2; echo \'{"jsonrpc":"2.0","id":1,"result":{"content":"hi"}}\'; sleep 1000 & exit'
    )
    provider = provider_of(ProviderProgram(command="/bin/sh", args=("-c", script), protocol="oneshot"))
    await provider.chat(saying("hi"))
    before, groups = open_descriptors(), process_groups.live_groups()
    async with anyio.create_task_group() as tasks:
        for _ in range(100):
            tasks.start_soon(provider.chat, saying("hi"))
    assert open_descriptors() == before
    assert process_groups.live_groups() == groups


def test_restarts_wait_longer_each_time_until_one_works() -> None:
    clock = FixedClock()
    restarts = Restarts(clock=clock)
    waits: list[float] = []
    for _ in range(8):
        restarts.died()
        waits.append(restarts.delay)
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30]
    clock.seconds += 29
    assert restarts.delay == 1
    clock.seconds += 29
    assert restarts.delay == 0
    restarts.worked()
    assert restarts.delay == 0
    restarts.died()
    assert restarts.delay == 0.5
