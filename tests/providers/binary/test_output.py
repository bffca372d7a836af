"""When the output of a plugin is read."""

import os

import anyio

from claw_acp.process.pipes import PipeReader
from claw_acp.providers.binary.connection import OutputWhileAsked


async def _turns() -> None:
    for _ in range(5):
        await anyio.lowlevel.checkpoint()


async def test_what_a_plugin_prints_waits_in_its_pipe_until_something_is_asked_or_it_is_over() -> None:
    reader, writer = os.pipe()
    calls: dict[int, str] = {}
    heard: list[bytes] = []
    pipe = PipeReader(reader)
    output = OutputWhileAsked(pipe, calls)

    async def listen() -> None:
        async for data in output:
            heard.append(data)
            calls.clear()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        os.write(writer, b"unasked")
        await _turns()
        assert heard == []
        calls[1] = "asked"
        output.look()
        await _turns()
        assert heard == [b"unasked"]
        os.write(writer, b"again")
        await _turns()
        os.close(writer)
        output.look()
    assert heard == [b"unasked", b"again"]
    await output.aclose()
