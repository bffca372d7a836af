"""From a prompt to its outcome: waits for its place, runs a command or the loop, gives the session a title."""

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread
from anyio.abc import TaskGroup

from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.loop import Outcome, Turn
from claw_acp.agent.steering import SteeringPrompt
from claw_acp.audit.log import AuditLog
from claw_acp.config.current import CurrentSettings
from claw_acp.config.locations import Locations
from claw_acp.contracts.command import Asks, Said, Summarizes, TakesAttempt, Tries
from claw_acp.contracts.place import Place
from claw_acp.core.child_environment import pass_on
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.core.messages import AudioPart, ContentPart, ImagePart, TextPart
from claw_acp.core.mode import is_wider
from claw_acp.core.value import replace
from claw_acp.providers.assembly import factory_of, plain
from claw_acp.providers.fallback.succession import Successions
from claw_acp.providers.selection.resolve import resolve
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.providers.text_tools.provider import ToolModes
from claw_acp.registry.foreign_code import is_cancellation
from claw_acp.registry.lazy import Lazy
from claw_acp.registry.reference import Ref
from claw_acp.runtime.billing import limits_of
from claw_acp.runtime.discovery import Discovery
from claw_acp.runtime.handoff import Handoffs
from claw_acp.runtime.key_status import KeyStatus
from claw_acp.runtime.lead_workspace import LeadWorkspace
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.model_selection import check_attachments, choose_answerer
from claw_acp.runtime.permissions import configured_rules, current_policy, describe_rules, may_be_told, places_of
from claw_acp.runtime.place_facts import leave_files
from claw_acp.runtime.provider_pool import ProviderPool
from claw_acp.runtime.running_turn import JoinedPrompt, RunningTurn
from claw_acp.runtime.session_options import check_mode
from claw_acp.runtime.sessions import Sessions
from claw_acp.runtime.slash_commands import (
    Typed,
    check_repetition,
    command_context,
    find_command,
    keep_answer,
    look_for_commands,
    may_be_command,
    misspelt,
    report_unheard,
    text_behind_steer,
)
from claw_acp.runtime.tracing import Tracing
from claw_acp.runtime.trust import offer_trust
from claw_acp.runtime.turn_factory import TurnFactory
from claw_acp.security.permission_store import PermissionStore
from claw_acp.security.policy import Policy
from claw_acp.session.checkpoints.recorder import RecordedWorkspace
from claw_acp.session.checkpoints.session_checkpoints import SessionCheckpoints
from claw_acp.session.prompt_message import is_again
from claw_acp.session.stores import Ledger, SessionLocks
from claw_acp.session.titles import title_of
from claw_acp.store.contents import ContentStore

if TYPE_CHECKING:
    from claw_acp.runtime.attempts import AttemptRuns

ATTEMPTS: "Ref[Callable[..., AttemptRuns]]" = Ref("claw_acp.runtime.attempts:AttemptRuns")
TAKE_ATTEMPT: Ref[Callable[..., Awaitable[Outcome]]] = Ref("claw_acp.runtime.attempt_taking:take_attempt")

PRICES_TIMEOUT = 3.0  # seconds the first prompt under a budget waits for prices that are just being fetched
SETTLING = 1.0  # seconds from the opening of a session that its first prompt waits for MCP servers


