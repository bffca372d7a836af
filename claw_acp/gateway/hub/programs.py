"""The programs of a hub that are neither editors nor control clients: loaded with the first of them."""

import logging
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread

from claw_acp.config.locations import find_locations
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.schedule import Fires, ResultTaker, RunResult
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ConfigError, ToolError
from claw_acp.core.json_value import JsonObject
from claw_acp.endpoints.greeting import refuse
from claw_acp.gateway.hub.greeting import Attached, NotAttached, about_hub
from claw_acp.registry.reference import Ref
from claw_acp.rpc.peer import Transport
from claw_acp.runtime.engine_host import EngineHost

if TYPE_CHECKING:
    from claw_acp.endpoints.attached import AttachedPrograms
    from claw_acp.endpoints.supervised import ProgramPlan, SupervisedProgram

PROGRAMS: "Ref[Callable[..., AttachedPrograms]]" = Ref("claw_acp.endpoints.attached:AttachedPrograms")
FIRES: "Ref[Callable[..., Fires]]" = Ref("claw_acp.schedule.program_fires:ProgramFires")
SUPERVISED: "Ref[Callable[..., SupervisedProgram]]" = Ref("claw_acp.endpoints.supervised:SupervisedProgram")
PLAN: "Ref[Callable[..., ProgramPlan]]" = Ref("claw_acp.endpoints.supervised:ProgramPlan")
FAREWELL: Final = 0.5  # seconds for all to leave when the hub ends; then they are hung up on

log = logging.getLogger(__name__)


class Programs:
    """Serves them with the sessions of one engine.

    Args:
        host: The engine.
    """

    def __init__(self, host: EngineHost) -> None:
        self._host = host
        self._attached: AttachedPrograms | None = None
        self._supervising = anyio.CancelScope()
        self._supervised: Sequence[SupervisedProgram] = ()
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

    async def supervise(self) -> None:
        """Run the programs of the configuration until cancelled, or until all are given up."""
        configuration = (await self._host.engine()).configuration
        settings = configuration.for_folder(None)
        if not any(program.enabled for program in settings.endpoints.values()):
            return
        programs = await self._loaded()
        make = await to_thread.run_sync(SUPERVISED.load)
        plans = await to_thread.run_sync(_plans, settings, configuration.secrets)
        self._supervised = [make(plan, programs, about=about_hub(), clock=SYSTEM_CLOCK) for plan in plans]
        with self._supervising:
            async with anyio.create_task_group() as tasks:
                for supervised in self._supervised:
                    tasks.start_soon(supervised.run, name=supervised.plan.name)

    async def shut_down(self) -> None:
        """Ask all to leave."""
        if self._attached is not None:
            with anyio.move_on_after(FAREWELL):
                await self._attached.shut_down()
        self._supervising.cancel()

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
        return [supervised.row() for supervised in self._supervised]

    async def _loaded(self) -> "AttachedPrograms":
        engine = await self._host.engine()
        async with self._loading:
            programs = self._attached
            if programs is None:
                make = await to_thread.run_sync(PROGRAMS.load)
                fires = (await to_thread.run_sync(FIRES.load))(find_locations(os.environ), clock=SYSTEM_CLOCK)
                programs = self._attached = make(fires=fires, clock=SYSTEM_CLOCK)
                engine.shared.added.append(programs.lent.extension)
        return programs


def _plans(settings: Settings, secrets: SecretCache) -> Sequence["ProgramPlan"]:
    """The programs to run; one whose variables cannot be resolved is left out. Blocks: keys may have to be read."""
    make, found = PLAN.load(), list["ProgramPlan"]()
    for name, program in settings.endpoints.items():
        if not program.enabled:
            continue
        try:
            env = {variable: text.get(settings.environ, secrets) for variable, text in program.env.items()}
        except ConfigError as error:
            log.error(  # noqa: TRY400 - no traceback needed
                "a program is not started: a variable cannot be resolved",
                extra={"program": name, "reason": error.message},
            )
            continue
        found.append(make(name=name, argv=(program.command, *program.args), env=env))
    return found


if TYPE_CHECKING:
    _conforms: type[ResultTaker] = Programs
