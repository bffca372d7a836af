"""A program in one of the editor's terminals."""

import logging
import os
import re
import sys
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

import anyio

from claw_acp.acp.v1.client_errors import words
from claw_acp.contracts.workspace import Command, ExitStatus, ProcessOutput
from claw_acp.core.child_environment import is_key, is_withheld
from claw_acp.core.errors import InvalidRequest, ToolError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.rpc.peer import Peer
from claw_acp.schema.base import Wire
from claw_acp.schema.invalid import parse
from claw_acp.schema.terminal import CreateTerminalResponse, TerminalOutputResponse, WaitForTerminalExitResponse
from claw_acp.session.session import CLEANUP_TIMEOUT
from claw_acp.workspace import run_encoded
from claw_acp.workspace.environment import SHELL, command_environment

log = logging.getLogger(__name__)

_A = TypeVar("_A", bound=Wire)

CLIENT_TIMEOUT = 30.0  # seconds for the editor to open, read or kill a terminal

_INERT: Final = re.compile(r"[\w./:@%+=-]+", re.ASCII)
_LONGEST_WORD: Final = 100_000  # characters; Linux takes 131,071 bytes in one argument


class EditorTerminal:
    """A running program that the editor shows live. Made by `create`.

    Attributes:
        on_release: Called once it is released.
    """

    def __init__(self, peer: Peer, session_id: str, terminal_id: str) -> None:
        self._peer = peer
        self._session_id = session_id
        self._terminal_id = terminal_id
        self._released = False
        self.on_release: Callable[[], None] | None = None

    @classmethod
    async def create(
        cls, peer: Peer, session_id: str, command: Command, *, argv: Sequence[str], environ: Mapping[str, str]
    ) -> "EditorTerminal":
        """Open a terminal and run `argv` in it, which runs the command line, without the keys of our `environ`.

        When this is cancelled, the editor still has `CLEANUP_TIMEOUT` to return the terminal's id, so that it can be
        released.

        Raises:
            RpcError, TimeoutError, InvalidRequest: The editor did not open one.
        """
        opening = _Opening(peer, _create_params(session_id, command, argv, environ))
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(opening.run)
                await opening.wait()
        except anyio.get_cancelled_exc_class():
            if opening.terminal_id is not None:
                await cls(peer, session_id, opening.terminal_id).release()
            raise
        if opening.failure is not None:
            raise opening.failure
        assert opening.terminal_id is not None
        return cls(peer, session_id, opening.terminal_id)

    @property
    def terminal_id(self) -> str:
        """The terminal that shows the program."""
        return self._terminal_id

    async def output(self) -> ProcessOutput:
        """See `RunningProcess`."""
        answer = await self._ask("output", TerminalOutputResponse, within=CLIENT_TIMEOUT)
        status = answer.exit_status
        ended = None if status is None else ExitStatus(code=status.exit_code, signal=status.signal)
        return ProcessOutput(text=answer.output, truncated=answer.truncated, exit=ended)

    async def wait(self) -> ExitStatus:
        """See `RunningProcess`; without a time limit, which is up to the caller."""
        status = await self._ask("wait_for_exit", WaitForTerminalExitResponse, within=None)
        return ExitStatus(code=status.exit_code, signal=status.signal)

    async def changed(self, since: ProcessOutput) -> None:  # noqa: ARG002 - the editor shows what is new by itself
        """See `RunningProcess`; here only the end is noticed."""
        await self.wait()

    async def kill(self) -> None:
        """See `RunningProcess`."""
        await self._last_word("kill")

    def stop(self) -> bool:
        """See `RunningProcess`; the user stops it in the editor."""
        return False

    async def release(self) -> None:
        """See `RunningProcess`; also while the turn is being cancelled, but never for long."""
        if not self._released:
            self._released = True
            try:
                await self._last_word("release")
            finally:
                if self.on_release is not None:
                    self.on_release()

    async def _ask(self, verb: str, answer: type[_A], *, within: float | None) -> _A:
        method = f"terminal/{verb}"
        try:
            return parse(answer, await self._call(method, within=within), method=method)
        except (RpcError, ConnectionClosed, InvalidRequest, TimeoutError) as error:
            raise ToolError(f"The editor's terminal failed: {method}: {words(error)}.") from error

    async def _call(self, method: str, *, within: float | None) -> JsonValue:
        params = {"sessionId": self._session_id, "terminalId": self._terminal_id}
        return await self._peer.request(method, params, within=within)

    async def _last_word(self, method: str) -> None:
        with anyio.move_on_after(CLEANUP_TIMEOUT, shield=True):
            try:
                await self._call(f"terminal/{method}", within=None)
            except (RpcError, ConnectionClosed) as error:
                log.warning("terminal not freed", extra={"terminal": self._terminal_id, "reason": str(error)})


class _Opening:
    """A `terminal/create` that continues for a moment after its cancellation, because its effect does."""

    def __init__(self, peer: Peer, params: JsonObject) -> None:
        self.terminal_id: str | None = None
        self.failure: Exception | None = None
        self._peer = peer
        self._params = params
        self._scope = anyio.CancelScope(shield=True)
        self._done = anyio.Event()

    async def run(self) -> None:
        with self._scope:
            try:
                answer = await self._peer.request("terminal/create", self._params, within=CLIENT_TIMEOUT)
                self.terminal_id = parse(CreateTerminalResponse, answer, method="terminal/create").terminal_id
            except (RpcError, ConnectionClosed, InvalidRequest, TimeoutError) as error:
                self.failure = error
        self._done.set()

    async def wait(self) -> None:
        try:
            await self._done.wait()
        finally:
            self._scope.deadline = anyio.current_time() + CLEANUP_TIMEOUT


def plain_argv(line: str) -> tuple[str, ...]:
    """The arguments that run a command line, for a client that passes them to the system unchanged."""
    return (SHELL, "-c", "--", line)


def unquoted_argv(line: str) -> tuple[str, ...] | None:
    """The arguments that run a command line even if a client joins them to a shell line without quoting.

    None if there are none: a path on this machine has characters special to a shell, or the line is too long for one
    argument.
    """
    argv = (sys.executable, "-IS", run_encoded.__file__, SHELL, urlsafe_b64encode(os.fsencode(line)).decode("ascii"))
    inert = all(_INERT.fullmatch(word) for word in argv)
    return argv if inert and len(" ".join(argv)) < _LONGEST_WORD else None


def _create_params(session_id: str, command: Command, argv: Sequence[str], environ: Mapping[str, str]) -> JsonObject:
    # The client has our keys as well: it started us.
    hidden = {name: "" for name in environ if is_key(name) and is_withheld(name)}
    inside: Mapping[str, str] = {} if command.sandbox is None else command.sandbox.env
    environment = command_environment({}, extra={**hidden, **inside, **command.env})
    return {
        "sessionId": session_id,
        "command": argv[0],
        "args": list(argv[1:]),
        "env": [{"name": name, "value": value} for name, value in environment.items()],
        "cwd": str(command.cwd),
        "outputByteLimit": command.output_limit,
    }
