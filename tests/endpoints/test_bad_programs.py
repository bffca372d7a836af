"""Programs with bad habits at a real hub, all at once: a session beside them notices nothing."""

import json
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from tests.endpoints.program import COUNT, Json, Program, attached, lending
from tests.support.editors.editor_fixtures import Spawn
from tests.support.program.agent_process import eventually
from tests.support.program.processes import run_program
from tests.support.script_files import Script, call, expect, say, turn
from tests.support.servers.hub import Hub, environment_of

pytestmark = pytest.mark.forked

DEAF = """trap "" TERM HUP INT
echo $$ > "$0.pid"
while :; do sleep 1; done
"""
"""Ignores the end of its input, and every signal that can be ignored."""


def named(name: str) -> Json:
    return {"endpointInfo": {"name": name, "version": "1"}}


async def says_nothing(_: Program) -> None:
    await anyio.sleep_forever()


async def leaves_in_the_greeting(program: Program) -> None:
    await program.receive()
    await program.stream.aclose()


async def prints_garbage(program: Program) -> None:
    await program.introduce(**named("garbage"))
    with suppress(anyio.BrokenResourceError):
        await program.send_bytes(b"Listening on port 80\n" * 10_000)
    assert (await program.hear_all())["params"]["reason"] == "malformed"


async def floods(program: Program) -> None:
    await program.introduce(**named("flood"))
    line = json.dumps({"jsonrpc": "2.0", "method": "log", "params": {"message": "x" * 1000}}).encode() + b"\n"
    for _ in range(200):
        await program.send_bytes(line * 100)
    assert (await program.request("ping"))["result"] == {}


async def sends_ten_megabytes(program: Program) -> None:
    await program.introduce(**named("large"))
    await program.send_bytes(
        b'{"jsonrpc":"2.0","id":"big","method":"ping","params":{"a":"' + b"x" * 10_000_000 + b'"}}\n'
    )
    assert (await program.request("ping"))["result"] == {}


async def answers_what_nobody_asked(program: Program) -> None:
    await program.introduce(**named("oracle"))
    for number in range(1000):
        await program.send(id=number, result={"content": []})
    assert (await program.request("ping"))["result"] == {}


async def never_reads(program: Program) -> None:
    await program.introduce(**named("blind"))
    with anyio.move_on_after(1):  # until nothing goes into its pipe any more
        while True:
            await program.send(id="p", method="ping", params={})
    await anyio.sleep_forever()


HABITS: tuple[Callable[[Program], Awaitable[None]], ...] = (
    says_nothing, leaves_in_the_greeting, prints_garbage, floods, sends_ten_megabytes, answers_what_nobody_asked,
    never_reads,
)  # fmt: skip


async def test_bad_programs_harm_nobody_beside_them(opened: Spawn, home: Path) -> None:
    script = Script(turn(call("remote__word_count", text="a b c")), turn(expect("3"), say("done")))
    auto = 'mode = "auto"'
    async with Hub.started(home=home, script=script, config=auto) as hub, anyio.create_task_group() as tasks:
        over: list[str] = []

        async def behave(habit: Callable[[Program], Awaitable[None]]) -> None:
            async with attached(hub.socket) as program:
                await habit(program)
                over.append(habit.__name__)

        for habit in HABITS:
            tasks.start_soon(behave, habit)
        async with opened(script=script, config=auto) as editor, lending(hub.socket):
            assert (await editor.prompt("go")).text == "done"
        await eventually(lambda: len(over) == len(HABITS) - 2, what="the end of those that end")
        assert "The hub is running" in run_program("serve", "--status", cwd=home, env=environment_of(home)).stdout
        tasks.cancel_scope.cancel()


async def test_an_answer_after_the_time_out_and_a_second_one_are_ignored(opened: Spawn, home: Path) -> None:
    script = Script(
        turn(call("remote__word_count", text="a b")),
        turn(expect("no answer within 0.05 s"), call("remote__word_count", text="a b")),
        turn(expect("no answer within 0.05 s"), say("done")),
    )
    auto = 'mode = "auto"\n[permissions]\nallow = ["remote__word_count"]'
    async with (
        Hub.started(home=home, script=script, config=auto) as hub,
        opened(script=script, config=auto) as editor,
        attached(hub.socket) as program,
        anyio.create_task_group() as tasks,
    ):
        program.calls = lambda _: None
        await program.introduce()
        await program.lend({**COUNT, "timeout": 0.05})

        async def late() -> None:
            while (message := await program.receive()) is not None:
                if message.get("method") == "$/cancel_request":
                    for _ in range(2):
                        await program.send(id=message["params"]["requestId"], result={"content": []})

        tasks.start_soon(late)
        assert (await editor.prompt("go")).text == "done"
        tasks.cancel_scope.cancel()


async def test_a_child_that_ignores_the_end_of_its_input_is_gone_with_the_hub(home: Path, tmp_path: Path) -> None:
    deaf = tmp_path / "deaf.sh"
    deaf.write_text(DEAF)
    config = f'[endpoints.deaf]\ncommand = "sh"\nargs = [{json.dumps(str(deaf))}]\n'
    async with Hub.started(home=home, script=Script(), config=config) as hub:
        noted = Path(f"{deaf}.pid")
        await eventually(lambda: _alive(noted), what="the child")
        hub.process.signal(signal.SIGTERM)
        await eventually(lambda: not _alive(noted), what="the end of the child")


def _alive(noted: Path) -> bool:
    if not noted.exists() or not (text := noted.read_text().strip()):
        return False
    try:
        os.kill(int(text), 0)
    except ProcessLookupError:
        return False
    return True
