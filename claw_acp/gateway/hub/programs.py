"""The programs of a hub that are neither editors nor control clients: loaded with the first of them."""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from claw_acp.config.current import CurrentSettings
from claw_acp.config.locations import Locations, private_directory
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.schedule import Fires, ResultTaker, RunResult
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ClawError, ToolError
from claw_acp.core.json_value import JsonObject
from claw_acp.endpoints.greeting import refusing
from claw_acp.gateway.hub.greeting import Attached, about_us
from claw_acp.registry.reference import Ref
from claw_acp.rpc.peer import Transport
from claw_acp.runtime.engine_host import EngineHost

if TYPE_CHECKING:
    from claw_acp.endpoints.attached import AttachedPrograms
    from claw_acp.endpoints.program_plan import ProgramPlans
    from claw_acp.endpoints.supervision import Supervision
    from claw_acp.schedule.wake import SystemWake

PROGRAMS: "Ref[Callable[..., AttachedPrograms]]" = Ref("claw_acp.endpoints.attached:AttachedPrograms")
FIRES: "Ref[Callable[..., Fires]]" = Ref("claw_acp.schedule.program_fires:ProgramFires")
SUPERVISION: "Ref[Callable[..., Supervision]]" = Ref("claw_acp.endpoints.supervision:Supervision")
READ_PLANS: "Ref[Callable[[Settings, SecretCache], ProgramPlans]]" = Ref("claw_acp.endpoints.program_plan:read_plans")
WAKE: "Ref[type[SystemWake]]" = Ref("claw_acp.schedule.wake:SystemWake")
TROUBLE: Final = 60.0  # seconds until a configuration that could not be used is looked at again
FAREWELL: Final = 0.5  # seconds for all to leave when the hub ends; then they are hung up on

log = logging.getLogger(__name__)


class Programs:
    """Serves them with the sessions of one engine.

    Args:
        host: The engine.
        locations: Its directories.
    """

    def __init__(self, host: EngineHost, locations: Locations) -> None:
        self._host = host
        self._locations = locations
        self._attached: AttachedPrograms | None = None
        self._supervising = anyio.CancelScope()
        self._supervision: Supervision | None = None
        self._loading = anyio.Lock()
        self._left: anyio.Event | None = None

    async def serve(self, transport: Transport, attached: Attached) -> None:
        """Serve a program until it leaves.

        Raises:
            ClawError: It cannot be served; it has been told why.
        """
        with refusing(transport):
            programs = await self._loaded()
        await programs.serve(transport, attached)

    async def supervise(self) -> None:
        """Run the programs of the configuration, in step with its file and their own, until cancelled."""
        with self._supervising:
            while True:
                try:
                    async with anyio.create_task_group() as tasks:
                        await self._follow_files((await self._host.engine()).configuration, tasks)
                except* ClawError as trouble:
                    self._supervision = None
                    reasons = "; ".join(map(str, trouble.exceptions))
                    log.warning("programs of the configuration wait", extra={"reason": reasons})
                await anyio.sleep(TROUBLE)

    async def _follow_files(self, configuration: CurrentSettings, tasks: TaskGroup) -> None:
        wake_of, read = await to_thread.run_sync(WAKE.load), await to_thread.run_sync(READ_PLANS.load)
        file = self._locations.config_file
        private_directory(file.parent)
        watched = {file}
        while True:
            async with wake_of.opened(sorted(watched), clock=SYSTEM_CLOCK) as wake:
                while True:
                    plans = await to_thread.run_sync(read, configuration.for_folder(None), configuration.secrets)
                    found = {path for plan in plans.plans for path in plan.files if path.parent.is_dir()}
                    if not found <= watched:
                        break  # read again with all of them in view
                    if plans.plans or plans.problems or plans.unreadable or self._supervision:
                        (await self._supervised(tasks)).follow(plans)
                    await wake.wait(None)
            watched = {file, *found}

    async def _supervised(self, tasks: TaskGroup) -> "Supervision":
        if self._supervision is None:
            programs, make = await self._loaded(), await to_thread.run_sync(SUPERVISION.load)
            self._supervision = make(programs, about=about_us(), clock=SYSTEM_CLOCK, tasks=tasks)
        return self._supervision

    async def shut_down(self) -> None:
        """Ask all to leave, once."""
        if self._left is not None:
            await self._left.wait()
            return
        self._left = anyio.Event()
        if self._attached is not None:
            with anyio.move_on_after(FAREWELL):
                await self._attached.shut_down()
        self._supervising.cancel()
        self._left.set()

    async def take_result(self, target: str, result: RunResult) -> str:
        """See `ResultTaker`."""
        if self._attached is None:
            raise ToolError("no program is attached")
        return await self._attached.take_result(target, result)

    def rows(self) -> Sequence[JsonObject]:
        """Those that are attached, as a status shows them."""
        return () if self._attached is None else self._attached.rows()

    def supervised_rows(self) -> Sequence[JsonObject]:
        """Those of the configuration, with their states, as a status shows them."""
        return () if self._supervision is None else self._supervision.rows()

    async def _loaded(self) -> "AttachedPrograms":
        engine = await self._host.engine()
        async with self._loading:
            programs = self._attached
            if programs is None:
                make = await to_thread.run_sync(PROGRAMS.load)
                fires = (await to_thread.run_sync(FIRES.load))(self._locations, clock=SYSTEM_CLOCK)
                programs = self._attached = make(fires=fires, clock=SYSTEM_CLOCK)
                engine.shared.added.append(programs.lent.extension)
        return programs


if TYPE_CHECKING:
    _conforms: type[ResultTaker] = Programs
