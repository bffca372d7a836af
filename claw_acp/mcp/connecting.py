"""Connecting to a server by its settings. Importing this takes half a second: see `loading`."""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from mcp.client._transport import TransportStreams

from claw_acp.audit.program_starts import record_start
from claw_acp.contracts.mcp_server import ClientServer, HttpServer, McpServerSpec, StdioServer
from claw_acp.core.errors import StoreError
from claw_acp.mcp.client import Client
from claw_acp.mcp.diagnostics import Diagnostics
from claw_acp.mcp.error_mapping import explained
from claw_acp.mcp.failure import ServerFailed
from claw_acp.mcp.http import http_streams
from claw_acp.mcp.over_acp import acp_streams
from claw_acp.mcp.server_catalog import ServerConnection
from claw_acp.mcp.stdio import stdio_streams
from claw_acp.security.rules import host_of


@asynccontextmanager
async def connect(
    spec: McpServerSpec, *, cwd: Path, roots: Callable[[], Sequence[Path]], evidence: Diagnostics
) -> AsyncGenerator[ServerConnection]:
    """Connect to a server, without a handshake yet. Leaving the block ends the connection.

    Raises:
        ServerFailed: The connection failed, was lost, or cannot be put on record.
    """
    tame_library_log()
    try:
        await _recorded(spec)
        async with _streams(spec, cwd=cwd, evidence=evidence) as streams:
            client = Client(spec, evidence=evidence, roots=roots)
            async with client.over(streams):
                yield client
    except Exception as error:
        raise explained(error, spec=spec, evidence=evidence) from error


async def _recorded(spec: McpServerSpec) -> None:
    """Put on record that a program is started, or an address used; a server inside the client is the client's."""
    match spec:
        case StdioServer():
            place = spec.command
        case HttpServer():
            place = host_of(spec.url) or "no usable address"
        case ClientServer():
            return
    try:
        await record_start("MCP server", name=spec.name, program=place)
    except StoreError as error:
        raise ServerFailed(f"is not started: {error.message}") from error


def _streams(spec: McpServerSpec, *, cwd: Path, evidence: Diagnostics) -> AbstractAsyncContextManager[TransportStreams]:
    match spec:
        case StdioServer():
            return stdio_streams(spec, cwd=Path(spec.cwd) if spec.cwd else cwd, evidence=evidence)
        case HttpServer():
            return http_streams(spec, evidence=evidence)
        case ClientServer():
            return acp_streams(spec)


log = logging.getLogger(__name__)

_LOGGERS = ("mcp", "client", "httpx2", "httpcore2")  # `client` is how its session module calls itself


class _Forwarded(logging.Handler):
    """Forwards lines to our log, as details, without their tracebacks."""

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        log.debug("mcp library", extra={"source": record.name, "text": record.getMessage()[:500]})


def tame_library_log() -> None:
    """Keep the library's loggers from writing to stderr themselves. Idempotent."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(handler, _Forwarded) for handler in logger.handlers):
            logger.addHandler(_Forwarded())
            logger.setLevel(logging.WARNING)  # below that it writes whole messages
            logger.propagate = False
