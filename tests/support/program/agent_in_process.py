"""The program under test without its process: engine, connection, log and environment as they are, in a task.

It saves the start of an interpreter and all imports, twenty times the cost of most conversations. Features of a process
(an id, signals, memory, descriptors) are refused here; tests about them are marked `forked` or `spawned`. The program
has this process's environment and working directory for itself while it runs, so there is only one at a time: a second
one beside it is a real process.
"""

import logging
import os
import sys
import traceback
import uuid
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import ClassVar, NoReturn, TextIO

import anyio

from claw_acp.acp.connection import Connection
from claw_acp.acp.dialect import spoken_versions
from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.rpc.peer import OnFrame
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.engine_host import EngineHost
from claw_acp.telemetry.logs import logging_to
from claw_acp.telemetry.trace import FrameTrace
from tests.support.editors.wire import Wire
from tests.support.program.agent_process import EXIT_BOUND, AgentProcess, Memory
from tests.support.program.placement import here
from tests.support.program.process_mark import MARK

log = logging.getLogger("claw_acp.acp.server")

PROGRAM = ("-m", "claw_acp")  # what the interpreter is to run


class NeedsProcess(AssertionError):
    """The test is about the process: mark it `forked`, or `spawned` if it has to be a fresh interpreter."""


class AgentInProcess(AgentProcess):
    """One run of the program. Made by `start_here`, run by `run`."""

    _current: ClassVar["AgentInProcess | None"] = None

    def __init__(self, *, cwd: Path, env: Mapping[str, str], stderr: Path) -> None:
        self._mark = uuid.uuid4().hex
        self._stderr = stderr
        self._wire = Wire()
        self._cwd = cwd
        self._env = {**env, MARK: self._mark}
        self._code: int | None = None
        self._ended = anyio.Event()
        stderr.touch()

    @classmethod
    def start_here(cls, *, cwd: Path, env: Mapping[str, str], stderr: Path) -> "AgentInProcess | None":
        """The program, ready to `run`; None while another one runs here."""
        if cls._current is not None:
            return None
        cls._current = AgentInProcess(cwd=cwd, env=env, stderr=stderr)
        return cls._current

    async def run(self) -> None:
        """Serve until the client hangs up; an escaping exception is an end with code 1."""
        try:
            with self._surroundings(), self._stderr.open("a", encoding="utf-8") as stderr:
                try:
                    await _serve(self._wire, stderr)
                    self._code = 0
                except Exception:  # noqa: BLE001 - as the interpreter would at the end
                    self._code = 1
                    traceback.print_exc(file=stderr)
        finally:
            AgentInProcess._current = None
            self._wire.end()
            self._ended.set()

    @contextmanager
    def _surroundings(self) -> Generator[None]:
        before, place = dict(os.environ), Path.cwd()
        os.chdir(self._cwd)
        _set_environment(self._env)
        try:
            yield
        finally:
            _set_environment(before)
            os.chdir(place)

    # ------------------------------------------------------------------ the connection

    async def write(self, data: bytes) -> None:
        """See `AgentProcess`."""
        await self._wire.write(data)

    async def read(self) -> bytes:
        """See `AgentProcess`."""
        return await self._wire.read()

    def pause_reading(self) -> None:
        """See `AgentProcess`."""
        self._wire.stall()

    def resume_reading(self) -> None:
        """See `AgentProcess`."""
        self._wire.go_on()

    def close_stdin(self) -> None:
        """See `AgentProcess`."""
        self._wire.hang_up()

    # ------------------------------------------------------------------ the end

    @property
    def exit_code(self) -> int | None:
        """The exit code of the program; None while it runs."""
        return self._code

    async def ended(self, *, within: float = EXIT_BOUND) -> int:
        """See `AgentProcess`."""
        with anyio.fail_after(within):
            await self._ended.wait()
        assert self._code is not None, "the test cancelled it"
        return self._code

    def destroy(self) -> None:
        """See `AgentProcess`; the task has ended before, or never began."""
        if AgentInProcess._current is self:
            AgentInProcess._current = None
        self.kill_family()

    def children(self) -> list[int]:
        """See `AgentProcess`."""
        return self.family()

    # ------------------------------------------------------------------ what only a process has

    @property
    def pid(self) -> int:
        """Refused."""
        _refuse("has an id")

    def signal(self, number: object) -> None:  # noqa: ARG002
        """Refused."""
        _refuse("takes signals")

    def memory(self) -> Memory:
        """Refused."""
        _refuse("has memory of its own")

    async def idle(self) -> None:
        """Refused."""
        _refuse("can be seen to sleep")

    def close_stdout(self) -> None:
        """Refused."""
        _refuse("has a broken pipe")

    def cwd(self) -> Path:
        """Refused."""
        _refuse("has a directory")


async def _serve(wire: Wire, stderr: TextIO) -> None:
    """The part of `claw_acp.acp.server` that does not concern its process."""
    locations = find_locations(os.environ)
    settings = load_settings(locations=locations, environ=os.environ, cwd=None)
    with logging_to(locations.log_dir, level=settings.log_level, stream=stderr):
        for finding in settings.diagnostics:
            log.warning("configuration: %s", finding.text())
        async with _traced(settings.trace) as on_frame, anyio.create_task_group() as tasks:
            host = EngineHost(open_engine)
            spoken = spoken_versions(draft=settings.protocol_2)
            connection = Connection(wire, host, clock=SYSTEM_CLOCK, spoken=spoken, on_frame=on_frame)
            tasks.start_soon(host.keep, name="engine")
            await connection.run()
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def _traced(file: Path | None) -> AsyncGenerator[OnFrame | None]:
    trace = None if file is None else FrameTrace(file)
    try:
        yield None if trace is None else trace.record
    finally:
        if trace is not None:
            trace.close()


def start_agent(
    python: Sequence[str] = PROGRAM,
    *,
    cwd: Path,
    env: Mapping[str, str],
    stderr: Path,
    stderr_to_stdout: bool = False,
) -> AgentProcess:
    """Start the program where the test wants it; with other arguments for the interpreter always as a process."""
    agent = None
    if here() and python == PROGRAM and not stderr_to_stdout:
        agent = AgentInProcess.start_here(cwd=cwd, env=env, stderr=stderr)
    return agent or AgentProcess.start(
        cwd=cwd, env=env, stderr=stderr, command=(sys.executable, *python), stderr_to_stdout=stderr_to_stdout
    )


def _set_environment(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)


def _refuse(what: str) -> NoReturn:
    raise NeedsProcess(f"only a process {what}: mark the test `forked`")
