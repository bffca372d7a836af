"""The gateway in the test's own process, with small limits."""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio

from claw_acp.acp.connection import Connection
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.gateway.access.admission import Admission
from claw_acp.gateway.access.token_store import TokenStore
from claw_acp.gateway.acp.close_code import RemoteTransport
from claw_acp.gateway.address import Address, bind
from claw_acp.gateway.http.limits import Limits
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
    """

    def __init__(self, url: str, house: EngineHost) -> None:
        self.url = url
        self.house = house

    @property
    def websocket_url(self) -> str:
        return self.url.replace("http://", "ws://")

    async def engine(self) -> Engine:
        return await self.house.engine()


@asynccontextmanager
async def open_gateway(limits: Limits, *, home: Path, script: Script | None = None) -> AsyncGenerator[SmallGateway]:
    """Serve without a token on a free port, for as long as the block runs."""
    configure(home, script)
    environ: Mapping[str, str] = {**os.environ, "CLAW_ACP_HOME": str(home)}
    listening, address = bind(Address(host="127.0.0.1", port=0), limits=limits)
    ready, stop = anyio.Event(), anyio.Event()
    async with anyio.create_task_group() as tasks:
        house = EngineHost(partial(open_engine, environ=environ))
        tasks.start_soon(house.keep)

        def connect(transport: RemoteTransport, _connection_id: str) -> Connection:
            return Connection(transport, house, clock=SYSTEM_CLOCK)

        async def serve() -> None:
            admission = Admission(None, TokenStore(home, clock=SYSTEM_CLOCK), clock=SYSTEM_CLOCK)
            terms = Terms(admission=admission, limits=limits)
            await run(listening, address, terms, connect=connect, stop=stop, on_ready=ready.set)
            tasks.cancel_scope.cancel()

        tasks.start_soon(serve)
        await ready.wait()
        yield SmallGateway(f"http://{address.text()}/acp", house)
        stop.set()
