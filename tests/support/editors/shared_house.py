"""Several editors on one engine, all in this process: each has its own wire, which a test can stall.

The engine, the connections and the journal are real. Each editor judges its frames like any other.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio
from anyio.abc import TaskGroup

from claw_acp.acp.connection import Connection
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.environment import working_in
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.engine_host import EngineHost
from claw_acp.runtime.live_session import LiveSession
from claw_acp.session.session import Session
from claw_acp.session.setup import SessionSetup
from tests.support.editors.editor import Editor
from tests.support.editors.editor_v2 import EditorV2
from tests.support.editors.exchange import Json
from tests.support.editors.wire import Wire
from tests.support.judges.official_schema import Judge, OfficialSchema
from tests.support.program.agent_process import TIMEOUT, AgentProcess
from tests.support.quiet import QUIET
from tests.support.script_files import Script, configure


class Guest(Editor):
    """An editor on a wire.

    Attributes:
        wire: Its connection.
        ended: Set when the agent has ended the connection.
    """

    wire: Wire
    ended: anyio.Event

    async def leave(self) -> None:
        """Disconnect, and wait until the agent has released everything."""
        self.wire.hang_up()
        with anyio.fail_after(TIMEOUT):
            await self.ended.wait()
        self.over = True

    async def until_ended(self) -> None:
        """Wait until the agent ends the connection."""
        with anyio.fail_after(TIMEOUT):
            await self.ended.wait()
        self.over = True


class GuestV2(Guest, EditorV2):
    """An editor on a wire that speaks protocol 2."""


_G = TypeVar("_G", bound=Guest)


class SharedHouse:
    """One engine. Made by `opened`."""

    def __init__(self, house: EngineHost, *, tasks: TaskGroup, project: Path, script: Script) -> None:
        self.script = script
        self._house = house
        self._tasks = tasks
        self._project = project

    @classmethod
    @asynccontextmanager
    async def opened(
        cls,
        *,
        project: Path,
        home: Path,
        script: Script,
        config: str = "",
        env: Mapping[str, str] | None = None,
        lasting: bool = True,
    ) -> "AsyncGenerator[SharedHouse]":
        claw = home / "claw"
        configure(claw, script, more=config)
        environ = {**QUIET, "HOME": str(home), "CLAW_ACP_HOME": str(claw), "PATH": "/usr/bin:/bin", **(env or {})}
        house = EngineHost(partial(open_engine, environ=environ))
        house.lasting = lasting
        with working_in(environ):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(house.keep)
                yield cls(house, tasks=tasks, project=project, script=script)
                tasks.cancel_scope.cancel()

    async def session(self, session_id: str) -> Session:
        """The session object, without any editor; it must be open."""
        return (await self.live(session_id)).session

    async def live(self, session_id: str) -> LiveSession:
        """The session with what is attached to it; it must be open."""
        engine = await self._house.engine()
        return await engine.sessions.open(session_id, SessionSetup(cwd=str(self._project)))

    async def visit(self, *, client: str = "", **capabilities: Any) -> Guest:
        """Add an editor, initialized, with this name; it may leave by itself, or stay until the house is closed."""
        named: dict[str, Json] = {"clientInfo": {"name": client, "version": "1"}} if client else {}
        return await self._welcome(Guest, capabilities, **named)

    async def visit_2(self, **capabilities: Json) -> GuestV2:
        """The same, speaking protocol 2."""
        return await self._welcome(GuestV2, capabilities)

    async def _welcome(self, kind: type[_G], capabilities: Json, **params: Json) -> _G:
        wire = Wire()
        judge = Judge(OfficialSchema.load(kind.version), prompted_by="anyone")
        guest = kind(cast("AgentProcess", wire), project=self._project, script=self.script, judge=judge)
        guest.wire, guest.ended, guest.capabilities = wire, anyio.Event(), dict(capabilities)
        self._tasks.start_soon(self._serve, guest)
        self._tasks.start_soon(guest.read, self._tasks)
        await guest.initialize(**params)
        return guest

    async def _serve(self, guest: Guest) -> None:
        await Connection(guest.wire, self._house, clock=SYSTEM_CLOCK, spoken=(1, 2)).run()
        guest.over = True
        guest.wire.end()
        guest.ended.set()
