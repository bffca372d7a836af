"""The server process for remote clients and for programs of this machine, from its listening sockets to its end."""

import logging
import os
import socket
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final

import anyio
from anyio import to_thread

from claw_acp.acp import warm_up
from claw_acp.acp.connection import Connection
from claw_acp.audit.log import AuditLog
from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.contracts.schedule import ResultTaker
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ClawError
from claw_acp.core.value import Value
from claw_acp.gateway.access.admission import Admission
from claw_acp.gateway.access.pairing import Pairing
from claw_acp.gateway.access.token_store import TokenStore
from claw_acp.gateway.acp.connections import Connect, Connections
from claw_acp.gateway.acp.routes import acp_route
from claw_acp.gateway.address import Address
from claw_acp.gateway.app import ENDPOINT, Application
from claw_acp.gateway.chat.routes import ChatRoutes
from claw_acp.gateway.control.http_routes import ControlRoutes
from claw_acp.gateway.control.server import ControlledServer
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.listener import Listener
from claw_acp.gateway.http.origin_policy import OriginPolicy
from claw_acp.gateway.hub.attach_route import PATH, attach_route
from claw_acp.gateway.hub.hub import Connect as HubConnect
from claw_acp.gateway.hub.hub import Hub
from claw_acp.gateway.hub.programs import Programs
from claw_acp.gateway.page import page_route
from claw_acp.registry.reference import Ref
from claw_acp.rpc.peer import Transport
from claw_acp.runtime.deadline import Deadline
from claw_acp.runtime.engine_host import EngineHost, hosted_engine
from claw_acp.telemetry.trace import FrameTrace

log = logging.getLogger(__name__)

RUN_SCHEDULES: Final["Ref[Callable[..., Coroutine[Any, Any, None]]]"] = Ref("claw_acp.runtime.schedules:run_schedules")

ENGINE_TROUBLE: Final = 60.0  # seconds before another look whether the engine has started

START_METERING: Final["Ref[Callable[[ControlledServer], Awaitable[None]]]"] = Ref(
    "claw_acp.gateway.control.metering:start_metering"
)


class Terms(Value):
    """Admission rules for clients.

    Attributes:
        admission: Decides about their tokens.
        hosts: Further host names of the server.
        origins: Further allowed origins; without a token, the only ones.
        limits: Limits.
    """

    admission: Admission
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    limits: Limits = Limits()


class NetworkListener(Value):
    """A listening socket for remote clients.

    Attributes:
        socket: The bound socket.
        address: Its address.
        terms: Admission rules.
    """

    socket: socket.socket
    address: Address
    terms: Terms


class HubListener(Value):
    """The listening socket of the hub.

    Attributes:
        socket: The bound Unix socket.
        idle: Seconds without an attached program after which the server stops; None: never.
    """

    socket: socket.socket
    idle: float | None


