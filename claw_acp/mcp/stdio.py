"""MCP on the stdin and stdout of a program, which runs in a process group of its own."""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage

from claw_acp.contracts.mcp_server import StdioServer
from claw_acp.core.environment import current_environment
from claw_acp.mcp.diagnostics import Diagnostics
from claw_acp.mcp.failure import ServerFailed
from claw_acp.mcp.frames import FrameReader, line
from claw_acp.process.child_process import ChildProcess, exit_status, start_child
from claw_acp.rpc.framing import Frame, LineSplitter

LONGEST_LINE = 32 * 1024 * 1024  # bytes; pictures travel inside lines
FLUSH_SECONDS = 0.2  # for what was sent last to reach the program
POLITE_SECONDS = 0.5  # for a program to end once its input has ended, as MCP asks
TERMINATE_SECONDS = 0.5  # from SIGTERM to SIGKILL
DRAIN_SECONDS = 0.3  # for its last output, when something it left behind holds the pipes open
EXIT_SECONDS = 1.0  # from the end of its output or input to that of the program, of which we may learn a little later

_INHERITED: Final = frozenset({
    "HOME", "LOGNAME", "USER", "SHELL", "PATH", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "SYSTEMROOT",
})  # fmt: skip
_INHERITED_BEGINNINGS: Final = ("LC_", "XDG_")
_PROXIES: Final = frozenset({"http_proxy", "https_proxy", "all_proxy", "no_proxy"})

log = logging.getLogger(__name__)


@asynccontextmanager
async def stdio_streams(spec: StdioServer, *, cwd: Path, evidence: Diagnostics) -> AsyncGenerator[TransportStreams]:
    """Start the program and return its streams; leaving the block ends it and everything it started.

    Raises:
        ServerFailed: It cannot be started.
    """
    program = await _start(spec, cwd=cwd, evidence=evidence)
    try:
        async with anyio.create_task_group() as tasks:
            for work in (program.read, program.read_errors, program.write, program.watch):
                tasks.start_soon(work)
            try:
                yield program.streams
            finally:
                with anyio.CancelScope(shield=True):
                    await program.end()
                tasks.cancel_scope.cancel()
    finally:
        program.let_go()


def server_environment(base: Mapping[str, str], *, extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server: the variables every program needs, no credentials, and its own."""
    kept = {
        name: value
        for name, value in base.items()
        if name in _INHERITED or name.startswith(_INHERITED_BEGINNINGS) or name.lower() in _PROXIES
    }
    return {**kept, **extra}


async def _start(spec: StdioServer, *, cwd: Path, evidence: Diagnostics) -> "_Program":
    try:
        child = await start_child(
            [spec.command, *spec.args],
            env=server_environment(current_environment(), extra=spec.env),
            cwd=cwd,
            stdin="pipe",
        )
    except (OSError, ValueError) as error:
        raise _not_started(spec, cwd=cwd, error=error) from error
    return _Program(child, server=spec.name, evidence=evidence)


def _not_started(spec: StdioServer, *, cwd: Path, error: OSError | ValueError) -> ServerFailed:
    if not cwd.is_dir():
        return ServerFailed(f"cannot be started in {cwd}, which is no directory", advice="Correct its directory.")
    match error:
        case FileNotFoundError() if "/" in spec.command:
            return ServerFailed(f"cannot be started: there is no {spec.command}", advice="Correct its command.")
        case FileNotFoundError():
            return ServerFailed(
                f"cannot be started: there is no program {spec.command} on the PATH",
                advice="Install it, or give the full path as the command: editors often start with a short PATH.",
            )
        case PermissionError():
            return ServerFailed(
                f"cannot be started: {spec.command} may not be executed", advice="Check its permissions."
            )
        case OSError():
            return ServerFailed(f"cannot be started: {error.strerror}", advice="Check its command.")
        case _:
            what = "a NUL character" if "null" in str(error) else f"something impossible ({error})"
            return ServerFailed(f"cannot be started: its settings hold {what}", advice="Correct its settings.")


class _Program:
    """One running program and the streams to it."""

    def __init__(self, child: ChildProcess, *, server: str, evidence: Diagnostics) -> None:
        self._child = child
        self._evidence = evidence
        self._reader = FrameReader(server=server, evidence=evidence)
        # No buffers: a program that writes faster than it is heard waits in its pipe.
        self._incoming, self._received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self._sent, self._outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        self.streams: TransportStreams = (self._received, self._sent)
        self._writing = anyio.CancelScope()
        self._written = anyio.Event()
        self._ended = anyio.Event()

    # ------------------------------------------------------------------ while it runs

    async def read(self) -> None:
        """Forward its messages until it closes its output; a program that cannot answer any more is lost."""
        assert self._child.stdout is not None
        splitter = LineSplitter(limit=LONGEST_LINE)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for data in self._child.stdout:
                for frame in splitter.feed(data):
                    await self._take(frame)
        for frame in splitter.finish():
            await self._take(frame)
        await self._lose()

    async def _lose(self) -> None:
        """Close the stream of its messages, as it cannot answer any more.

        If it has ended, its exit is recorded first.
        """
        with anyio.move_on_after(EXIT_SECONDS):
            await self._ended.wait()
        self._incoming.close()

    async def _take(self, frame: Frame) -> None:
        message = self._reader.read(frame)
        if message is not None:
            try:
                await self._incoming.send(message)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # nobody listens any more; reading on keeps the program from getting stuck at its end

    async def read_errors(self) -> None:
        """Keep the end of its stderr output."""
        await self._child.drain_stderr(self._evidence.stderr.add)

    async def write(self) -> None:
        """Send it our messages."""
        assert self._child.stdin is not None
        try:
            with self._writing:
                async for message in self._outgoing:
                    await self._child.stdin.send(line(message))
        except anyio.BrokenResourceError:  # it has closed its input, and can be asked nothing any more
            self._written.set()
            await self._lose()
        finally:
            self._written.set()

    async def watch(self) -> None:
        """Record its end, after its last output was read."""
        await self._child.wait_for_output(within=DRAIN_SECONDS)
        code = self._child.exit_code
        if code is not None:
            self._evidence.exit = exit_status(code)
            self._ended.set()
        self._incoming.close()

    # ------------------------------------------------------------------ its end

    async def end(self) -> None:
        """Close its input, then terminate, then kill it."""
        self._received.close()
        self._sent.close()
        with anyio.move_on_after(FLUSH_SECONDS):
            await self._written.wait()
        self._writing.cancel()
        await self._written.wait()
        await self._child.end(leave=POLITE_SECONDS, terminate=TERMINATE_SECONDS)
        if self._child.exit_code is None:
            log.warning("killed MCP server did not end", extra={"pid": self._child.pid})

    def let_go(self) -> None:
        """Kill the processes it left behind, and release everything."""
        self._child.close()
        for stream in (self._incoming, self._received, self._sent, self._outgoing):
            stream.close()
