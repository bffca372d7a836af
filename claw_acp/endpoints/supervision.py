"""The supervised programs of a hub, kept in step with the configuration."""

import logging
from collections.abc import Sequence

import anyio
from anyio.abc import TaskGroup

from claw_acp.core.clock import Clock
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Record, made_by
from claw_acp.endpoints.attached import AttachedPrograms
from claw_acp.endpoints.program_plan import ProgramPlan, ProgramPlans
from claw_acp.endpoints.supervised import SupervisedProgram

log = logging.getLogger(__name__)


class _Running(Record):
    program: SupervisedProgram
    scope: anyio.CancelScope = made_by(default_factory=anyio.CancelScope)
    ended: anyio.Event = made_by(default_factory=anyio.Event)


class Supervision:
    """Runs the programs of the configuration.

    Args:
        programs: Serve them.
        about: What they are told about the host.
        clock: Time.
        tasks: Runs them.
    """

    def __init__(self, programs: AttachedPrograms, *, about: JsonObject, clock: Clock, tasks: TaskGroup) -> None:
        self._programs = programs
        self._about = about
        self._clock = clock
        self._tasks = tasks
        self._running: dict[str, _Running] = {}
        self._problems: dict[str, str] = {}

    def follow(self, plans: ProgramPlans) -> None:
        """Run what is planned from now on. What did not change goes on, also where nobody can tell."""
        self._tell(plans)
        if plans.unreadable:
            return
        wanted = {plan.name: plan for plan in plans.plans}
        for name, running in tuple(self._running.items()):
            plan = wanted.pop(name, None)
            if name in plans.problems or (plan is not None and _is_same(running.program.plan, plan)):
                continue
            log.info("a program of the configuration is stopped", extra={"program": name})
            running.scope.cancel()
            if plan is None:
                del self._running[name]
            else:
                self._start(plan, after=running)
        for plan in wanted.values():
            self._start(plan)

    def rows(self) -> Sequence[JsonObject]:
        """The programs with their states, as a status shows them."""
        rows = {name: running.program.row() for name, running in self._running.items()}
        for name, problem in self._problems.items():
            rows[name] = {"name": name, "state": "not started", **rows.get(name, {}), "reason": problem}
        return list(rows.values())

    def _tell(self, plans: ProgramPlans) -> None:
        """Log what is wrong, once."""
        problems = dict(plans.problems) | ({"config.toml": plans.unreadable} if plans.unreadable else {})
        for name, problem in problems.items():
            if self._problems.get(name) != problem:
                log.error("a program of the configuration: %s", problem)
        self._problems = problems

    def _start(self, plan: ProgramPlan, *, after: _Running | None = None) -> None:
        program = SupervisedProgram(plan, self._programs, about=self._about, clock=self._clock)
        running = self._running[plan.name] = _Running(program=program)
        self._tasks.start_soon(self._run, running, after, name=plan.name)

    async def _run(self, running: _Running, after: _Running | None) -> None:
        try:
            with running.scope:
                if after is not None:
                    await after.ended.wait()
                await running.program.run()
        finally:
            running.ended.set()


def _is_same(before: ProgramPlan, now: ProgramPlan) -> bool:
    """Return whether nothing has to be done; a file that is missing now is being replaced, and comes back."""
    if before.argv != now.argv or before.env != now.env:
        return False
    return all(stamp in {None, before.files.get(file)} for file, stamp in now.files.items())
