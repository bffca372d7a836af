"""The port through which tools reach files and programs.

The local implementation works on this machine's disk; a front end may wrap it and route operations to the editor, so
that unsaved buffers are seen and edits appear in them. Paths are absolute and resolved by `locate`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from claw_acp.core.value import Value, made_by

if TYPE_CHECKING:
    from claw_acp.contracts.launch import CommandSandbox

UnsavedChanges: TypeAlias = Literal["kept", "unseen", "stay"]
"""The fate of a person's unsaved changes when their file is written.

kept: They were read with the file, so they are in the new text; or there is no editor. unseen: They are not read. They
stay in the editor, which tells its person of two versions. stay: They are read, but the editor goes on showing them
after the write: the new text is on the disk only.
"""


class Command(Value):
    """A program to run: one line for the user's shell.

    `output_limit` is in bytes; when more comes, the beginning is dropped (the end tells what went wrong). `sandbox` is
    where it runs; None: like any program of the person.
    """

    line: str
    cwd: Path
    env: Mapping[str, str] = made_by(default_factory=dict[str, str])
    output_limit: int = 1_048_576
    sandbox: "CommandSandbox | None" = None


class ExitStatus(Value):
    """How a program ended: a code, or the name of the signal that killed it (`SIGKILL`)."""

    code: int | None = None
    signal: str | None = None


def ending(status: ExitStatus) -> str:
    """`exit code 1` or `killed by SIGKILL`."""
    return f"killed by {status.signal}" if status.signal is not None else f"exit code {status.code}"


class ProcessOutput(Value):
    """The output of a program so far (stdout and stderr interleaved); `exit` is None while it runs.

    `printed` counts the bytes, dropped ones included; 0 if not counted. `raw` is their end as written; None where only
    text is known.
    """

    text: str
    truncated: bool
    exit: ExitStatus | None
    printed: int = 0
    raw: bytes | None = None


class RunningProcess(Protocol):
    """A started program. `release` must be called in the end; it kills what still runs."""

    @property
    def terminal_id(self) -> str | None:
        """The client's terminal that shows this program live, if there is one."""
        ...

    async def output(self) -> ProcessOutput:
        """The output so far, and the exit status once the program has ended."""
        ...

    async def wait(self) -> ExitStatus:
        """Wait for the program's end."""
        ...

    async def changed(self, since: ProcessOutput) -> None:
        """Wait until there is more output than in `since`, or the program has ended."""
        ...

    async def kill(self) -> None:
        """Kill the program and everything it started; its output stays readable."""
        ...

    def stop(self) -> bool:
        """Begin to kill it and return at once. False when it has ended, or cannot be killed this way."""
        ...

    async def release(self) -> None:
        """Kill the program if it runs, and release everything. Idempotent."""
        ...


class Workspace(Protocol):
    """Files and programs of one session."""

    @property
    def roots(self) -> Sequence[Path]:
        """Resolved directories the session works in; the first is its `cwd`."""
        ...

    @property
    def unsaved_changes(self) -> UnsavedChanges:
        """The effect of a write on unsaved changes."""
        ...

    def locate(self, path: str) -> Path:
        """The absolute path with symlinks resolved; relative ones are taken from `cwd`. It may lie outside the roots.

        Raises:
            ToolError: The text cannot be a path (empty, NUL).
        """
        ...

    def contains(self, path: Path) -> bool:
        """Return whether a resolved path lies inside a root."""
        ...

    async def read_text(self, path: Path) -> str:
        """The whole text, unsaved editor changes included, line ends as they are.

        Raises:
            ToolError: Missing, a directory, not text, too large: the message says which.
        """
        ...

    async def read_bytes(self, path: Path, *, limit: int) -> bytes:
        """The bytes on disk, at most `limit`.

        Raises:
            ToolError: Missing, a directory, or longer than `limit`.
        """
        ...

    async def write_text(self, path: Path, text: str) -> None:
        """Replace or create the file (parents too), through the editor if it supports that.

        Raises:
            ToolError: The file cannot be written.
        """
        ...

    async def write_bytes(self, path: Path, content: bytes) -> None:
        """Replace or create the file on disk (parents too); no editor takes part.

        Raises:
            ToolError: The file cannot be written.
        """
        ...

    async def delete_file(self, path: Path) -> None:
        """Delete the file or symbolic link itself; its last part is not followed.

        Raises:
            ToolError: Missing, a directory, or it cannot be deleted.
        """
        ...

    async def move_file(self, path: Path, *, target: Path) -> None:
        """Move the file or symbolic link itself to a path where nothing is yet (parents are made).

        Raises:
            ToolError: Missing, a directory, the target exists, or it cannot be moved.
        """
        ...

    async def start(self, command: Command) -> RunningProcess:
        """Start a program in its own process group.

        Raises:
            ToolError: It cannot be started.
        """
        ...


@runtime_checkable
class RecordsOthers(Protocol):
    """A workspace that can also record changes that do not pass through it."""

    def recording(self, about: str) -> AbstractAsyncContextManager[None]:
        """Record what a program that runs already changes in the roots during the block.

        `about` may name the files that it will change: copies of them are kept before, of others as far as they are
        small.

        Raises:
            ToolError: They cannot be kept; the block was not entered.
        """
        ...


OnOutput = Callable[[ProcessOutput], Awaitable[None]]
