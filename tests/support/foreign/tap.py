"""A tap between a foreign ACP client and the program: bytes pass unchanged, each frame is judged."""

import asyncio
import json
import logging
import socket
import sys
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio

from tests.support.judges.official_schema import Breach, Judge
from tests.support.program.agent_process import TIMEOUT, AgentProcess

UNKNOWN_TO_THE_SDK = "handling notification method=$/cancel_request"
"""This SDK is older than the notification, which the protocol lets it ignore; it logs a traceback."""

LINE_LIMIT = 64 * 1024 * 1024  # bytes of one frame of a client


@asynccontextmanager
async def tapped_agent(
    *, judge: Judge, cwd: Path, env: Mapping[str, str], stderr: Path, python: Sequence[str]
) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Run the program; yields the client's ends of its stdout and stdin.

    A frame that the judge refuses fails the block. At the end stdin is closed; the program must then exit in time, with
    code 0 and without children, and every request of the client must have been answered.
    """
    process = AgentProcess.start(cwd=cwd, env=env, stderr=stderr, command=(sys.executable, *python))
    try:
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours, limit=LINE_LIMIT)
        foreign_reader, foreign_writer = await asyncio.open_connection(sock=theirs)
        try:
            async with anyio.create_task_group() as tasks:
                client_left = anyio.Event()
                tasks.start_soon(_to_agent, reader, process, judge, client_left)
                tasks.start_soon(_to_client, process, writer, judge, client_left)
                yield foreign_reader, foreign_writer
                foreign_writer.close()
                tasks.cancel_scope.deadline = anyio.current_time() + TIMEOUT
        finally:
            for end in (writer, foreign_writer):
                end.close()
        assert await process.ended() == 0, process.stderr()
        assert "Traceback" not in process.stderr(), process.stderr()
        await process.childless()
    finally:
        process.destroy()
    if judge.unanswered:
        raise Breach(f"the program left without answering {', '.join(judge.unanswered)}")


async def _to_agent(
    reader: asyncio.StreamReader, process: AgentProcess, judge: Judge, client_left: anyio.Event
) -> None:
    while line := await reader.readline():
        judge.client_sent(json.loads(line))
        await process.write(line)
    client_left.set()
    process.close_stdin()


async def _to_client(
    process: AgentProcess, writer: asyncio.StreamWriter, judge: Judge, client_left: anyio.Event
) -> None:
    rest = b""
    while data := await process.read():
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            judge.agent_sent(json.loads(line))
        if not writer.is_closing():  # a client that left is told nothing more, but what comes is still judged
            writer.write(data)
            await _drained(writer)
    assert not rest, f"the last frame of the program does not end: {rest[:200]!r}"
    assert client_left.is_set(), f"the program ended by itself:\n{process.stderr()}"
    writer.close()


async def _drained(writer: asyncio.StreamWriter) -> None:
    try:
        await writer.drain()
    except ConnectionError:  # the client has left
        writer.close()


class _Ear(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        if UNKNOWN_TO_THE_SDK not in text:
            self.heard.append(text)


@contextmanager
def no_complaints() -> Generator[None]:
    """Fail if this process logs a warning or worse: the SDK does so for everything it cannot decode."""
    ear, root = _Ear(), logging.getLogger()
    root.addHandler(ear)
    try:
        yield
    finally:
        root.removeHandler(ear)
    assert not ear.heard, "the SDK complains:\n" + "\n".join(ear.heard)
