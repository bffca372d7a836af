"""Terminals of a client: programs of this machine, with bounded memory for their output."""

import itertools
import os
import signal
from collections.abc import Mapping
from contextlib import suppress

import anyio
from anyio.abc import TaskGroup

from claw_acp.core.child_environment import without_keys
from claw_acp.core.errors import InvalidRequest, ToolError
from claw_acp.process.child_process import TERMINATE_SECONDS, ChildProcess, exit_status, start_child
from claw_acp.process.output_tail import OutputTail
from claw_acp.schema.terminal import (
    CreateTerminalRequest,
    TerminalExitStatus,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
)

OUTPUT_LIMIT = 1_048_576  # bytes kept when the agent names no limit
TERMINALS = 256  # kept at once, ended ones included; one more is refused
LAST_OUTPUT = 0.5  # seconds for output after the program's end: a background child may hold the pipe for ever


class _Terminal:
    def __init__(self, child: ChildProcess, *, limit: int) -> None:
        self._child = child
        self._tail = OutputTail(limit=limit)
        self.ended = anyio.Event()

    async def follow(self) -> None:
        """Collect output until the program has ended and its pipe is empty."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._collect)
            await self._child.wait_for_output(within=LAST_OUTPUT)
            tasks.cancel_scope.cancel()
        self.ended.set()

    async def _collect(self) -> None:
        assert self._child.stdout is not None
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async for data in self._child.stdout:
                self._tail.add(data)

    async def end(self) -> None:
        self._child.signal(signal.SIGTERM)
        with anyio.move_on_after(TERMINATE_SECONDS):
            await self.ended.wait()  # with its last output
        await self._child.end(terminate=0)
        await self.ended.wait()

    def kill(self) -> None:
        self._child.signal(signal.SIGKILL)

    @property
    def output(self) -> TerminalOutputResponse:
        text = self._tail.text(ended=self.ended.is_set())
        return TerminalOutputResponse(output=text, truncated=self._tail.truncated, exit_status=self.status)

    @property
    def status(self) -> TerminalExitStatus | None:
        code = self._child.exit_code
        if not self.ended.is_set() or code is None:
            return None
        status = exit_status(code)
        return TerminalExitStatus(exit_code=status.code, signal=status.signal)


class Terminals:
    """All terminals of one connection. `aclose` ends their programs."""

    def __init__(self, tasks: TaskGroup, *, environment: Mapping[str, str] | None = None) -> None:
        self._tasks = tasks
        self._environment = without_keys(os.environ if environment is None else environment)
        self._terminals: dict[str, _Terminal] = {}
        self._shown: dict[str, str] = {}
        self._numbers = itertools.count(1)

    async def create(self, request: CreateTerminalRequest) -> str:
        """Start a program; a command without arguments is a line for the shell.

        Raises:
            ToolError: It cannot be started.
        """
        if len(self._terminals) >= TERMINALS:
            raise ToolError(f"{TERMINALS} terminals are open; release some")
        command = [request.command, *request.args] if request.args else ["/bin/sh", "-c", request.command]
        try:
            child = await start_child(command, env=self._environment_of(request), cwd=request.cwd, stderr="stdout")
        except OSError as error:
            raise ToolError(f"{request.command} cannot be started: {error.strerror or error}") from error
        limit = OUTPUT_LIMIT if request.output_byte_limit is None else request.output_byte_limit
        terminal = _Terminal(child, limit=limit)
        terminal_id = f"term_{next(self._numbers)}"
        self._terminals[terminal_id] = terminal
        self._tasks.start_soon(terminal.follow, name=terminal_id)
        return terminal_id

    async def output(self, terminal_id: str) -> TerminalOutputResponse:
        """The output so far."""
        return self._get(terminal_id).output

    async def wait(self, terminal_id: str) -> WaitForTerminalExitResponse:
        """Wait for the end of the program."""
        terminal = self._get(terminal_id)
        await terminal.ended.wait()
        status = terminal.status or TerminalExitStatus()
        return WaitForTerminalExitResponse(exit_code=status.exit_code, signal=status.signal)

    async def kill(self, terminal_id: str) -> None:
        """Kill the program and everything it started; its output stays."""
        self._get(terminal_id).kill()

    async def release(self, terminal_id: str) -> None:
        """Release a terminal; its output stays readable for people."""
        terminal = self._get(terminal_id)
        await terminal.end()
        del self._terminals[terminal_id]
        self._shown[terminal_id] = terminal.output.output
        if len(self._shown) > TERMINALS:
            del self._shown[next(iter(self._shown))]

    def shown(self, terminal_id: str) -> str:
        """The present or last output of a terminal; empty for an unknown one."""
        terminal = self._terminals.get(terminal_id)
        return terminal.output.output if terminal else self._shown.get(terminal_id, "")

    async def aclose(self) -> None:
        """End all programs."""
        for terminal in self._terminals.values():
            await terminal.end()
        self._terminals.clear()

    def _environment_of(self, request: CreateTerminalRequest) -> Mapping[str, str]:
        return {**self._environment, **{variable.name: variable.value for variable in request.env}}

    def _get(self, terminal_id: str) -> _Terminal:
        terminal = self._terminals.get(terminal_id)
        if terminal is None:
            raise InvalidRequest(f"there is no terminal {terminal_id}")
        return terminal
