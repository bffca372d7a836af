"""A process that serves ACP to clients elsewhere, from its socket to its last word."""

import logging
import signal
from collections.abc import Callable, Sequence
from functools import partial

import anyio

from claw_acp.acp.connection import Connection
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value
from claw_acp.gateway.address import Address
from claw_acp.gateway.app import Application
from claw_acp.gateway.connections import Connect, Connections
from claw_acp.gateway.door import Door
from claw_acp.gateway.ending import RemoteTransport
from claw_acp.gateway.limits import Limits
from claw_acp.gateway.listener import listen, log_complaints
from claw_acp.gateway.place import Place
from claw_acp.runtime import warm_up
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.deadline import Deadline
from claw_acp.runtime.lifetimes import EngineHouse
from claw_acp.telemetry.trace import FrameTrace

log = logging.getLogger(__name__)


class Terms(Value):
    """On what terms clients may come.

    Attributes:
        token: What they show; None lets all pass.
        hosts: More names the server goes by.
        origins: More origins of pages that may use it.
        limits: Bounds.
    """

    token: Secret | None
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    limits: Limits = Limits()


async def serve(
    door: Door,
    address: Address,
    terms: Terms,
    *,
    trace: FrameTrace | None = None,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal says to stop. From then on the process ends in time, whatever hangs.

    Args:
        door: The bound socket.
        address: Where that is.
        terms: For clients.
        trace: Hears every frame.
        on_ready: Called when clients are served.
    """
    stop = anyio.Event()
    log_complaints()
    async with anyio.create_task_group() as tasks:
        house = EngineHouse(open_engine)
        tasks.start_soon(house.keep, name="engine")
        tasks.start_soon(_stop_on_signal, stop, name="signals")
        tasks.start_soon(warm_up.for_sessions, name="warm-up")
        await run(door, address, terms, connect=_maker(house, trace), stop=stop, on_ready=on_ready)
        tasks.cancel_scope.cancel()


async def run(
    door: Door,
    address: Address,
    terms: Terms,
    *,
    connect: Connect,
    stop: anyio.Event,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve connections that `connect` makes until `stop` is set; then all end before this returns."""
    over, closed = anyio.Event(), anyio.Event()
    place = Place(loopback=address.is_loopback, hosts=terms.hosts, origins=terms.origins)
    limits = terms.limits
    async with anyio.create_task_group() as tasks:
        try:
            async with Connections.running(connect, limits=limits) as connections:
                app = Application(
                    connections, place=place, token=terms.token, limits=limits, clock=SYSTEM_CLOCK, vouch=door.vouch
                )
                tasks.start_soon(_listen, app, door, limits, over, closed, name="listener")
                tasks.start_soon(partial(door.hang_up_on_strangers, after=limits.first_message), name="door")
                on_ready()
                await stop.wait()
        finally:
            over.set()
            await _moment(closed, limits.last_words)
            door.hang_up()
            await _moment(closed, limits.last_words)
        tasks.cancel_scope.cancel()


async def _listen(app: Application, door: Door, limits: Limits, over: anyio.Event, closed: anyio.Event) -> None:
    await listen(app, door, limits=limits, until=over.wait)
    closed.set()


async def _moment(event: anyio.Event, seconds: float) -> None:
    with anyio.move_on_after(seconds, shield=True):
        await event.wait()


def _maker(house: EngineHouse, trace: FrameTrace | None) -> Connect:
    def connect(transport: RemoteTransport, connection_id: str) -> Connection:
        on_frame = None if trace is None else trace.of_connection(connection_id)
        return Connection(transport, house, clock=SYSTEM_CLOCK, on_frame=on_frame)

    return connect


async def _stop_on_signal(stop: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for number in signals:
            log.info("told to stop", extra={"signal": number.name})
            Deadline().start()
            stop.set()
