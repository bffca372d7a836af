"""The programs of a hub that are neither editors nor control clients: loaded with the first of them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread

from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.json_value import JsonObject
from claw_acp.endpoints.greeting import refuse
from claw_acp.gateway.hub.greeting import Attached, NotAttached
from claw_acp.registry.reference import Ref
from claw_acp.rpc.peer import Transport
from claw_acp.runtime.engine_host import EngineHost

if TYPE_CHECKING:
    from claw_acp.endpoints.attached import AttachedPrograms

PROGRAMS: "Ref[Callable[..., AttachedPrograms]]" = Ref("claw_acp.endpoints.attached:AttachedPrograms")
FAREWELL: Final = 0.5  # seconds for all to leave when the hub ends; then they are hung up on


class Programs:
    """Serves them with the sessions of one engine.

    Args:
        host: The engine.
    """

    def __init__(self, host: EngineHost) -> None:
        self._host = host
        self._attached: AttachedPrograms | None = None
        self._loading = anyio.Lock()

    async def serve(self, transport: Transport, attached: Attached) -> None:
        """Serve a program until it leaves.

        Raises:
            NotAttached: It cannot be served; it has been told why.
        """
        programs = await self._loaded()
        try:
            await programs.serve(transport, attached)
        except NotAttached as error:
            refuse(transport, error)
            raise

    async def shut_down(self) -> None:
        """Ask all to leave."""
        if self._attached is not None:
            with anyio.move_on_after(FAREWELL):
                await self._attached.shut_down()

    def rows(self) -> Sequence[JsonObject]:
        """Those that are attached, as a status shows them."""
        return () if self._attached is None else self._attached.rows()

    async def _loaded(self) -> "AttachedPrograms":
        engine = await self._host.engine()
        async with self._loading:
            programs = self._attached
            if programs is None:
                make = await to_thread.run_sync(PROGRAMS.load)
                programs = self._attached = make(clock=SYSTEM_CLOCK)
                engine.shared.added.append(programs.lent.extension)
        return programs
