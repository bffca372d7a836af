"""The server process for remote ACP clients, from the listening socket to shutdown."""

import logging
import socket
from collections.abc import Callable, Sequence
from functools import partial

import anyio
from anyio.abc import SocketListener

from claw_acp.acp import warm_up
from claw_acp.acp.connection import Connection
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value
from claw_acp.gateway.acp.close_code import RemoteTransport
from claw_acp.gateway.acp.connections import Connect, Connections
from claw_acp.gateway.address import Address
from claw_acp.gateway.app import Application
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.listener import Listener
from claw_acp.gateway.http.origin_policy import OriginPolicy
from claw_acp.runtime.deadline import Deadline
from claw_acp.runtime.engine_host import EngineHost, hosted_engine
from claw_acp.telemetry.trace import FrameTrace

log = logging.getLogger(__name__)


class Terms(Value):
    """Admission rules for clients.

    Attributes:
        token: The token that clients must send; None admits everyone.
        hosts: Further host names of the server.
        origins: Further allowed origins; without a token, the only ones.
        limits: Limits.
    """

    token: Secret | None
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    limits: Limits = Limits()


async def serve(
    listening: socket.socket,
    address: Address,
    terms: Terms,
    *,
    spoken: Sequence[int],
    trace: FrameTrace | None = None,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal stops the server; the process then exits within a fixed time, even if something hangs.

    Args:
        listening: The bound socket.
        address: The address of the socket.
        terms: Admission rules.
        spoken: The supported protocol versions.
        trace: Records every frame.
        on_ready: Called once clients are served.
    """
    stop = anyio.Event()
    async with hosted_engine(stop=stop.set, deadline=Deadline(), warm_up=warm_up.for_sessions) as host:
        await run(listening, address, terms, connect=_maker(host, spoken, trace), stop=stop, on_ready=on_ready)


async def run(
    listening: socket.socket,
    address: Address,
    terms: Terms,
    *,
    connect: Connect,
    stop: anyio.Event,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve connections made by `connect` until `stop` is set; all are closed before this returns."""
    over = anyio.Event()
    place = OriginPolicy(
        loopback=address.is_loopback,
        local_pages=terms.token is not None,
        hosts=terms.hosts,
        origins=terms.origins,
    )
    accepting = await SocketListener.from_socket(listening)
    async with anyio.create_task_group() as tasks:
        async with Connections.running(connect, limits=terms.limits) as connections:
            app = Application(connections, place=place, token=terms.token, limits=terms.limits, clock=SYSTEM_CLOCK)
            listener = Listener(accepting, app, limits=terms.limits)
            tasks.start_soon(partial(listener.run, until=over.wait), name="listener")
            on_ready()
            await stop.wait()
        over.set()


def _maker(host: EngineHost, spoken: Sequence[int], trace: FrameTrace | None) -> Connect:
    def connect(transport: RemoteTransport, connection_id: str) -> Connection:
        on_frame = None if trace is None else trace.of_connection(connection_id)
        return Connection(transport, host, clock=SYSTEM_CLOCK, spoken=spoken, on_frame=on_frame)

    return connect
