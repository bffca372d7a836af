"""MCP on the stdin and stdout of a program, which runs in a process group of its own."""

import logging
import os
import signal
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import Process
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage

from claw_acp.contracts.mcp_server import StdioServer
from claw_acp.mcp.evidence import Evidence
from claw_acp.mcp.failure import ServerFailed
from claw_acp.mcp.frames import FrameReader, line
from claw_acp.rpc.framing import Frame, LineSplitter
from claw_acp.workspace import process_groups
from claw_acp.workspace.process import exit_status

LONGEST_LINE = 32 * 1024 * 1024  # bytes; pictures travel inside lines
FLUSH_SECONDS = 0.2  # for what was sent last to reach the program
POLITE_SECONDS = 0.5  # for a program to end once its input has ended, as MCP asks
TERMINATE_SECONDS = 0.5  # from SIGTERM to SIGKILL
REAP_SECONDS = 1.0  # for a killed program to disappear; only one stuck in the kernel takes longer
DRAIN_SECONDS = 0.3  # for its last output, when something it left behind holds the pipes open

_CHUNK = 65536

_INHERITED: Final = frozenset({
    "HOME", "LOGNAME", "USER", "SHELL", "PATH", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "SYSTEMROOT",
})  # fmt: skip
_INHERITED_BEGINNINGS: Final = ("LC_", "XDG_")
_PROXIES: Final = frozenset({"http_proxy", "https_proxy", "all_proxy", "no_proxy"})

log = logging.getLogger(__name__)


@asynccontextmanager
async def stdio_streams(spec: StdioServer, *, cwd: Path, evidence: Evidence) -> AsyncGenerator[TransportStreams]:
    """Start the program and talk to it; leaving the block ends it and all that it started.

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
    """What a server sees of our environment: what programs need to run at all, no credentials; and what it is given."""
    kept = {
        name: value
        for name, value in base.items()
        if name in _INHERITED or name.startswith(_INHERITED_BEGINNINGS) or name.lower() in _PROXIES
    }
    return {**kept, **extra}


async def _start(spec: StdioServer, *, cwd: Path, evidence: Evidence) -> "_Program":
    stdin, our_stdin = os.pipe()
    our_stdout, stdout = os.pipe()
    our_stderr, stderr = os.pipe()
    try:
        process = await _spawn(spec, cwd=cwd, stdin=stdin, stdout=stdout, stderr=stderr)
    except BaseException:
        for descriptor in (our_stdin, our_stdout, our_stderr):
            os.close(descriptor)
        raise
    finally:
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
    os.set_blocking(our_stdin, False)
    return _Program(process, stdin=our_stdin, stdout=our_stdout, stderr=our_stderr, server=spec.name, evidence=evidence)


async def _spawn(spec: StdioServer, *, cwd: Path, stdin: int, stdout: int, stderr: int) -> Process:
    process: Process | None = None
    try:
        with anyio.CancelScope(shield=True):  # a process that was made must reach its supervision
            process = await anyio.open_process(
                [spec.command, *spec.args],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=cwd,
                env=server_environment(os.environ, extra=spec.env),
                start_new_session=True,
            )
    except (OSError, ValueError) as error:
        raise _not_started(spec, cwd=cwd, error=error) from error
    assert process is not None
    process_groups.track(process.pid)
    return process


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

    def __init__(
        self, process: Process, *, stdin: int, stdout: int, stderr: int, server: str, evidence: Evidence
    ) -> None:
        self._process = process
        self._stdin, self._stdout, self._stderr = stdin, stdout, stderr
        self._evidence = evidence
        self._reader = FrameReader(server=server, evidence=evidence)
        # No buffers: a program that writes faster than it is heard waits in its pipe.
        self._incoming, self._received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self._sent, self._outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        self.streams: TransportStreams = (self._received, self._sent)
        self._writing = anyio.CancelScope()
        self._written = anyio.Event()
        self._heard = anyio.Event()
        self._complained = anyio.Event()
        self._ended = anyio.Event()

    # ------------------------------------------------------------------ while it runs

    async def read(self) -> None:
        """Hand on its messages until it closes its output; a program that cannot answer any more is lost."""
        splitter = LineSplitter(limit=LONGEST_LINE)
        try:
            while data := await _read(self._stdout):
                for frame in splitter.feed(data):
                    await self._take(frame)
            for frame in splitter.finish():
                await self._take(frame)
        finally:
            self._heard.set()
        with anyio.move_on_after(2 * DRAIN_SECONDS):  # so that it can be told how it ended
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
        """Keep the end of what it writes to stderr."""
        while data := await _read(self._stderr):
            self._evidence.stderr.add(data)
        self._complained.set()

    async def write(self) -> None:
        """Send it our messages."""
        try:
            with self._writing:
                async for message in self._outgoing:
                    await _write(self._stdin, line(message))
        except OSError:  # it has closed its input, and can be asked nothing any more
            self._incoming.close()
        finally:
            self._written.set()

    async def watch(self) -> None:
        """Note its end, once its last words are read."""
        await self._process.wait()
        with anyio.move_on_after(DRAIN_SECONDS):
            await self._heard.wait()
            await self._complained.wait()
        self._note_exit()
        self._incoming.close()

    def _note_exit(self) -> None:
        code = self._process.returncode
        if code is not None and not self._ended.is_set():
            self._evidence.exit = exit_status(code)
            self._ended.set()

    # ------------------------------------------------------------------ its end

    async def end(self) -> None:
        """Close its input; then ask it to end; then end it. At most `FLUSH` to `REAP` seconds in all."""
        self._received.close()
        self._sent.close()
        with anyio.move_on_after(FLUSH_SECONDS):
            await self._written.wait()
        self._writing.cancel()
        await self._written.wait()
        os.close(self._stdin)
        self._stdin = -1
        if not await self._gone_within(POLITE_SECONDS):
            process_groups.signal_group(self._process.pid, signal.SIGTERM)
            if not await self._gone_within(TERMINATE_SECONDS):
                process_groups.kill_group(self._process.pid)
                if not await self._gone_within(REAP_SECONDS):
                    log.warning("killed MCP server did not end", extra={"pid": self._process.pid})

    async def _gone_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._process.wait()
        return self._process.returncode is not None

    def let_go(self) -> None:
        """Kill what it left behind, and give everything back."""
        process_groups.kill_group(self._process.pid)
        process_groups.forget(self._process.pid)
        for descriptor in (self._stdin, self._stdout, self._stderr):
            if descriptor >= 0:
                os.close(descriptor)
        for stream in (self._incoming, self._received, self._sent, self._outgoing):
            stream.close()


async def _read(descriptor: int) -> bytes:
    """What came next; nothing at the end."""
    await anyio.wait_readable(descriptor)
    try:
        return os.read(descriptor, _CHUNK)  # we alone read it: readable means this does not block
    except OSError:
        return b""


async def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            await anyio.wait_writable(descriptor)
