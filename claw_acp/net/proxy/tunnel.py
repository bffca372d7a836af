"""Bytes in both directions between a command and its destination."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import anyio
from anyio.abc import ByteStream

from claw_acp.net.proxy.counted_stream import PIECE

BROKEN: Final = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)
"""The errors of a stream whose other side is gone."""

First: TypeAlias = Callable[[], Awaitable[bytes]]
"""Returns the first bytes of the command once they are known to be permitted; none if they are not."""


class Tunnel:
    """Carries bytes until both sides are done, one breaks, or nothing moves for `idle` seconds.

    A side that ends its own half is passed on as that.
    """

    def __init__(self, inner: ByteStream, outer: ByteStream, *, idle: float) -> None:
        self._inner = inner
        self._outer = outer
        self._idle = idle
        self._scope = anyio.CancelScope()

    async def run(self, first: First) -> None:
        """Carry bytes. Those of the destination need not wait for the first ones of the command."""
        with self._scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._copy, self._outer, self._inner)
                self._moved()
                try:
                    data = await first()
                    if not data:
                        self._scope.cancel()
                    await self._outer.send(data)
                except (*BROKEN, anyio.EndOfStream):
                    self._scope.cancel()
                await self._copy(self._inner, self._outer)

    async def _copy(self, source: ByteStream, target: ByteStream) -> None:
        try:
            while True:
                data = await source.receive(PIECE)
                self._moved()
                await target.send(data)
                self._moved()
        except anyio.EndOfStream:
            await self._end(target)
        except BROKEN:
            self._scope.cancel()

    async def _end(self, target: ByteStream) -> None:
        try:
            await target.send_eof()
        except BROKEN:
            self._scope.cancel()

    def _moved(self) -> None:
        self._scope.deadline = anyio.current_time() + self._idle
