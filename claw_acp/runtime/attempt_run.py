"""One attempt: a turn in a session and a copy of the project of its own, and what came of it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import anyio
from anyio import to_thread

from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.loop import Outcome
from claw_acp.agent.relayed_questions import NamedAsker, SharedQuestions
from claw_acp.attempts.changes import changes_of, line_counts
from claw_acp.attempts.claims import Claim
from claw_acp.attempts.halting import in_thread
from claw_acp.attempts.progress import AttemptProgress
from claw_acp.attempts.repositories import Repository
from claw_acp.attempts.workspace import AttemptWorkspace
from claw_acp.attempts.worktrees import attempt_environment, make_worktree, stamps_of
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError
from claw_acp.core.events import Attempt, AttemptStatus
from claw_acp.core.ids import new_id
from claw_acp.core.messages import ContentPart, TextPart, Usage
from claw_acp.core.value import Value, replace
from claw_acp.runtime.attempt_checks import CheckedCopy
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.running_turn import Start, outcome_of
from claw_acp.runtime.sessions import Sessions
from claw_acp.security.policy import PolicyContext
from claw_acp.session.prompt_message import ignore
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import CLEANUP_TIMEOUT, Session
from claw_acp.store.contents import ContentStore

LONGEST_WORDS: Final = 4_000  # characters

_PLACE: Final = (
    "This is attempt {number} of {count} at this prompt; they are made side by side and compared afterwards. You work "
    "in a copy of the project, {copy}: what was said of files in {project} holds for the copies here."
)


class Places(Protocol):
    """Returns the environment of decisions in a session."""

    def __call__(self, session: Session, *, origin: Session) -> PolicyContext:
        """See `runtime.permissions.places_of`."""
        ...


class AttemptServices(Value):
    """The services that attempts use: see `AttemptRuns`."""

    sessions: Sessions
    start: Start
    contents: ContentStore
    places: Places
    clock: Clock


class AttemptPlan(Value):
    """The part that all attempts at one prompt share.

    Attributes:
        claim: The folder of their copies.
        repositories: The project.
        paths: Its files that were copied.
        prompt: The prompt.
        records: The sessions of the attempts.
        ports: The client's, with what it allows the turn.
    """

    claim: Claim
    repositories: Sequence[Repository]
    paths: Sequence[str]
    prompt: Sequence[ContentPart]
    records: Sequence[SessionRecord]
    ports: ClientPorts


def copy_folder(claim: Claim, number: int, project: Path) -> Path:
    """The folder of the copy that an attempt works in; it has the name of the project."""
    return claim.folder / str(number) / (project.name or "project")


class AttemptRun:
    """One attempt.

    Args:
        services: What it uses.
        live: The session of the prompt.
        plan: What it has in common with the others.
        number: Its number.
        questions: Ask the person.
    """

    def __init__(
        self,
        services: AttemptServices,
        live: LiveSession,
        plan: AttemptPlan,
        *,
        number: int,
        questions: SharedQuestions,
    ) -> None:
        self._services = services
        self._live = live
        self._plan = plan
        self._number = number
        self._asker = NamedAsker(questions, name=f"Attempt {number}")
        self.usage: Usage | None = None
        """The tokens of its model requests, if any were reported."""
        self._project = plan.repositories[0].top
        self._copy = copy_folder(plan.claim, number, self._project)
        self._record = plan.records[number - 1]
        self.left: CheckedCopy | None = None
        """The copy as the attempt left it; None if there was no turn."""
        self._progress = AttemptProgress(
            live.session, call=new_id("call", clock=services.clock), title=f"Attempt {number}: {self._record.model}"
        )

    async def carry_out(self, preparing: anyio.Lock) -> Attempt:
        """Make the attempt; one that cannot be made has failed.

        Args:
            preparing: Held while git makes its worktree.
        """
        await self._progress.begin()
        attempt = Attempt(number=self._number, model=self._record.model, status="cancelled")
        try:
            attempt = await self._made(attempt, preparing)
        except (ClawError, OSError) as error:
            attempt = replace(attempt, status="failed", words=str(error))
        finally:
            with self._live.session.cleanup_scope():
                await self._progress.end(attempt.status, attempt.words)
        return attempt

    async def _made(self, attempt: Attempt, preparing: anyio.Lock) -> Attempt:
        base, store = self._plan.claim.folder / "base", self._services.contents
        async with preparing:
            make = partial(make_worktree, self._plan.repositories, self._copy, base=base)
            await in_thread(lambda halt: make(halt=halt))
        stamps = await to_thread.run_sync(stamps_of, self._copy, self._plan.paths)
        attempt = await self._with_turn(attempt)
        find = partial(changes_of, self._copy, base=base, project=self._project, stamps=stamps, store=store)
        changes = await to_thread.run_sync(find)
        lines = await to_thread.run_sync(partial(line_counts, changes, store=store))
        return replace(attempt, changes=tuple(changes), added=lines.added, removed=lines.removed)

    async def _with_turn(self, attempt: Attempt) -> Attempt:
        """The attempt after its turn, in a session that exists only for this."""
        child = await self._services.sessions.attempt(self._live, self._record)
        child.session.subscribers.append(self._progress)
        before, said = None, 0
        sources: tuple[str, ...] = ()
        try:
            await child.session.catch_up()
            before, said = child.session.history.usage, len(child.session.history.messages())
            outcome = await self._turn(child)
            status: AttemptStatus = "cancelled" if outcome.stop == "cancelled" else "completed"
            words = _last_words(child, after=said)
        except ClawError as error:
            status, words = "failed", error.message
        finally:
            usage, sources = child.session.history.usage, child.session.history.untrusted_sources
            with anyio.CancelScope(shield=True, deadline=anyio.current_time() + CLEANUP_TIMEOUT):
                await self._services.sessions.delete(child.session.id)
        cost = None if usage is None or usage is before else usage.total
        return replace(attempt, status=status, words=words[:LONGEST_WORDS], cost=cost, sources=sources)

    async def _turn(self, child: LiveSession) -> Outcome:
        place = _PLACE.format(
            number=self._number, count=len(self._plan.records), copy=self._copy, project=self._project
        )
        workspace = AttemptWorkspace(
            child.workspace,
            project=self._project,
            copy=self._copy,
            environment=attempt_environment(self._plan.claim.marker),
        )
        self.left = CheckedCopy(
            folder=self._copy,
            root=child.session.roots[0],
            workspace=workspace,
            context=self._services.places(child.session, origin=self._live.session),
        )
        ports = self._plan.ports
        cost = None if ports.cost is None else ports.cost // len(self._plan.records)
        ports = replace(ports, workspace=workspace, asker=self._asker, on_accepted=ignore, cost=cost)
        turn = self._services.start(child, (*self._plan.prompt, TextPart(text=place)), ports=ports)
        outcome = await outcome_of(turn)
        self.usage = outcome.usage
        return outcome


def _last_words(child: LiveSession, *, after: int) -> str:
    messages = child.session.history.messages()[after:]
    return messages[-1].text.strip() if messages and messages[-1].role == "assistant" else ""
