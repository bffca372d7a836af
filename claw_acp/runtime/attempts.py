"""`/try`: attempts at a prompt, side by side, in sessions of their own; one is taken."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from claw_acp.agent.billing import usage_besides
from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.loop import Outcome
from claw_acp.agent.relayed_questions import SharedQuestions
from claw_acp.agent.turn_frame import framed_turn
from claw_acp.attempts.claims import Claim
from claw_acp.attempts.halting import in_thread
from claw_acp.attempts.progress import TOOL
from claw_acp.attempts.repositories import project_repositories
from claw_acp.attempts.worktrees import copy_files
from claw_acp.commands.attempt_table import attempt_table
from claw_acp.contracts.command import Tries
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError
from claw_acp.core.events import Attempt, AttemptsChanged, StopReason
from claw_acp.core.ids import new_id
from claw_acp.core.messages import ContentPart, TextPart, Usage
from claw_acp.core.value import replace
from claw_acp.runtime.attempt_checks import AttemptChecks
from claw_acp.runtime.attempt_run import AttemptPlan, AttemptRun, AttemptServices, Places, copy_folder
from claw_acp.runtime.audited import record
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.running_turn import Start
from claw_acp.runtime.sessions import Sessions
from claw_acp.runtime.slash_commands import publish_answer, publish_typed
from claw_acp.security.policy import Policy
from claw_acp.session.forking import forked
from claw_acp.session.record import SessionRecord
from claw_acp.session.titles import title_of
from claw_acp.store.contents import ContentStore

if TYPE_CHECKING:
    from claw_acp.agent.command_sandboxes import CommandSandboxes

log = logging.getLogger(__name__)

CLEARING: Final = 1.0  # seconds that the end of a turn waits for the removal of copies; it goes on behind that


class AttemptRuns:
    """Makes the attempts of `/try`.

    Args:
        sessions: Makes their sessions.
        start: Starts their turns.
        contents: Stores what they changed.
        clock: Time.
        directory: The folder for copies of projects.
        tasks: Removes copies when nobody waits any more.
        sandboxes: Confine the checks.
    """

    def __init__(
        self, *, sessions: Sessions, start: Start, directory: Path, contents: ContentStore,
        policy: Callable[[LiveSession], Policy], places: Places, clock: Clock,
        tasks: TaskGroup, sandboxes: "Callable[[LiveSession], Callable[[], CommandSandboxes] | None]",
    ) -> None:  # fmt: skip
        self._services = AttemptServices(sessions=sessions, start=start, contents=contents, places=places, clock=clock)
        self._policy = policy
        self._sessions = sessions
        self._directory = directory
        self._clock = clock
        self._tasks = tasks
        self._sandboxes = sandboxes

    async def sweep(self) -> None:
        """Remove what killed programs left behind of their attempts."""
        claims = await to_thread.run_sync(lambda: list(Claim.abandoned(self._directory)))
        for claim in claims:
            log.info("attempts of a killed program are removed", extra={"folder": str(claim.folder)})
            for session in claim.sessions:
                await self._sessions.delete(session)
            await to_thread.run_sync(claim.clear)

    async def run(
        self, live: LiveSession, tries: Tries, typed: Sequence[ContentPart], *, rest: Sequence[ContentPart],
        ports: ClientPorts,
    ) -> Outcome:  # fmt: skip
        """Make the attempts in a turn of the session, and show them as a table.

        Args:
            live: The session.
            tries: Their number and their prompt.
            typed: The command as it was typed.
            rest: What came with the prompt.
            ports: The client's.
        """
        session = live.session
        prompt = (TextPart(text=tries.prompt), *rest)
        spent: list[Usage] = []

        async def work() -> StopReason:
            await publish_typed(session, typed, clock=self._clock, on_accepted=ports.on_accepted)
            session.touch()
            if not session.record.title and (title := title_of(prompt)) is not None:
                await session.change(title=title)
            try:
                attempts = await self._attempts(live, prompt, count=tries.count, ports=ports, spent=spent)
            except ClawError as error:
                await publish_answer(session, f"No attempt was made: {error.message.rstrip('.')}.", clock=self._clock)
                return "end_turn"
            made = AttemptsChanged(item=new_id("att", clock=self._clock), prompt=prompt, attempts=tuple(attempts))
            await session.publish(made)
            await self._report_cost(live, made, spent)
            await publish_answer(session, attempt_table(attempts), clock=self._clock)
            return "end_turn"

        def usage() -> Usage | None:
            return sum(spent, start=Usage()) if spent else None

        stop = await framed_turn(session, work, usage=usage, clock=self._clock)
        return Outcome(stop=stop, usage=usage())

    async def _report_cost(self, live: LiveSession, made: AttemptsChanged, spent: Sequence[Usage]) -> None:
        costs = [attempt.cost for attempt in made.attempts if attempt.cost is not None]
        if not (spent or costs):
            return
        cost, request = sum(costs) if costs else None, sum(spent, start=Usage())
        await live.session.publish(
            usage_besides(live.session.history.usage, item=made.item, request=request, cost=cost)
        )

    async def _attempts(
        self, live: LiveSession, prompt: Sequence[ContentPart], *, count: int, ports: ClientPorts, spent: list[Usage]
    ) -> Sequence[Attempt]:
        find = partial(project_repositories, live.session.roots[0], left_out=self._directory.resolve())
        repositories = await to_thread.run_sync(find)
        claim = await to_thread.run_sync(Claim.new, self._directory, new_id("att", clock=self._clock))
        try:
            records = [self._record(live, claim, repositories[0].top, number) for number in range(1, count + 1)]
            commons = tuple(dict.fromkeys(repository.common for repository in repositories))
            ids = [record.id for record in records]
            await to_thread.run_sync(partial(claim.note, commons=commons, sessions=ids))
            copy = partial(copy_files, repositories, claim.folder / "base", copies=count)
            paths = await in_thread(lambda halt: copy(halt=halt))
            plan = AttemptPlan(
                claim=claim, repositories=repositories, paths=paths, prompt=prompt, records=records, ports=ports
            )
            questions = SharedQuestions(live.session, asker=ports.asker, tool=TOOL, clock=self._clock)
            preparing = anyio.Lock()

            runs = [
                AttemptRun(self._services, live, plan, number=number, questions=questions)
                for number in range(1, count + 1)
            ]
            made = await self._made(runs, preparing)
            spent += [usage for run in runs if (usage := run.usage) is not None]
            if live.settings.repair == "off" or ports.only_tools is not None:
                return made
            return await self._checked(live, made, runs, project=repositories[0].top, questions=questions)
        finally:
            await self._clear(claim)

    async def _made(self, runs: Sequence[AttemptRun], preparing: anyio.Lock) -> Sequence[Attempt]:
        """Make all attempts side by side."""
        done: dict[int, Attempt] = {}

        async def one(number: int, run: AttemptRun) -> None:
            done[number] = await run.carry_out(preparing)

        async with anyio.create_task_group() as tasks:
            for number, run in enumerate(runs, 1):
                tasks.start_soon(one, number, run)
        return [done[number] for number in sorted(done)]

    async def _checked(
        self, live: LiveSession, made: Sequence[Attempt], runs: Sequence[AttemptRun], *, project: Path,
        questions: SharedQuestions,
    ) -> Sequence[Attempt]:  # fmt: skip
        """The attempts with the checks of the project counted."""
        sandboxes = self._sandboxes(live)
        checks = AttemptChecks(
            live.session,
            sandboxes=None if sandboxes is None else sandboxes(),
            project=project,
            questions=questions,
            policy=self._policy(live),
            store=self._services.contents,
            record=partial(record, live.configuration, "check", session=live.session.id),
        )
        ended = [(attempt, run.left) for attempt, run in zip(made, runs, strict=True)]
        checked = await checks.run([(attempt, left) for attempt, left in ended if left is not None and attempt.changes])
        counted = {attempt.number: attempt for attempt in checked}
        return [counted.get(attempt.number, attempt) for attempt in made]

    def _record(self, live: LiveSession, claim: Claim, project: Path, number: int) -> SessionRecord:
        """The record of an attempt's session: a copy of the session, which ordinary lists leave out."""
        copy = copy_folder(claim, number, project)
        folder, *more = (
            copy / root.relative_to(project) for root in live.session.roots if root.is_relative_to(project)
        )
        models = live.settings.try_models or (live.session.record.model,)
        return replace(
            forked(live.session.record, clock=self._clock, cwd=str(folder), additional=[str(path) for path in more]),
            model=models[(number - 1) % len(models)],
            title=f"Attempt {number}: {live.session.record.title or 'no title'}",
            title_given=True,
            archived=True,
        )

    async def _clear(self, claim: Claim) -> None:
        """Remove the copies; when that takes long, or the turn is cancelled, it goes on behind the turn."""
        cleared = anyio.Event()

        async def clear() -> None:
            await to_thread.run_sync(claim.clear)
            cleared.set()

        self._tasks.start_soon(clear, name="removal of attempts")
        with anyio.move_on_after(CLEARING, shield=True):
            await cleared.wait()
