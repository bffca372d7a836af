"""From a prompt to its outcome: waits for the session's turn, runs a command or the loop, names the session."""

import contextlib
from collections.abc import Sequence
from functools import partial

from anyio import to_thread

from claw_acp.agent.call_drafts import CallDrafts
from claw_acp.agent.desk import Desk
from claw_acp.agent.gate import Gate
from claw_acp.agent.loop import Outcome, Turn
from claw_acp.agent.model_request import ModelRequester
from claw_acp.agent.system_prompt import system_prompt
from claw_acp.agent.tool_runner import ToolRunner
from claw_acp.contracts.attachment import Attachment
from claw_acp.contracts.command import Asks
from claw_acp.contracts.provider import ChatOptions, Provider
from claw_acp.core.errors import ClawError
from claw_acp.core.messages import ContentPart, TextPart
from claw_acp.core.redaction import Redactor
from claw_acp.core.value import replace
from claw_acp.providers.assembly import factory_of, plain
from claw_acp.providers.own_keys import own_keys
from claw_acp.providers.resolve import resolve
from claw_acp.providers.resolved_model import ResolvedModel
from claw_acp.providers.succession import Successions
from claw_acp.providers.tool_modes import ToolModes
from claw_acp.runtime.answerer import capabilities_of, check_attachments, choose_answerer
from claw_acp.runtime.billing import Till, limits_of
from claw_acp.runtime.choices import effort_of, hidden_tools
from claw_acp.runtime.engine import Engine, OpenSession
from claw_acp.runtime.models import ProviderPool
from claw_acp.runtime.permissions import configured_rules, current_policy, describe_rules, places_of
from claw_acp.runtime.registries import make_toolbox
from claw_acp.runtime.slash import Typed, command_context, find_command, keep_answer, look_for_commands, misspelt
from claw_acp.security.permission_store import PermissionStore
from claw_acp.session.session import Session
from claw_acp.session.titles import title_of

PRICED_WITHIN = 3.0  # seconds the first prompt under a budget waits for prices that are just being fetched
SETTLING = 1.0  # seconds from the opening of a session that its first prompt waits for MCP servers