class Turns:
    """Runs prompts; owns what only they need: tools, providers, permissions.

    Args:
        sessions: For commands that copy or rename a session.
        configuration: The settings of their folders.
        discovery: Looks for models after a prompt.
        ledger: The spending so far.
        locks: Exclude other processes from a session during a turn.
        locations: Our own directories.
        keys: Records which keys services accept.
        clock: Time.
        tasks: The task group of turns.

    Attributes:
        tracing: Follows sessions with spans and metrics.
    """

    def __init__(
        self,
        *,
        sessions: Sessions,
        configuration: CurrentSettings,
        discovery: Discovery,
        ledger: Ledger,
        locks: SessionLocks,
        locations: Locations,
        keys: KeyStatus,
        clock: Clock,
        tasks: TaskGroup,
    ) -> None:
        self._sessions = sessions
        self._configuration = configuration
        self._discovery = discovery
        self._ledger = ledger
        self._locks = locks
        self._locations = locations
        self._keys = keys
        self._clock = clock
        self._tasks = tasks
        tool_modes = ToolModes(locations.cache_dir / "tool_modes.json", clock=clock)
        make = partial(plain, tool_modes=tool_modes, clock=clock, about=configuration.about, tasks=tasks)
        successions = Successions(
            about=configuration.about, on_listed=discovery.listed, on_picture_refused=configuration.refused_picture,
            clock=clock,
        )  # fmt: skip
        self._providers = ProviderPool(clock=clock, make=make, successions=successions)
        audit = AuditLog(locations, section=configuration.for_folder(None).audit, clock=clock)
        self._permissions = PermissionStore(locations.permissions_file, note=partial(audit.record, "rules"))
        self._contents = ContentStore(locations.content_dir, own=locations.directories)
        self._turns = TurnFactory(
            ledger=ledger, permissions=self._permissions, locations=locations, contents=self._contents, tasks=tasks,
            providers=self._providers, secrets=configuration.secrets, audit=audit, clock=clock,
            sessions=sessions, start=self.start,
        )  # fmt: skip
        self._attempts = Lazy(self._make_attempts)
        self.tracing = Tracing(configuration, clock=clock)
        self._handoffs = Handoffs(sessions, clock=clock, tasks=tasks)

    def start(
        self,
        live: LiveSession,
        prompt: Sequence[ContentPart],
        *,
        ports: ClientPorts,
        steer: bool = False,
        place: Place | None = None,
    ) -> RunningTurn | JoinedPrompt:
        """Start a turn in a session, behind those that run or wait there, and return at once.

        With `steer` the prompt joins the running turn instead, before its next model request, if possible: a command,
        or a prompt with images or sound, waits for its own turn. What is typed behind `/steer` joins it, too.

        The `place` where it was typed, if any, leads the turn, unless the lead of the session was handed over.

        The returned object has its outcome or failure: AuthRequired when the session's model cannot be used without a
        key, InvalidRequest when the model does not accept a part of the prompt, ProviderError when a model request
        failed for good, SessionBusy when another process runs a turn.

        Raises:
            SessionBusy: Too many prompts are waiting.
        """
        behind = text_behind_steer(live.commands, prompt)
        steers = behind is not None or (steer and not may_be_command(live.commands, prompt))
        if steers and _can_join(live, prompt, ports):
            waiting = SteeringPrompt(parts=tuple(prompt), on_accepted=ports.on_accepted, model_parts=behind)
            joined = live.turns[0].join(waiting)
            if joined is not None:
                return joined
        turn = RunningTurn(live.session.queue_turn(), place=place, steers=steers or steer)
        if place is not None:
            ports = replace(ports, workspace=LeadWorkspace(turn, live))
            self._handoffs.settle_lead(turn, live, find_command(live.commands, prompt))
        live.turns.append(turn)
        self._tasks.start_soon(partial(self._run_to_end, turn, live, prompt, ports=ports), name="turn")
        return turn

    async def _run_to_end(
        self, turn: RunningTurn, live: LiveSession, prompt: Sequence[ContentPart], *, ports: ClientPorts
    ) -> None:
        session = live.session

        async def work() -> None:
            try:
                turn.end(await self._run(turn, live, prompt, ports=ports))
            except BaseException as error:
                with session.cleanup_scope():
                    unheard = turn.steering.take()
                    turn.steering.close()
                    await report_unheard(session, unheard)
                turn.end(None if is_cancellation(error) else error)  # before those who wait for the session go on
                raise

        try:
            await self.tracing.follow(live)
            await session.in_turn(turn.scope, work, lock=self._locks.locked(session.id))
            turn.end(None)  # if it never began
        except BaseException as error:
            cancelled = is_cancellation(error)  # with the engine; a turn that is cancelled by itself ends in order
            turn.end(None if cancelled else error)
            if cancelled:
                raise
        finally:
            live.turns.remove(turn)
        self._discovery.look()  # not before: the person waited for the answer, and reads now
        sweep = partial(self._contents.sweep, now=self._clock.now())
        await to_thread.run_sync(sweep, abandon_on_cancel=True)

    async def _run(
        self, running: RunningTurn, live: LiveSession, prompt: Sequence[ContentPart], *, ports: ClientPorts
    ) -> Outcome:
        session, folder = live.session, live.origin.session.roots[0]
        check_mode(live.origin.session.mode, widest=ports.widest_mode)  # not before: others may change it meanwhile
        live.settings = self._configuration.for_folder(folder)  # a key or rule added meanwhile counts
        pass_on(live.settings.pass_variables)
        own = (*self._locations.instruction_files, *live.settings.prompt.files)
        may_read = partial(may_be_told, policy=self._policy(live), places=partial(places_of, session, self._locations))
        await live.prompt.refresh(session.roots, session.record.instructions, own, may_read=may_read)
        await live.extensions.announce()
        await live.extensions.settled(within=SETTLING)
        await look_for_commands(live)
        check_repetition(session, live.commands, prompt, ports.on_accepted)
        if live.records_files:
            await self._checkpoints(live, ports).resume()
        if ports.program is not None:
            return await self._turns.run_program(live, prompt, ports=self._recording(live, ports))
        told = await self._run_command(running, live, prompt, ports=ports)
        if isinstance(told, Outcome):
            return told
        await offer_trust(live, self._locations, ports.asker)
        if not isinstance(told, Summarizes):
            running.steering.open()  # the first request takes along what comes while the model is chosen
        asked = prompt if isinstance(told, Summarizes) else told
        if limits_of(live.settings.budget).amounts:
            await self._discovery.reference.settled(within=PRICES_TIMEOUT)  # it may know what this will cost
        secrets = self._configuration.secrets
        choice = await choose_answerer(
            live.settings, model=session.record.model, prompt=asked, pool=self._providers, secrets=secrets
        )
        live.settings = self._configuration.for_folder(folder)  # with keys that were read now, to hide them
        async with self._providers.lent(choice) as provider:
            check_attachments(provider, choice, asked)
            recording = self._recording(live, ports)
            turn = self._turns.make(live, choice=choice, provider=provider, ports=recording, steering=running.steering)
            return await self._run_turn(live, turn, prompt, told=told, choice=choice, ports=ports)

    def _recording(self, live: LiveSession, ports: ClientPorts) -> ClientPorts:
        if not live.records_files:
            return ports
        return replace(ports, workspace=RecordedWorkspace(ports.workspace, session=live.session, store=self._contents))

    async def _run_turn(
        self,
        live: LiveSession,
        turn: Turn,
        prompt: Sequence[ContentPart],
        *,
        told: Sequence[ContentPart] | Summarizes,
        choice: ResolvedModel,
        ports: ClientPorts,
    ) -> Outcome:
        session, asked = live.session, live.session.record.model
        title = None if session.record.title or isinstance(told, Summarizes) else title_of(prompt)
        if title is None:
            session.touch()
        else:
            await session.change(title=title)
        try:
            if isinstance(told, Summarizes):
                outcome = await turn.summarize(prompt, focus=told.focus, on_accepted=ports.on_accepted)
            else:
                parts = None if told is prompt else told
                outcome = await turn.run(prompt, model_parts=parts, on_accepted=ports.on_accepted)
        finally:
            leave_files(session)
            for setup in choice.setups:
                self._keys.record(setup, refused=self._providers.health.is_refused(setup))
        answering = self._providers.successions.applied(choice)
        if answering.replaced and not choice.sees and session.record.model == asked:
            await session.change(model=answering.name)
        return outcome

    async def report(self, live: LiveSession, *, title: str, text: str) -> None:
        """Show and store a text in a session, outside the conversation that models see; waits for a running turn.

        Raises:
            SessionBusy: Another process runs a turn, or too many prompts are waiting.
        """
        session = live.session
        work = partial(keep_answer, session, typed=[TextPart(text=title)], answer=Said(text=text), clock=self._clock)
        await session.in_turn(session.queue_turn(), work, lock=self._locks.locked(session.id))

    def load_provider(self, live: LiveSession) -> None:
        """Import the provider of the session's model. Blocks: for a worker thread.

        Problems with the model are left for the prompt to report.
        """
        with contextlib.suppress(ClawError):
            for setup in resolve(live.settings, model=live.session.record.model).setups:
                factory_of(setup)

    async def aclose(self) -> None:
        """Close the providers, and send what is known about turns."""
        await self._providers.aclose()
        await self.tracing.aclose()

    async def _run_command(
        self, running: RunningTurn, live: LiveSession, prompt: Sequence[ContentPart], *, ports: ClientPorts
    ) -> Sequence[ContentPart] | Summarizes | Outcome:
        """Return the prompt for the model: the original, or the one a command stands for; or the command's outcome."""
        commands = live.commands
        typed = find_command(commands, prompt)
        result = (
            await misspelt(commands, prompt) if typed is None else await self._carry_out(running, live, typed, ports)
        )
        match result:
            case None:
                return prompt
            case Said():
                await keep_answer(
                    live.session, typed=prompt, answer=result, clock=self._clock, on_accepted=ports.on_accepted
                )
                return Outcome(stop="end_turn", usage=None)
            case Tries() | TakesAttempt():
                return await self._about_attempts(live, result, prompt, rest=typed.rest if typed else (), ports=ports)
            case _:
                return result

    async def _about_attempts(
        self, live: LiveSession, wish: Tries | TakesAttempt, prompt: Sequence[ContentPart], *,
        rest: Sequence[ContentPart], ports: ClientPorts,
    ) -> Outcome:  # fmt: skip
        if isinstance(wish, Tries):
            await offer_trust(live, self._locations, ports.asker)
            return await self._attempts().run(live, wish, prompt, rest=rest, ports=ports)
        return await TAKE_ATTEMPT.load()(
            live.session, wish, prompt, checkpoints=self._checkpoints(live, ports), policy=self._policy(live),
            context=places_of(live.session, self._locations), clock=self._clock, on_accepted=ports.on_accepted,
        )  # fmt: skip

    async def sweep_attempts(self) -> None:
        """Remove what a killed program left behind of its attempts."""
        if self._locations.attempts_dir.is_dir():
            await self._attempts().sweep()

    def _make_attempts(self) -> "AttemptRuns":
        return ATTEMPTS.load()(
            sessions=self._sessions, start=self.start, directory=self._locations.attempts_dir, contents=self._contents,
            policy=self._policy, places=partial(places_of, own=self._locations), clock=self._clock,
            tasks=self._tasks, sandboxes=self._turns.sandboxes,
        )  # fmt: skip

    def _policy(self, live: LiveSession) -> Policy:
        return current_policy(configured_rules(live.settings), self._permissions, live.origin.session.roots[0])

    def _checkpoints(self, live: LiveSession, ports: ClientPorts) -> SessionCheckpoints:
        return SessionCheckpoints(live.session, workspace=ports.workspace, store=self._contents, clock=self._clock)

    async def _carry_out(
        self, running: RunningTurn, live: LiveSession, typed: Typed, ports: ClientPorts
    ) -> Said | Sequence[ContentPart] | Summarizes | Tries | TakesAttempt:
        """The command's answer, the prompt that it stands for, or what it wants to be done."""
        rules, project = configured_rules(live.settings), live.origin.session.roots[0]
        context = command_context(
            live,
            sessions=self._sessions,
            ledger=self._ledger,
            locations=self._locations,
            rules=describe_rules(rules, self._permissions, project),
            policy=self._policy(live),
            checkpoints=self._checkpoints(live, ports),
            ports=ports,
            hand_over=partial(self._handoffs.hand_over, live, running),
            tasks=partial(self._turns.background, live),
        )
        result = await typed.command.run(typed.argument, context)
        if not isinstance(result, Asks):
            return result
        if result.remark:
            remark = Notice(item=new_id("ntc", clock=self._clock), severity="info", title=result.remark)
            await live.session.broadcast(remark)
        return (*((TextPart(text=result.prompt),) if result.prompt else ()), *result.attachments, *typed.rest)


def _can_join(live: LiveSession, prompt: Sequence[ContentPart], ports: ClientPorts) -> bool:
    """Return whether a prompt may join the running turn, whose model has been chosen already."""
    if is_again(ports.on_accepted) or is_wider(live.origin.session.mode, ports.widest_mode):
        return False
    if not live.turns or any(turn.steers for turn in live.turns[1:]):  # those came first, and stay first
        return False
    return not any(isinstance(part, ImagePart | AudioPart) for part in prompt)
