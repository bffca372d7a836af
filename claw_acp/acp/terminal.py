"""A program in one of the editor's terminals."""

import logging
from typing import TypeVar

import anyio

from claw_acp.contracts.workspace import Command, ExitStatus, ProcessOutput
from claw_acp.core.errors import InvalidRequest, ToolError
from claw_acp.core.json_value import JsonValue
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.rpc.peer import Peer
from claw_acp.schema.base import Wire
from claw_acp.schema.invalid import parse
from claw_acp.schema.terminal import CreateTerminalResponse, TerminalOutputResponse, WaitForTerminalExitResponse
from claw_acp.session.session import LAST_WORDS
from claw_acp.workspace.environment import SHELL, command_environment

log = logging.getLogger(__name__)

_A = TypeVar("_A", bound=Wire)

PATIENCE = 30.0  # seconds for the editor to open, read or kill a terminal


class EditorTerminal:
    """A running program that the editor shows live. Made by `create`."""

    def __init__(self, peer: Peer, session_id: str, terminal_id: str) -> None:
        self._peer = peer
        self._session_id = session_id
        self._terminal_id = terminal_id
        self._released = False

    @classmethod
    async def create(cls, peer: Peer, session_id: str, command: Command) -> "EditorTerminal":
        """Open a terminal and run the command line in it.

        Raises:
            RpcError, TimeoutError, InvalidRequest: The editor did not.
        """
        environment = command_environment({}, extra=command.env)
        answer = await peer.request(
            "terminal/create",
            {
                "sessionId": session_id,
                "command": SHELL,
                "args": ["-c", "--", command.line],
                "env": [{"name": name, "value": value} for name, value in environment.items()],
                "cwd": str(command.cwd),
                "outputByteLimit": command.output_limit,
            },
            within=PATIENCE,
        )
        created = parse(CreateTerminalResponse, answer, method="terminal/create")
        return cls(peer, session_id, created.terminal_id)

    @property
    def terminal_id(self) -> str:
        """The terminal that shows the program."""
        return self._terminal_id

    async def output(self) -> ProcessOutput:
        """See `RunningProcess`."""
        answer = await self._ask("output", TerminalOutputResponse, within=PATIENCE)
        status = answer.exit_status
        ended = None if status is None else ExitStatus(code=status.exit_code, signal=status.signal)
        return ProcessOutput(text=answer.output, truncated=answer.truncated, exit=ended)

    async def wait(self) -> ExitStatus:
        """See `RunningProcess`; as long as the program takes, the caller sets the limit."""
        status = await self._ask("wait_for_exit", WaitForTerminalExitResponse, within=None)
        return ExitStatus(code=status.exit_code, signal=status.signal)

    async def kill(self) -> None:
        """See `RunningProcess`."""
        await self._last_word("kill")

    async def release(self) -> None:
        """See `RunningProcess`; also when the turn is being cancelled, but never for long."""
        if not self._released:
            self._released = True
            await self._last_word("release")

    async def _ask(self, verb: str, answer: type[_A], *, within: float | None) -> _A:
        method = f"terminal/{verb}"
        try:
            return parse(answer, await self._call(method, within=within), method=method)
        except (RpcError, InvalidRequest, TimeoutError) as error:
            raise ToolError(f"The editor's terminal failed: {method}: {error or 'no answer'}.") from error

    async def _call(self, method: str, *, within: float | None) -> JsonValue:
        params = {"sessionId": self._session_id, "terminalId": self._terminal_id}
        return await self._peer.request(method, params, within=within)

    async def _last_word(self, method: str) -> None:
        with anyio.move_on_after(LAST_WORDS, shield=True):
            try:
                await self._call(f"terminal/{method}", within=None)
            except (RpcError, ConnectionClosed) as error:
                log.warning("terminal not freed", extra={"terminal": self._terminal_id, "reason": str(error)})
