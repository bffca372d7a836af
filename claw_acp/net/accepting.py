"""Taking connections from a listening socket."""

import logging
import socket
from typing import Any, Final

import anyio

log = logging.getLogger(__name__)

EXHAUSTED: Final = 1.0  # seconds before another look when the system has no descriptors left


async def accepted(listening: socket.socket) -> tuple[socket.socket, tuple[Any, ...]]:
    """Wait for the next connection; returns it and its address. The listening socket must not block."""
    while True:
        await anyio.wait_readable(listening)
        try:
            return listening.accept()
        except (BlockingIOError, ConnectionError):  # whoever connected has left again
            continue
        except OSError as error:
            log.error("no connection can be taken in", extra={"reason": error.strerror})  # noqa: TRY400
            await anyio.sleep(EXHAUSTED)