async def serve(
    network: NetworkListener | None,
    hub: HubListener | None,
    *,
    spoken: Sequence[int],
    trace: FrameTrace | None = None,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal stops the server; the process then exits within a fixed time, even if something hangs.

    Args:
        network: For remote clients.
        hub: For programs on this machine.
        spoken: The supported protocol versions.
        trace: Records every frame.
        on_ready: Called once clients are served.
    """
    stop = anyio.Event()
    deadline = Deadline()

    def stop_in_time() -> None:
        deadline.start()
        stop.set()

    connect = _maker(spoken, trace)
    async with (
        hosted_engine(stop=stop.set, deadline=deadline, warm_up=warm_up.for_sessions) as host,
        anyio.create_task_group() as tasks,
    ):
        server = _controlled(host, stop_in_time, network)
        programs = _programs(server)
        if hub is not None:
            tasks.start_soon(partial(_hub(hub, server, connect, programs).run, until=stop.wait), name="hub")
        tasks.start_soon(_count, server, stop.wait, name="metering")
        tasks.start_soon(_run_schedules, host, stop.wait, programs, name="schedules")
        if network is None:
            on_ready()
            await stop.wait()
        else:
            await run(
                network.socket,
                network.address,
                network.terms,
                connect=lambda transport, name: connect(transport, host, name),
                stop=stop,
                server=server,
                programs=programs,
                on_ready=on_ready,
            )


def _programs(server: ControlledServer) -> Programs:
    """The programs that attach to a server, which tells about them."""
    programs = Programs(server.engine, server.locations)
    server.programs, server.supervised = programs.rows, programs.supervised_rows
    return programs


def _hub(listener: HubListener, server: ControlledServer, connect: HubConnect, programs: Programs) -> Hub:
    """The hub, which tells the server what is attached to it."""
    hub = Hub(
        listener.socket, server.engine, connect=connect, limit=Limits().connections, idle=listener.idle,
        controlled=server, programs=programs,
    )  # fmt: skip
    server.attached = lambda: hub.attached
    return hub


def _controlled(host: EngineHost, stop: Callable[[], None], network: NetworkListener | None) -> ControlledServer:
    locations = find_locations(os.environ)
    settings = load_settings(locations=locations, environ=os.environ, cwd=None)
    audit = AuditLog(locations, section=settings.audit, clock=SYSTEM_CLOCK)
    tokens = TokenStore(locations.state_dir, clock=SYSTEM_CLOCK, note=partial(audit.record, "token"))
    pairs = network is not None and network.terms.admission.needs_token
    pairing = Pairing(tokens, clock=SYSTEM_CLOCK) if pairs else None
    return ControlledServer(
        engine=host, stop=stop, locations=locations, pairing=pairing, started_at=anyio.current_time()
    )


async def run(
    listening: socket.socket,
    address: Address,
    terms: Terms,
    *,
    connect: Connect,
    stop: anyio.Event,
    server: ControlledServer | None = None,
    programs: Programs | None = None,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve connections made by `connect` until `stop` is set; all are closed before this returns.

    With `server` it can be controlled, too, and with `programs` they can attach.
    """
    over = anyio.Event()
    origins = OriginPolicy(
        loopback=address.is_loopback,
        local_pages=terms.admission.needs_token,
        hosts=terms.hosts,
        origins=terms.origins,
    )
    async with anyio.create_task_group() as tasks:
        async with Connections.running(connect, limits=terms.limits) as connections:
            routes = {ENDPOINT: acp_route(connections, terms.limits)}
            if server is not None:
                server.remote, server.url = lambda: connections.count, f"http://{address.text()}/"
                routes |= ControlRoutes(server, limits=terms.limits).routes()
                routes |= ChatRoutes(server.engine, limits=terms.limits).routes()
                routes["/"] = page_route()
            if programs is not None:
                routes[PATH] = attach_route(programs, terms.limits)
            app = Application(routes, origins=origins, admission=terms.admission, clock=SYSTEM_CLOCK)
            listener = Listener(listening, app, limits=terms.limits)
            tasks.start_soon(partial(listener.run, until=over.wait), name="listener")
            async with anyio.create_task_group() as watching:
                watching.start_soon(terms.admission.visits.watch, name="visits")
                on_ready()
                await stop.wait()
                if programs is not None:
                    await programs.shut_down()
                watching.cancel_scope.cancel()
        over.set()


async def _count(server: ControlledServer, until: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Count what happens in sessions, as soon as the engine has started, until `until` returns."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_start_metering, server)
        await until()
        tasks.cancel_scope.cancel()


async def _start_metering(server: ControlledServer) -> None:
    """Start to count; loaded once clients are served."""
    start = await to_thread.run_sync(START_METERING.load)
    while server.metrics is None:
        try:
            await start(server)
        except ClawError as error:
            log.warning("nothing is counted yet", extra={"reason": error.message})
            await anyio.sleep(ENGINE_TROUBLE)


async def _run_schedules(
    host: EngineHost, until: Callable[[], Coroutine[Any, Any, object]], programs: ResultTaker
) -> None:
    """Fire jobs; loaded once clients are served."""
    await (await to_thread.run_sync(RUN_SCHEDULES.load))(host, until=until, programs=programs)


def _maker(spoken: Sequence[int], trace: FrameTrace | None) -> Callable[[Transport, EngineHost, str], Connection]:
    def connect(transport: Transport, host: EngineHost, connection_id: str) -> Connection:
        on_frame = None if trace is None else trace.of_connection(connection_id)
        return Connection(transport, host, clock=SYSTEM_CLOCK, spoken=spoken, on_frame=on_frame)

    return connect
