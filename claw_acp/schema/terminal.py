"""`terminal/*`: commands that the editor runs and shows."""

from claw_acp.schema.base import Lenient, NullableArray, Uint32, Uint64, Wire
from claw_acp.schema.env_variable import EnvVariable


class CreateTerminalRequest(Wire):
    """Run a command; at most the last `output_byte_limit` bytes of its output are kept."""

    session_id: str
    command: str
    args: NullableArray[str] = ()
    env: NullableArray[EnvVariable] = ()
    cwd: str | None = None
    output_byte_limit: Uint64 | None = None


class CreateTerminalResponse(Wire):
    """The command has been started."""

    terminal_id: str


class _OneTerminal(Wire):
    session_id: str
    terminal_id: str


class TerminalOutputRequest(_OneTerminal):
    """Ask for the output so far."""


class TerminalExitStatus(Wire):
    """The exit status of a command: a code, or a signal."""

    exit_code: Lenient[Uint32] = None
    signal: Lenient[str] = None


class TerminalOutputResponse(Wire):
    """The output so far; `exit_status` is present once the command has ended."""

    output: str
    truncated: bool
    exit_status: Lenient[TerminalExitStatus] = None


class WaitForTerminalExitRequest(_OneTerminal):
    """Ask for an answer when the command has ended."""


class WaitForTerminalExitResponse(TerminalExitStatus):
    """The command has ended."""


class KillTerminalRequest(_OneTerminal):
    """Kill the command; its output stays readable."""


class KillTerminalResponse(Wire):
    """The command is being killed."""


class ReleaseTerminalRequest(_OneTerminal):
    """Release the terminal; whatever still runs in it is killed."""


class ReleaseTerminalResponse(Wire):
    """The terminal has been released."""
