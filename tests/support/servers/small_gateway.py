"""The gateway in the test's own process, with small limits."""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio

from claw_acp.acp.connection import Connection
from claw_acp.config.locations import find_locations
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.secret import Secret
from claw_acp.gateway.access.admission import Admission
from claw_acp.gateway.access.pairing import Pairing
from claw_acp.gateway.access.token_store import TokenStore
from claw_acp.gateway.acp.close_code import RemoteTransport
from claw_acp.gateway.address import Address, bind
from claw_acp.gateway.control.server import ControlledServer
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.hub.programs import Programs
from claw_acp.gateway.serve import Terms, run
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.engine import Engine
from claw_acp.runtime.engine_host import EngineHost
from tests.support.script_files import Script, configure


class SmallGateway:
    """A gateway that runs. Made by `open_gateway`.

    Attributes:
        url: Its endpoint.
        house: Its engine.
        tokens: Those beside the owner's.
        pairing: Its codes.
    """

    def __init__(self, url: str, house: EngineHost, tokens: TokenStore, pairing: Pairing) -> None:
        self.url = url
        self.house = house
        self.tokens = tokens
        self.pairing = pairing

    @property
    def websocket_url(self) -> str:
        return self.url.replace("http://", "ws://")

    @property
    def base(self) -> str:
        return self.url.removesuffix("/acp")

    async def engine(self) -> Engine:
        return await self.house.engine()


@asynccontextmanager
async def open_gateway(
    limits: Limits | None = None, *, home: Path, script: Script | None = None, owner: str = "", chosen: bool = False
) -> AsyncGenerator[SmallGateway]:
    """Serve on a free port while the block runs: ACP without a token, or everything with the token `owner`."""
    configure(home, script)
    limits = limits or Limits()
    environ: Mapping[str, str] = {**os.environ, "CLAW_ACP_HOME": str(home)}
    listening, address = bind(Address(host="127.0.0.1", port=0), limits=limits)
    ready, stop = anyio.Event(), anyio.Event()
    async with anyio.create_task_group() as tasks:
        house = EngineHost(partial(open_engine, environ=environ))
        tasks.start_soon(house.keep)

        def connect(transport: RemoteTransport, _connection_id: str) -> Connection:
            return Connection(transport, house, clock=SYSTEM_CLOCK)

        tokens = TokenStore(home, clock=SYSTEM_CLOCK)
        pairing = Pairing(tokens, clock=SYSTEM_CLOCK)

        async def serve() -> None:
            admission = Admission(Secret(owner) if owner else None, tokens, clock=SYSTEM_CLOCK, chosen=chosen)
            terms = Terms(admission=admission, limits=limits)
            controlled = ControlledServer(
                engine=house, stop=stop.set, locations=find_locations(environ), pairing=pairing, started_at=0.0
            )
            server = controlled if owner else None
            programs = Programs(house, controlled.locations) if owner else None
            await run(
                listening, address, terms, connect=connect, stop=stop, server=server, programs=programs,
                on_ready=ready.set,
            )  # fmt: skip
            tasks.cancel_scope.cancel()

        tasks.start_soon(serve)
        await ready.wait()
        yield SmallGateway(f"http://{address.text()}/acp", house, tokens, pairing)
        stop.set()
