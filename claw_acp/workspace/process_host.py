"""The owner of all running commands: each is a task of its task group."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskGroup, TaskStatus

from claw_acp.contracts.launch import Confinement, StartedBy
from claw_acp.contracts.workspace import Command
from claw_acp.core.environment import current_environment
from claw_acp.core.errors import ToolError
from claw_acp.process.child_process import start_child
from claw_acp.workspace.environment import SHELL, command_environment
from claw_acp.workspace.process import LocalProcess


class ProcessHost:
    """Starts commands and outlives them: `async with ProcessHost(environ) as host:` around everything that uses them.

    One for a whole server is enough, as a command belongs to the holder of its `LocalProcess`. Leaving the block kills
    what still runs, at once. Commands may be started from any task inside.

    Command lines run in `bash` if there is one, else in `sh`: models write bash, whatever shell the user types into. It
    is neither a login nor an interactive shell, so no profile is read.

    Args:
        environ: The environment of commands that are started in none of their own; keys of ours are removed.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._tasks = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        assert self._tasks is not None
        tasks, self._tasks = self._tasks, None
        tasks.cancel_scope.cancel()
        return await tasks.__aexit__(kind, error, trace)

    async def start(self, command: Command) -> LocalProcess:
        """Start a command line in its own session and process group, without stdin.

        Raises:
            ToolError: The directory is missing, or the system refuses.
        """
        if self._tasks is None:
            raise ToolError("No command can be started: the server is shutting down.")
        running: LocalProcess = await self._tasks.start(self._run, command)
        return running

    async def _run(self, command: Command, *, task_status: TaskStatus[LocalProcess]) -> None:
        with confined(command, "us") as confinement:
            with anyio.CancelScope(shield=True) as starting:  # a process that was made must reach its supervision
                running = await self._spawn(command, confinement)
                task_status.started(running)
                starting.shield = False
                await running.supervise()

    async def _spawn(self, command: Command, confinement: Confinement | None) -> LocalProcess:
        if "\0" in command.line:
            raise ToolError("The command contains a NUL character.")
        inside: Mapping[str, str] = {} if command.sandbox is None else command.sandbox.env
        try:
            child = await start_child(
                [SHELL, "-c", "--", command.line],
                env=command_environment(current_environment(self._environ), extra={**inside, **command.env}),
                cwd=command.cwd,
                stdin="announced",
                stderr="stdout",
                sandbox=confinement,
            )
        except OSError as error:
            where = f" in {command.cwd}" if not command.cwd.is_dir() else ""
            raise ToolError(f"The command cannot be started{where}: {error.strerror or error}.") from error
        return LocalProcess(child, output_limit=command.output_limit)


@contextmanager
def confined(command: Command, started_by: StartedBy) -> Generator[Confinement | None]:
    """The confinement of a command for the block, in which it runs; None for one without a sandbox.

    Raises:
        ToolError: The files that it needs cannot be written.
    """
    if command.sandbox is None:
        yield None
        return
    try:
        confinement = command.sandbox.confine(started_by)
    except OSError as error:
        raise ToolError(f"The command was not run: its sandbox cannot be set up: {error.strerror or error}.") from error
    try:
        yield confinement
    finally:
        confinement.release()
