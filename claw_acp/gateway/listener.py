"""The HTTP server: Hypercorn, which speaks HTTP/1.1, HTTP/2 and WebSocket on a socket of ours."""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import Any, cast

from hypercorn.asyncio import serve  # pyright: ignore[reportUnknownVariableType] - its types are not whole
from hypercorn.config import Config, Sockets

from claw_acp.gateway.app import Application
from claw_acp.gateway.door import Door
from claw_acp.gateway.limits import Limits

log = logging.getLogger(__name__)

_MORE_STREAMS = 64  # of HTTP/2, beside those of sessions: for requests


class _OwnSocket(Config):
    """A configuration that uses the socket it is given."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def create_sockets(self) -> Sockets:
        return Sockets([], [self._door], [])


async def listen(app: Application, door: Door, *, limits: Limits, until: Callable[[], Awaitable[None]]) -> None:
    """Serve until `until` returns, and then what is going on for `limits.last_words` more."""
    config = _OwnSocket(door)
    config.errorlog = log
    config.include_server_header = False
    config.h11_max_incomplete_size = limits.head
    config.h2_max_header_list_size = limits.head
    config.h2_max_concurrent_streams = limits.streams + _MORE_STREAMS
    config.keep_alive_timeout = limits.unused
    config.keep_alive_max_requests = sys.maxsize  # a client's streams live in its connection
    config.websocket_max_message_size = limits.message
    config.graceful_timeout = limits.last_words
    await serve(cast("Any", app), config, shutdown_trigger=until, mode="asgi")


def log_complaints() -> None:
    """From now on what the event loop has to complain about goes to the log, not to stderr.

    The library lets some slips of clients end as exceptions in its own tasks (data behind an answer that came early, a
    path that is no ASCII). They end the client's connection, which is right, and are told in one line.
    """
    asyncio.get_running_loop().set_exception_handler(_complain)


def _complain(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error: object = context.get("exception")
    if isinstance(error, asyncio.CancelledError):
        return  # a client that did not end in time
    if "client_connected_cb" in context["message"]:
        log.info("a client's connection broke", extra={"reason": repr(_cause(error))})
    else:
        log.error("%s", context["message"], exc_info=error if isinstance(error, BaseException) else None)


def _cause(error: object) -> object:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
