"""The handlers of a client: updates, questions, files and terminals."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Protocol

import anyio

from claw_acp.core.errors import InvalidRequest, ToolError
from claw_acp.core.value import Value
from claw_acp.schema.base import Marker
from claw_acp.schema.elicitation import CreateElicitationRequest, CreateElicitationResponse
from claw_acp.schema.initialize import (
    ClientCapabilities,
    ClientSessionCapabilities,
    ElicitationCapabilities,
    FileSystemCapabilities,
    SessionConfigOptionsCapabilities,
)
from claw_acp.schema.permission import PermissionOption, RequestPermissionRequest
from claw_acp.schema.terminal import (
    CreateTerminalRequest,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
)
from claw_acp.schema.updates import SessionUpdate

OnUpdate = Callable[[str, SessionUpdate], Awaitable[None]]
OnPermission = Callable[[RequestPermissionRequest], Awaitable[PermissionOption | None]]
OnForm = Callable[[CreateElicitationRequest], Awaitable[CreateElicitationResponse]]


class Files(Protocol):
    """Text files as the agent sees them. Paths are absolute."""

    async def read(self, path: Path) -> str:
        """The whole text.

        Raises:
            ToolError: It cannot be read.
        """
        ...

    async def write(self, path: Path, text: str) -> None:
        """Replace or create a file.

        Raises:
            ToolError: It cannot be written.
        """
        ...


class LocalFiles:
    """The files of this machine."""

    async def read(self, path: Path) -> str:
        """See `Files.read`."""
        try:
            return (await anyio.Path(path).read_bytes()).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ToolError(f"{path} cannot be read: {_reason(error)}") from error

    async def write(self, path: Path, text: str) -> None:
        """See `Files.write`."""
        try:
            await anyio.Path(path.parent).mkdir(parents=True, exist_ok=True)
            await anyio.Path(path).write_bytes(text.encode("utf-8"))
        except (OSError, UnicodeEncodeError) as error:
            raise ToolError(f"{path} cannot be written: {_reason(error)}") from error


class TerminalHost(Protocol):
    """Runs the commands of `terminal/*`.

    Each method raises a ClawError for a terminal that it does not have.
    """

    async def create(self, request: CreateTerminalRequest) -> str:
        """Start a command; returns the id of its terminal.

        Raises:
            ToolError: It cannot be started.
        """
        ...

    async def output(self, terminal_id: str) -> TerminalOutputResponse:
        """The output so far."""
        ...

    async def wait(self, terminal_id: str) -> WaitForTerminalExitResponse:
        """Wait for the end of the command."""
        ...

    async def kill(self, terminal_id: str) -> None:
        """Kill the command and everything it started; its output stays."""
        ...

    async def release(self, terminal_id: str) -> None:
        """Kill the command if it runs, and release the terminal."""
        ...

    async def aclose(self) -> None:
        """End all commands."""
        ...


class Handlers(Value):
    """The behaviour of a client; None or False is not offered to the agent.

    Attributes:
        update: Called with every update, one after another, in order. A prompt returns after the last one.
        permission: Chooses an answer; None: the question was dismissed.
        form: Has a form filled in; it holds `requested_schema`.
        files: Serves `fs/*`.
        terminals: Serve `terminal/*` with programs of this machine.
        environment: The environment of those programs; ours when None.
        host: Serves `terminal/*` instead.
    """

    update: OnUpdate
    permission: OnPermission
    form: OnForm | None = None
    files: Files | None = None
    terminals: bool = False
    environment: Mapping[str, str] | None = None
    host: TerminalHost | None = None

    def capabilities(self) -> ClientCapabilities:
        """The client capabilities to send to the agent."""
        files = self.files is not None
        return ClientCapabilities(
            fs=FileSystemCapabilities(read_text_file=files, write_text_file=files),
            terminal=self.terminals or self.host is not None,
            elicitation=None if self.form is None else ElicitationCapabilities(form=Marker()),
            session=ClientSessionCapabilities(
                notices=Marker(), config_options=SessionConfigOptionsCapabilities(boolean=Marker())
            ),
        )


def absolute(path: str) -> Path:
    """An absolute path of the protocol.

    Raises:
        InvalidRequest: It is relative.
    """
    if not Path(path).is_absolute():
        raise InvalidRequest(f"`path` must be an absolute path, not {path!r}")
    return Path(path)


def window(text: str, *, line: int | None, limit: int | None) -> str:
    """`limit` lines of a text from `line` on, counted from 1."""
    if line is None and limit is None:
        return text
    first = max(line or 1, 1) - 1
    lines = text.splitlines(keepends=True)
    return "".join(lines[first : None if limit is None else first + limit])


def _reason(error: OSError | UnicodeError) -> str:
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else "it is not UTF-8 text"