class Turns:
    """Runs prompts; owns what only they need: tools, providers, permissions."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._toolbox = make_toolbox()
        tool_modes = ToolModes(engine.locations.cache_dir / "tool_modes.json", clock=engine.clock)
        make = partial(plain, tool_modes=tool_modes, clock=engine.clock, about=engine.configuration.about)
        known = engine.configuration
        successions = Successions(
            about=known.about, told=engine.discovery.listed, blind=known.refused_picture, clock=engine.clock
        )
        self._providers = ProviderPool(clock=engine.clock, make=make, successions=successions)
        self._told: set[tuple[str, str]] = set()  # sessions, and why another model answers in them
        self._till = Till(engine)
        self._permissions = PermissionStore(engine.locations.permissions_file)

    async def run(self, opened: OpenSession, prompt: Sequence[ContentPart], *, desk: Desk) -> Outcome:
        """Run one prompt in a session, after those that wait before it.

        Raises:
            SessionBusy: Too many wait already, or another process runs a turn in this session.
            AuthRequired: The session's model cannot be used without a key.
            InvalidRequest: The prompt holds something that the model cannot take in.
            ProviderError: A model request failed for good; the session stays usable.
        """
        session = opened.session
        work = partial(self._run, opened, prompt, desk=desk)
        try:
            outcome = await session.in_turn(work, lock=self._engine.locks.hold(session.id))
        finally:
            self._engine.discovery.look()  # not before: the person waited for the answer, and reads now
        return outcome or Outcome(stop="cancelled", usage=None)

    async def _run(self, opened: OpenSession, prompt: Sequence[ContentPart], *, desk: Desk) -> Outcome:
        session = opened.session
        opened.settings = self._engine.settings(session.roots[0])  # a key or rule added meanwhile counts
        given = session.record.instructions
        if opened.system is None or opened.system_given != given:
            opened.system = await to_thread.run_sync(system_prompt, session.roots, given)
            opened.system_given = given
        if opened.attachment is not None:
            await opened.attachment.introduce()
            await opened.attachment.settled(within=SETTLING)
        await look_for_commands(opened)
        told = await self._run_command(opened, prompt, desk=desk)
        if told is None:
            return Outcome(stop="end_turn", usage=None)
        if limits_of(opened.settings.budget).amounts:
            await self._engine.discovery.reference.settled(within=PRICED_WITHIN)  # it may know what this will cost
        choice = await choose_answerer(opened.settings, model=session.record.model, prompt=told, pool=self._providers)
        async with self._providers.lent(choice) as provider:
            check_attachments(provider, choice, told)
            turn = self._turn(opened, choice=choice, provider=provider, desk=desk)
            return await self._run_turn(opened, turn, prompt, told=told, choice=choice, desk=desk)

    async def _run_turn(
        self,
        opened: OpenSession,
        turn: Turn,
        prompt: Sequence[ContentPart],
        *,
        told: Sequence[ContentPart],
        choice: ResolvedModel,
        desk: Desk,
    ) -> Outcome:
        session, asked = opened.session, opened.session.record.model
        title = None if session.record.title else title_of(prompt)
        if title is None:
            session.touch()
        else:
            await session.change(title=title)
        try:
            outcome = await turn.run(prompt, model_parts=None if told is prompt else told, on_accepted=desk.on_accepted)
        finally:
            for setup in choice.setups:
                self._engine.note_key(setup, refused=self._providers.health.is_refused(setup))
        answering = self._providers.successions.applied(choice)
        if answering.replaced and not choice.sees and session.record.model == asked:
            await session.change(model=answering.name)
        return outcome

    def load_provider(self, opened: OpenSession) -> None:
        """Import what the session's model is reached by. Blocks: for a worker thread.

        A choice that cannot be made is left for the prompt to explain.
        """
        with contextlib.suppress(ClawError):
            for setup in resolve(opened.settings, model=opened.session.record.model).setups:
                factory_of(setup)

    async def aclose(self) -> None:
        """Close the providers."""
        await self._providers.aclose()

    async def _run_command(
        self, opened: OpenSession, prompt: Sequence[ContentPart], *, desk: Desk
    ) -> Sequence[ContentPart] | None:
        """What the model is told: the prompt itself, or what a command in it stands for; None: the command answered."""
        commands = opened.commands()
        typed = find_command(commands, prompt)
        answer = await misspelt(commands, prompt) if typed is None else await self._carry_out(opened, typed)
        if not isinstance(answer, str):
            return prompt if answer is None else answer
        await keep_answer(
            opened.session, typed=prompt, answer=answer, clock=self._engine.clock, on_accepted=desk.on_accepted
        )
        return None

    async def _carry_out(self, opened: OpenSession, typed: Typed) -> str | Sequence[ContentPart]:
        """The command's answer, or the prompt that it stands for."""
        rules, project = configured_rules(opened.settings), opened.session.roots[0]
        context = command_context(
            self._engine,
            opened,
            rules=describe_rules(rules, self._permissions, project),
            policy=current_policy(rules, self._permissions, project),
        )
        result = await typed.command.run(typed.argument, context)
        if not isinstance(result, Asks):
            return result.text
        return (*((TextPart(text=result.prompt),) if result.prompt else ()), *result.attachments, *typed.rest)

    def _turn(self, opened: OpenSession, *, choice: ResolvedModel, provider: Provider, desk: Desk) -> Turn:
        session, clock = opened.session, self._engine.clock
        toolbox = self._toolbox if opened.attachment is None else self._toolbox.with_lent(opened.attachment.tools)
        toolbox = toolbox.without(partial(hidden_tools, opened))
        redactor = Redactor({*choice.secrets, *own_keys(opened.settings)})
        runner = ToolRunner(
            session, toolbox=toolbox, gate=self._gate(opened, desk), desk=desk, clock=clock, redactor=redactor
        )
        locate = desk.workspace.locate
        drafts = CallDrafts(session, toolbox=toolbox, locate=locate, redactor=redactor, clock=clock)
        requester = ModelRequester(
            session,
            provider=provider,
            model=choice.target.model,
            billing=self._till.billing(opened, model=choice.target.name, desk=desk),
            options=partial(_options, opened, choice),
            drafts=drafts,
            capabilities=partial(capabilities_of, provider, choice),
            notice=self._notice(session, choice),
            redactor=redactor,
            clock=clock,
        )
        return Turn(
            session,
            requester=requester,
            runner=runner,
            system=partial(_instructions, opened.system or "", opened.attachment),
            tools=toolbox.tool_specs,
            limit=opened.settings.limits.max_turn_requests,
            clock=clock,
        )

    def _notice(self, session: Session, choice: ResolvedModel) -> str | None:
        """What a person should know about who answers; of a model that is gone, once in each session."""
        if choice.sees:
            return f"{choice.target.name} answers, because it sees pictures"
        told = (session.id, choice.replaced)
        if not choice.replaced or told in self._told:
            return None
        self._told.add(told)
        return choice.replaced

    def _gate(self, opened: OpenSession, desk: Desk) -> Gate:
        session, store = opened.session, self._permissions
        project = session.roots[0]
        return Gate(
            session,
            policy=partial(current_policy, configured_rules(opened.settings), store, project),
            remember=lambda rules, answer: store.remember(project, rules, answer=answer),
            asker=desk.asker,
            context=places_of(session, self._engine.locations),
        )


def _instructions(system: str, attachment: Attachment | None) -> str:
    """Those of the session, then what is attached to it has to say: that changes together with the tools it lends."""
    return system if attachment is None else system + attachment.instructions()


def _options(opened: OpenSession, choice: ResolvedModel) -> ChatOptions:
    """The configured sampling, with what was chosen in the session."""
    effort = effort_of(opened, model=choice.target.name, configured=choice.target.options.effort)
    return replace(choice.target.options, effort=effort)
