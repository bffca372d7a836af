"""Terminals a client serves: programs of this machine, with a bounded memory of what they printed."""

import itertools
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from subprocess import DEVNULL, PIPE, STDOUT

import anyio
from anyio.abc import Process, TaskGroup

from claw_acp.client.groups import end_group, signal_group
from claw_acp.core.child_environment import without_keys
from claw_acp.core.errors import InvalidRequest, ToolError
from claw_acp.schema.terminal import (
    CreateTerminalRequest,
    TerminalExitStatus,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
)

OUTPUT_LIMIT = 1_048_576  # bytes kept when the agent names no limit
TERMINALS = 256  # kept at once, ended ones included; one more is refused
LAST_OUTPUT = 0.5  # seconds for output after the program's end: a background child may hold the pipe for ever


@dataclass(slots=True)
class _Terminal:
    process: Process
    limit: int
    data: bytearray = field(default_factory=bytearray)
    truncated: bool = False
    ended: anyio.Event = field(default_factory=anyio.Event)

    def add(self, data: bytes) -> None:
        self.data += data
        surplus = len(self.data) - self.limit
        if surplus > 0:
            while surplus < len(self.data) and self.data[surplus] & 0xC0 == 0x80:
                surplus += 1  # never begin inside a character
            del self.data[:surplus]
            self.truncated = True

    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    def status(self) -> TerminalExitStatus | None:
        code = self.process.returncode
        if not self.ended.is_set() or code is None:
            return None
        if code < 0:
            return TerminalExitStatus(signal=signal.Signals(-code).name)
        return TerminalExitStatus(exit_code=code)


class Terminals:
    """All terminals of one connection. What runs is ended by `aclose`."""

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
            process = await anyio.open_process(
                command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, cwd=request.cwd, env=self._environment_of(request),
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise ToolError(f"{request.command} cannot be started: {error.strerror or error}") from error
        limit = OUTPUT_LIMIT if request.output_byte_limit is None else request.output_byte_limit
        terminal = _Terminal(process, limit)
        terminal_id = f"term_{next(self._numbers)}"
        self._terminals[terminal_id] = terminal
        self._tasks.start_soon(_follow, terminal, name=terminal_id)
        return terminal_id

    def output(self, terminal_id: str) -> TerminalOutputResponse:
        """What was printed so far."""
        terminal = self._get(terminal_id)
        return TerminalOutputResponse(
            output=terminal.text(), truncated=terminal.truncated, exit_status=terminal.status()
        )

    async def wait(self, terminal_id: str) -> WaitForTerminalExitResponse:
        """Wait for the end."""
        terminal = self._get(terminal_id)
        await terminal.ended.wait()
        status = terminal.status() or TerminalExitStatus()
        return WaitForTerminalExitResponse(exit_code=status.exit_code, signal=status.signal)

    def kill(self, terminal_id: str) -> None:
        """Kill the program and what it started; its output stays."""
        signal_group(self._get(terminal_id).process, signal.SIGKILL)

    async def release(self, terminal_id: str) -> None:
        """Free a terminal; what it showed stays readable for people."""
        terminal = self._get(terminal_id)
        await _end(terminal)
        del self._terminals[terminal_id]
        self._shown[terminal_id] = terminal.text()
        if len(self._shown) > TERMINALS:
            del self._shown[next(iter(self._shown))]

    def shown(self, terminal_id: str) -> str:
        """What a terminal shows or showed; empty for an unknown one."""
        terminal = self._terminals.get(terminal_id)
        return terminal.text() if terminal else self._shown.get(terminal_id, "")

    async def aclose(self) -> None:
        """End everything."""
        for terminal in self._terminals.values():
            await _end(terminal)
        self._terminals.clear()

    def _environment_of(self, request: CreateTerminalRequest) -> Mapping[str, str]:
        return {**self._environment, **{variable.name: variable.value for variable in request.env}}

    def _get(self, terminal_id: str) -> _Terminal:
        terminal = self._terminals.get(terminal_id)
        if terminal is None:
            raise InvalidRequest(f"there is no terminal {terminal_id}")
        return terminal


async def _follow(terminal: _Terminal) -> None:
    """Collect output until the program has ended and its pipe is empty."""
    drained = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_collect, terminal, drained)
        await terminal.process.wait()
        with anyio.move_on_after(LAST_OUTPUT):
            await drained.wait()
        tasks.cancel_scope.cancel()
    terminal.ended.set()


async def _collect(terminal: _Terminal, drained: anyio.Event) -> None:
    if terminal.process.stdout is not None:
        async for data in terminal.process.stdout:
            terminal.add(data)
    drained.set()


async def _end(terminal: _Terminal) -> None:
    await end_group(terminal.process)
    await terminal.ended.wait()
    await terminal.process.aclose()
