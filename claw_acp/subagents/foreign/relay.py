"""The client's side for an agent that is another program: each of its requests is a call of a tool, one at a time."""

import itertools
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import anyio

from claw_acp.agent.tool_runner import ToolRunner
from claw_acp.client.handlers import Files, Handlers, OnUpdate, TerminalHost, absolute
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import Invocation, Tool, ToolContext
from claw_acp.contracts.workspace import RunningProcess
from claw_acp.core.clock import Clock
from claw_acp.core.errors import InvalidRequest, ToolError
from claw_acp.core.events import Event, ToolCallChanged
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart, ToolCall
from claw_acp.schema.permission import PermissionOption, RequestPermissionRequest
from claw_acp.schema.terminal import (
    CreateTerminalRequest,
    TerminalExitStatus,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
)
from claw_acp.subagents.foreign.permission_request import PermissionRequest
from claw_acp.subagents.foreign.requests import CommandRequest, PermittedWrite, ReadRequest, Request, WriteRequest
from claw_acp.subagents.foreign.update_publisher import UpdatePublisher

MOST_TERMINALS: Final = 32  # at once; one more is refused
NAMES: Final = ("read_file", "write_file", "shell", "fetch", "permission")
_REFUSED: Final = "This was not allowed."

_A = TypeVar("_A")


class RelayTool:
    """See `Tool`. It carries out what a program asks for under this name.

    Args:
        name: The name, which is that of the tool of ours that does the same.
        asked: The requests by the ids of their calls.
    """

    parallel = False

    def __init__(self, name: str, asked: "dict[str, Request[object]]") -> None:
        self.spec = ToolSpec(name=name, description="For agents that are other programs.", parameters={})
        self._asked = asked

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Tool`."""
        return self._asked[context.call_id].bind(arguments, context)


class Relay:
    """Has the requests of a program carried out in the session of its task.

    Args:
        updates: What the program tells, in that session.
        agent: The program's name.
        cwd: The directory in which it works.
        clock: Makes ids.
        waiting: Makes the block in which the program waits for us.

    Attributes:
        tools: The tools for the runner.
        runner: Runs the calls; set before the program starts.
    """

    runner: ToolRunner

    def __init__(
        self,
        updates: UpdatePublisher,
        *,
        agent: str,
        cwd: Path,
        clock: Clock,
        waiting: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._updates = updates
        self._agent = agent
        self._cwd = cwd
        self._clock = clock
        self._waiting = waiting
        self._one = anyio.Lock()
        self._asked: dict[str, Request[object]] = {}
        self._refusals: dict[str, str] = {}
        self._permitted: set[PermittedWrite] = set()
        self.tools: Sequence[Tool] = [RelayTool(name, self._asked) for name in NAMES]

    def handlers(self, update: OnUpdate) -> Handlers:
        """The behaviour of the client."""
        return Handlers(update=update, permission=self._permission, files=_Files(self), host=_Terminals(self))

    def observe(self, event: Event) -> None:
        """Note why a call was not run."""
        if isinstance(event, ToolCallChanged) and event.item in self._asked and event.output:
            texts = (part.text for part in event.output if isinstance(part, TextPart))
            self._refusals[event.item] = "\n".join(texts)

    async def ask(self, request: Request[_A]) -> _A:
        """The answer to a request.

        Raises:
            ToolError: It was refused, or failed.
        """
        call_id = new_id("call", clock=self._clock)
        async with self._one:
            self._asked[call_id] = request  # pyright: ignore[reportArgumentType] - the answer goes back where it came from
            call = ToolCall(id=call_id, name=request.name, arguments=json.dumps(request.arguments))
            try:
                with self._waiting():
                    self.runner.repetition.forgive()
                    await self.runner.run_all(await self._updates.asking(), [call])
            finally:
                del self._asked[call_id]
                why = self._refusals.pop(call_id, _REFUSED)
        if request.answer is None:
            raise ToolError(why)
        return request.answer

    async def write(self, path: Path, text: str) -> None:
        """Write a file."""
        await self.ask(WriteRequest(path, text, permitted=self._permitted))

    async def start(self, request: CreateTerminalRequest) -> RunningProcess:
        """Start a command."""
        cwd = self._cwd if request.cwd is None else absolute(request.cwd)
        return await self.ask(CommandRequest(request, cwd=cwd))

    async def _permission(self, asked: RequestPermissionRequest) -> PermissionOption | None:
        """The option that answers for us: never a lasting one while there is another, as our own rules are asked."""
        request = PermissionRequest(asked, agent=self._agent, cwd=self._cwd)
        try:
            await self.ask(request)
        except ToolError:
            return _first(asked.options, "reject_once", "reject_always")
        self._permitted = request.writes  # only the last: what it does next is what it asked about
        return _first(asked.options, "allow_once", "allow_always")


def _first(options: Sequence[PermissionOption], *kinds: str) -> PermissionOption | None:
    return next((option for kind in kinds for option in options if option.kind == kind), None)


class _Files:
    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    async def read(self, path: Path) -> str:
        return await self._relay.ask(ReadRequest(path))

    async def write(self, path: Path, text: str) -> None:
        await self._relay.write(path, text)


class _Terminals:
    """The commands that a program started through us."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._running: dict[str, RunningProcess] = {}
        self._numbers = itertools.count(1)

    async def create(self, request: CreateTerminalRequest) -> str:
        if len(self._running) >= MOST_TERMINALS:
            raise ToolError(f"{MOST_TERMINALS} terminals are open; release some.")
        process = await self._relay.start(request)
        terminal_id = f"term_{next(self._numbers)}"
        self._running[terminal_id] = process
        return terminal_id

    async def output(self, terminal_id: str) -> TerminalOutputResponse:
        output = await self._get(terminal_id).output()
        ended = output.exit
        status = None if ended is None else TerminalExitStatus(exit_code=ended.code, signal=ended.signal)
        return TerminalOutputResponse(output=output.text, truncated=output.truncated, exit_status=status)

    async def wait(self, terminal_id: str) -> WaitForTerminalExitResponse:
        status = await self._get(terminal_id).wait()
        return WaitForTerminalExitResponse(exit_code=status.code, signal=status.signal)

    async def kill(self, terminal_id: str) -> None:
        await self._get(terminal_id).kill()

    async def release(self, terminal_id: str) -> None:
        process = self._get(terminal_id)
        del self._running[terminal_id]
        await process.release()

    async def aclose(self) -> None:
        running, self._running = self._running, {}
        for process in running.values():
            await process.release()

    def _get(self, terminal_id: str) -> RunningProcess:
        process = self._running.get(terminal_id)
        if process is None:
            raise InvalidRequest(f"there is no terminal {terminal_id}")
        return process


if TYPE_CHECKING:
    _tool: type[Tool] = RelayTool
    _files: type[Files] = _Files
    _host: type[TerminalHost] = _Terminals
