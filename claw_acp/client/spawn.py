"""Starting an agent as a child process, and ending it cleanly."""

import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from claw_acp.client.agent import Agent, AgentNotStarted
from claw_acp.client.handlers import Handlers
from claw_acp.client.served import Served
from claw_acp.client.terminals import Terminals
from claw_acp.process.child_process import TERMINATE_SECONDS, ChildProcess, start_child
from claw_acp.process.launch import Sandbox
from claw_acp.process.output_tail import OutputTail
from claw_acp.rpc.dispatcher import Dispatcher
from claw_acp.rpc.peer import OnFrame
from claw_acp.rpc.streams import stream_transport

CLOSE_TIMEOUT = 4.0  # seconds for ending everything when the client itself is being cancelled
STDERR_KEPT = 4096  # bytes of what the agent wrote to stderr last, for saying why it ended
DYING = 0.5  # seconds between an agent's last frame and its end; past that nothing is said about the end

OnStderr = Callable[[bytes], None]


@asynccontextmanager
async def spawn_agent(
    command: Sequence[str],
    *,
    handlers: Handlers,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    on_stderr: OnStderr | None = None,
    on_frame: OnFrame | None = None,
    sandbox: Sandbox | None = None,
) -> AsyncGenerator[Agent]:
    """Run an agent while the block runs; it is connected, but not yet initialized.

    At the end its input is closed, and it has `Agent.exit_wait` seconds to leave before its group is terminated and
    then killed.

    Args:
        command: Program and arguments.
        handlers: The behaviour of this client.
        cwd: The agent's working directory; by default ours.
        env: Its whole environment; ours by default.
        on_stderr: Called with the agent's stderr output, which goes nowhere else.
        on_frame: Called with every frame.
        sandbox: Confines it.

    Raises:
        AgentNotStarted: It cannot be started.
    """
    try:
        child = await start_child(command, env=env or os.environ, cwd=cwd, stdin="pipe", sandbox=sandbox)
    except (OSError, ValueError) as error:  # ValueError: a NUL character
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise AgentNotStarted(f"{command[0]} cannot be started: {reason}") from error
    try:
        async with _connected(child, handlers, on_stderr=on_stderr, on_frame=on_frame) as agent:
            yield agent
    except BaseExceptionGroup as group:
        raise _only(group) from group.__cause__


@asynccontextmanager
async def _connected(
    child: ChildProcess, handlers: Handlers, *, on_stderr: OnStderr | None, on_frame: OnFrame | None
) -> AsyncGenerator[Agent]:
    assert child.stdout is not None
    assert child.stdin is not None
    errors = _Stderr(child, on_stderr)
    async with stream_transport(child.stdout, child.stdin) as transport, anyio.create_task_group() as tasks:
        terminals = Terminals(tasks, environment=handlers.environment)
        served = Served(handlers, terminals=handlers.host or terminals)
        dispatcher = Dispatcher(transport, served, on_frame=on_frame)
        agent = Agent(dispatcher, served, handlers=handlers, terminals=terminals, obituary=errors.obituary)
        tasks.start_soon(errors.drain, name="agent stderr")
        tasks.start_soon(_run, dispatcher, agent, name="agent")
        tasks.start_soon(served.hear, name="updates")
        try:
            yield agent
        finally:
            with anyio.move_on_after(CLOSE_TIMEOUT, shield=True):
                await child.end(leave=agent.exit_wait, terminate=TERMINATE_SECONDS if agent.exit_wait else 0)
                await terminals.aclose()
                if handlers.host is not None:
                    await handlers.host.aclose()
            tasks.cancel_scope.cancel()
            served.close()


async def _run(dispatcher: Dispatcher, agent: Agent) -> None:
    await dispatcher.run()
    agent.ended.set()


def _only(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error inside nested groups; the group itself if there are several."""
    if len(group.exceptions) != 1:
        return group
    match group.exceptions[0]:
        case BaseExceptionGroup() as inner:
            return _only(inner)
        case error:
            return error


class _Stderr:
    """Reads the stderr of an agent, and keeps the end of it."""

    def __init__(self, child: ChildProcess, listener: OnStderr | None) -> None:
        self._child = child
        self._listener = listener
        self._tail = OutputTail(limit=STDERR_KEPT)

    async def drain(self) -> None:
        await self._child.drain_stderr(self._take)

    def _take(self, data: bytes) -> None:
        self._tail.add(data)
        if self._listener is not None:
            self._listener(data)

    async def obituary(self) -> str:
        """The agent's exit status and its last output."""
        with anyio.move_on_after(DYING):
            await self._child.wait()
        code = self._child.exit_code
        lines = self._tail.text(ended=True).strip().split("\n")
        errors = [line.strip() for line in lines if "error" in line.lower()]  # which a trace may follow
        words = errors[-1] if errors else lines[-1]
        how = "" if code is None else f" with exit code {code}" if code >= 0 else f" by signal {-code}"
        return f"{how}: {words}" if words else how
