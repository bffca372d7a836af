"""Everything that attaches to the hub's socket: greeted, then served by its role."""

import logging
import os
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from claw_acp.acp.bridge.traffic import ENDING
from claw_acp.acp.connection import Connection
from claw_acp.core.environment import working_in
from claw_acp.core.errors import ClawError
from claw_acp.core.ids import new_id
from claw_acp.gateway.hub.engines import Engines
from claw_acp.gateway.hub.greeting import Attached, NotAttached, about_hub, greet
from claw_acp.gateway.hub.programs import Programs
from claw_acp.net.accepting import accepted
from claw_acp.registry.reference import Ref
from claw_acp.rpc.socket import SocketTransport, socket_transport
from claw_acp.runtime.engine_host import EngineHost

if TYPE_CHECKING:
    from claw_acp.gateway.control.server import ControlledServer

log = logging.getLogger(__name__)

ARE_PLANNED: "Ref[Callable[[], Awaitable[bool]]]" = Ref("claw_acp.runtime.schedules:are_planned")
CONTROL: "Ref[Callable[[SocketTransport, ControlledServer], Awaitable[None]]]" = Ref(
    "claw_acp.gateway.control.api:serve_control"
)

Connect = Callable[[SocketTransport, EngineHost, str], Connection]
"""Makes the agent's side of an editor's connection; the text is its id."""


class Hub:
    """Serves one listening socket.

    Args:
        listening: The bound socket.
        host: The engine of the hub's own environment.
        connect: Serves an editor.
        limit: Programs that may be attached at once.
        idle: Seconds without an attached program, a turn or a planned job after which the hub stops; None: never.
        controlled: The server, which is stopped then, for control clients.
        programs: Serve those that are neither editors nor control clients.
    """

    def __init__(
        self,
        listening: socket.socket,
        host: EngineHost,
        *,
        connect: Connect,
        limit: int,
        idle: float | None,
        controlled: "ControlledServer",
        programs: Programs,
    ) -> None:
        about_hub()
        host.lasting = True
        self._listening = listening
        self._host = host
        self._connect = connect
        self._limit = limit
        self._idle = idle
        self._open: dict[str, SocketTransport] = {}
        self._editors: set[str] = set()
        self._count = 0
        self._changed = anyio.Event()
        self._controlled = controlled
        self._programs = programs

    @property
    def attached(self) -> int:
        """The number of programs that are attached."""
        return len(self._open)

    async def run(self, *, until: Callable[[], Awaitable[object]]) -> None:
        """Serve until `until` returns; then everything that is attached is let go, within bounds."""
        async with anyio.create_task_group() as tasks:
            engines = Engines(self._host, os.environ, tasks=tasks)
            tasks.start_soon(self._programs.supervise, name="programs")
            async with anyio.create_task_group() as served, anyio.create_task_group() as door:
                door.start_soon(self._accept, served, engines)
                if self._idle is not None:
                    door.start_soon(self._stop_when_idle, self._idle)
                await until()
                await self._programs.shut_down()
                door.cancel_scope.cancel()
                for name, transport in tuple(self._open.items()):
                    if name in self._editors:
                        transport.send(ENDING)
                    transport.end()
            tasks.cancel_scope.cancel()

    async def _accept(self, tasks: TaskGroup, engines: Engines) -> None:
        while True:
            connection, _ = await accepted(self._listening)
            if self._count >= self._limit:
                log.warning("too many programs are attached: another is hung up on", extra={"limit": self._limit})
                connection.close()
                continue
            self._count += 1
            tasks.start_soon(self._serve, connection, engines)

    async def _serve(self, connection: socket.socket, engines: Engines) -> None:
        name = new_id("con")
        try:
            async with socket_transport(connection) as transport:
                self._open[name] = transport
                self._changed.set()
                await self._by_role(transport, await greet(transport), name, engines)
        except NotAttached as error:
            log.info("a program did not attach", extra={"connection": name, "reason": error.message})
        except ClawError as error:
            log.warning("a program cannot be served", extra={"connection": name, "reason": error.message})
        except Exception:
            log.exception("connection failed", extra={"connection": name})
        finally:
            self._count -= 1
            self._open.pop(name, None)
            self._editors.discard(name)
            self._changed.set()

    async def _by_role(self, transport: SocketTransport, attached: Attached, name: str, engines: Engines) -> None:
        log.info("attached", extra={"connection": name, "role": attached.role})
        if attached.role == "editor":
            await self._check_use()
            self._editors.add(name)
            with working_in(attached.environment), engines.used(attached.environment) as host:
                await self._connect(transport, host, name).run()
        elif attached.role == "control":
            await CONTROL.load()(transport, self._controlled)
        else:
            await self._programs.serve(transport, attached)
        log.info("gone", extra={"connection": name})

    async def _check_use(self) -> None:
        """Check that editors are to be served by a hub.

        Raises:
            NotAttached: The configuration says that they are not; each then has a process of its own.
        """
        engine = await self._host.engine()
        if engine.configuration.for_folder(None).hub == "off":
            raise NotAttached('editors are served by processes of their own: `hub = "off"` in the configuration')

    async def _has_work(self) -> bool:
        """Return whether a turn runs, or a job waits for its time."""
        engine = await self._host.engine()
        return any(live.turns for live in engine.shared.live) or await ARE_PLANNED.load()()

    async def _stop_when_idle(self, seconds: float) -> None:
        while True:
            self._changed = anyio.Event()
            if self._open:
                await self._changed.wait()
                continue
            with anyio.move_on_after(seconds):
                await self._changed.wait()
            if self._open or self._changed.is_set():
                continue
            if await self._has_work():
                log.info("nobody is attached, but there is work: the hub stays")
            else:
                log.info("nobody is attached: the hub stops", extra={"seconds": seconds})
                self._controlled.stop()
                return
