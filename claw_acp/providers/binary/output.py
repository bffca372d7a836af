"""The output of a plugin that stays."""

from collections.abc import Sized

import anyio
from anyio.abc import ByteReceiveStream

from claw_acp.process.pipes import CHUNK, PipeReader


class OutputWhileAsked(ByteReceiveStream):
    """The output of a plugin, read only while something is asked of it: whatever else it prints waits in its pipe.

    Args:
        output: The pipe.
        calls: The requests under way.
    """

    def __init__(self, output: PipeReader, calls: Sized) -> None:
        self._output = output
        self._calls = calls
        self._asked = anyio.Event()

    def look(self) -> None:
        """There may be a request now, or the output may be over."""
        self._asked.set()

    async def receive(self, max_bytes: int = CHUNK) -> bytes:
        """The next bytes, once something is asked; see `PipeReader.receive`."""
        while not (self._calls or self._output.hung_up):
            self._asked = anyio.Event()
            await self._asked.wait()
        return await self._output.receive(max_bytes)

    async def aclose(self) -> None:
        """Close the pipe."""
        await self._output.aclose()
