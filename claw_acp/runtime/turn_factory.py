"""Makes the turn of one prompt from the session it belongs to and the model that will answer."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, cast
from weakref import WeakKeyDictionary

from anyio.abc import TaskGroup

from claw_acp.agent.call_audit import CallAudit
from claw_acp.agent.call_drafts import CallDrafts
from claw_acp.agent.call_hooks import CallHooks
from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.context import Compaction, ModelContext
from claw_acp.agent.found_tools import FoundTools
from claw_acp.agent.gate import Gate
from claw_acp.agent.hook_chain import HookChain
from claw_acp.agent.large_results import LargeResults
from claw_acp.agent.loop import Outcome, Turn
from claw_acp.agent.model_request import ModelRequester
from claw_acp.agent.steering import Steering
from claw_acp.agent.token_estimate import GrowingEstimate, TokenScale
from claw_acp.agent.tool_runner import ToolRunner
from claw_acp.agent.toolbox import Toolbox
from claw_acp.agent.turn_limits import TurnLimits, TurnMeter
from claw_acp.audit.log import AuditLog
from claw_acp.config.locations import Locations
from claw_acp.config.model import LimitsSection
from claw_acp.config.secret_cache import SecretCache
from claw_acp.contracts.delegation import BACKGROUND_TASKS
from claw_acp.contracts.provider import Capabilities, ChatOptions, Provider
from claw_acp.contracts.tool_catalog import ToolCatalog
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ToolError
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import ContentPart
from claw_acp.core.mode import Mode, narrower
from claw_acp.core.money import from_dollars
from claw_acp.core.redaction import Redactor
from claw_acp.core.value import replace
from claw_acp.providers.registry.own_keys import own_keys
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.registry.lazy import Lazy
from claw_acp.registry.reference import Ref
from claw_acp.runtime.billing import CostTracker
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.model_selection import capabilities_of
from claw_acp.runtime.permissions import configured_rules, current_policy, places_of
from claw_acp.runtime.place_facts import PlaceFacts
from claw_acp.runtime.provider_pool import ProviderPool
from claw_acp.runtime.registries import make_hooks, make_toolbox
from claw_acp.runtime.running_turn import Start
from claw_acp.runtime.session_options import effort_of, hidden_tools
from claw_acp.runtime.sessions import Sessions
from claw_acp.runtime.turn_hooks import hook_chain
from claw_acp.runtime.turn_proof import POOL, TurnProof
from claw_acp.runtime.turn_services import TurnServices
from claw_acp.security.permission_store import PermissionStore
from claw_acp.security.policy import PolicyContext
from claw_acp.session.extension import Notes
from claw_acp.session.session import Session
from claw_acp.session.stores import Ledger
from claw_acp.store.contents import ContentStore
from claw_acp.tools.files.seen_files import Stamps

if TYPE_CHECKING:
    from claw_acp.agent.command_sandboxes import CommandSandboxes
    from claw_acp.contracts.conversation_archive import ConversationArchive
    from claw_acp.contracts.delegation import Delegation
    from claw_acp.contracts.launch import CommandSandbox
    from claw_acp.net.proxy.network_proxy import NetworkProxy
    from claw_acp.runtime.background_tasks import SessionBackground
    from claw_acp.runtime.summary_models import SummaryModels
    from claw_acp.subagents.foreign.turn import ProgramTurn

ARCHIVE_PORT: "Ref[type[ConversationArchive]]" = Ref("claw_acp.contracts.conversation_archive:ConversationArchive")
BACKGROUND: "Ref[Callable[..., SessionBackground]]" = Ref("claw_acp.runtime.background_tasks:SessionBackground")
DELEGATION: "Ref[Callable[..., Delegation]]" = Ref("claw_acp.runtime.delegation:TurnDelegation")
PROGRAM_TURN: "Ref[Callable[..., ProgramTurn]]" = Ref("claw_acp.subagents.foreign.turn:ProgramTurn")
PROXY: "Ref[Callable[[], NetworkProxy]]" = Ref("claw_acp.net.proxy.network_proxy:NetworkProxy")
SANDBOXES: "Ref[Callable[..., CommandSandboxes]]" = Ref("claw_acp.agent.command_sandboxes:CommandSandboxes")
SUMMARY_MODELS: "Ref[Callable[..., SummaryModels]]" = Ref("claw_acp.runtime.summary_models:SummaryModels")
BROWSING: Final = Ref[Callable[..., object]]("claw_acp.contracts.web:Browsing")
UNASKED_CALLS: Final = Ref[Callable[..., object]]("claw_acp.agent.unasked_calls:TurnUnaskedCalls")
COMPACTOR: Final = Ref[Callable[..., Compaction]]("claw_acp.agent.compaction.compactor:Compactor")


NOT_FOR_SUBAGENTS: Final = frozenset({"ask_user", "schedule", "task_status", "task_cancel"})
"""The tools that need a person, or are about what goes on when a turn is over."""


class TurnFactory:
    """Makes turns.

    Args:
        ledger: The spending so far.
        permissions: The "always" answers.
        locations: Our own directories.
        contents: Stores what files held before a turn.
        tasks: Runs language servers.
        providers: The providers in use.
        secrets: Reads keys that take time to get.
        audit: Records calls.
        sessions: Makes those of subagents.
        start: Starts their turns.
        clock: Time.
    """

    def __init__(
        self, *, ledger: Ledger, permissions: PermissionStore, locations: Locations, contents: ContentStore,
        tasks: TaskGroup, providers: ProviderPool, secrets: SecretCache, audit: AuditLog,
        sessions: Sessions, start: Start, clock: Clock,
    ) -> None:  # fmt: skip
        self._permissions = permissions
        self._locations = locations
        self._contents = contents
        self._tasks = tasks
        self._servers = Lazy(lambda: POOL.load()(tasks))
        self._providers = providers
        self._secrets = secrets
        self._clock = clock
        self._audit = audit
        self._sessions = sessions
        self._start = start
        self._proxy = Lazy(_make_proxy)
        self._toolbox = make_toolbox()
        self._hooks = Lazy(make_hooks)
        self._scale = TokenScale()
        self._growing: WeakKeyDictionary[Session, GrowingEstimate] = WeakKeyDictionary()
        self._costs = CostTracker(ledger, clock=clock)
        self._noticed: set[tuple[str, str]] = set()  # sessions, and why another model answers in them

    def make(
        self, live: LiveSession, *, choice: ResolvedModel, provider: Provider, ports: ClientPorts, steering: Steering
    ) -> Turn:
        """The turn in which `provider` answers."""
        session, clock, gate = live.session, self._clock, self._gate(live, ports)
        proof = self._proof(live, ports, gate)
        capabilities = partial(capabilities_of, provider, choice)
        toolbox = self._tools(live, ports, proof, window=lambda: capabilities().context_window)
        catalog = ToolCatalog(offered=toolbox.on_demand, list_these=FoundTools.of(session).add)
        redactor = Redactor({*choice.secrets, *own_keys(live.settings)})
        results = LargeResults(self._locations.results_dir, session=session.id, clock=clock)
        hooks = hook_chain(
            live, own=[proof], of_packages=self._hooks(), results=results, sandboxes=self.sandboxes(live),
            places=partial(self._places, live), clock=clock,
        )  # fmt: skip
        services = TurnServices(
            live, locations=self._locations, clock=clock, catalog=catalog,
            delegation=lambda: self._delegation(live, ports, meter), secrets=self._secrets,
            background=partial(self.background, live), code=proof.questions, browsing=partial(self._browsing, gate),
        )  # fmt: skip
        runner = ToolRunner(
            session, toolbox=toolbox, gate=gate, ports=ports, clock=clock, redactor=redactor,
            audit=self._call_audit(live, ports, redactor), hooks=CallHooks(hooks), results=results, extension=services,
        )  # fmt: skip
        drafts = CallDrafts(session, toolbox=toolbox, locate=ports.workspace.locate, redactor=redactor, clock=clock)
        billing = self._costs.billing(live, model=choice.target.name, ports=ports)
        requester = ModelRequester(
            session, provider=provider, model=choice.target.model, billing=billing, drafts=drafts,
            options=partial(_options, live, choice), capabilities=capabilities, redactor=redactor, clock=clock,
            notice=self._notice(session, choice),
        )  # fmt: skip
        context = self._context(live, requester, choice=choice, capabilities=capabilities, hooks=hooks, ports=ports)
        meter = TurnMeter(
            _turn_limits(live.settings.limits, ports), clock=clock, above=ports.above,
            cost=lambda: billing.spent, waited=lambda: runner.waited + billing.waited,
        )  # fmt: skip
        return Turn(
            session, requester=requester, runner=runner, context=context, tools=toolbox.tool_specs, steering=steering,
            meter=meter, place=partial(PlaceFacts.of(session).news, session, ports.workspace), clock=clock, hooks=hooks,
            notes=partial(_noted, services.notes, ports.sources) if ports.sources else services.notes,
        )  # fmt: skip

    async def run_program(self, live: LiveSession, prompt: Sequence[ContentPart], *, ports: ClientPorts) -> Outcome:
        """Have the program of `ports` carry out a turn; what it asks of us are calls like any others.

        Raises:
            AgentProgramFailed: It cannot be used, or broke off.
        """
        session, clock, launch = live.session, self._clock, ports.program
        assert launch is not None
        if ports.only_tools is not None or ports.without_tools:
            raise ToolError(f"The agent {launch.program.name} has tools of its own, which cannot be limited here.")
        redactor = Redactor(own_keys(live.settings))
        turn = PROGRAM_TURN.load()(session, launch=launch, workspace=ports.workspace, redactor=redactor, clock=clock)
        hooks = hook_chain(
            live, own=(), of_packages=self._hooks(), sandboxes=self.sandboxes(live), places=partial(self._places, live),
            results=LargeResults(self._locations.results_dir, session=session.id, clock=clock), clock=clock,
        )  # fmt: skip
        runner = ToolRunner(
            session, toolbox=Toolbox(lent=lambda: turn.tools), gate=self._gate(live, ports), ports=ports, clock=clock,
            redactor=redactor, audit=self._call_audit(live, ports, redactor), hooks=CallHooks(hooks),
            extension=live.extensions,
        )  # fmt: skip
        meter = TurnMeter(
            _turn_limits(live.settings.limits, ports), clock=clock, above=ports.above,
            cost=lambda: from_dollars(turn.dollars), waited=lambda: runner.waited,
        )  # fmt: skip
        try:
            return await turn.run(prompt, runner=runner, meter=meter, notes=await live.extensions.notes(""))
        finally:
            name = f"agent/{launch.program.name}"
            self._costs.charge_told(live, model=name, usage=turn.usage, dollars=turn.dollars)

    def _tools(self, live: LiveSession, ports: ClientPorts, proof: TurnProof, *, window: Callable[[], int]) -> Toolbox:
        """The tools of a turn."""
        toolbox = self._toolbox.with_lent(live.extensions.tools)
        toolbox = toolbox.without(partial(_hidden, live, offered=toolbox, ports=ports))
        found, most = FoundTools.of(live.session), live.settings.limits.max_listed_tools
        return toolbox.with_unlisted(proof.tools).with_found(found.names, most_listed=most, window=window)

    def _call_audit(self, live: LiveSession, ports: ClientPorts, redactor: Redactor) -> CallAudit:
        self._audit.section = live.settings.audit
        who: dict[str, JsonValue] = {"client": ports.client, "ingress": ports.ingress, "session": live.session.id}
        if live.parent is not None:
            who["attempt_of"] = live.parent.session.id
        if live.delegated_by is not None:
            who["subagent_of"] = live.delegated_by.session.id
        return CallAudit(self._audit, who=who, mode=partial(_mode, live, ports), redactor=redactor)

    def _delegation(self, live: LiveSession, ports: ClientPorts, meter: TurnMeter) -> "Delegation":
        return DELEGATION.load()(
            live, sessions=self._sessions, start=self._start, ports=ports, meter=meter, clock=self._clock,
            background=partial(self.background, live),
        )  # fmt: skip

    def background(self, live: LiveSession) -> "SessionBackground":
        """The background tasks of a session."""
        made = live.session.tool_state.get(
            BACKGROUND_TASKS,
            lambda: BACKGROUND.load()(
                live, sessions=self._sessions, start=self._start, tasks=self._tasks, clock=self._clock
            ),
        )
        return cast("SessionBackground", made)

    def _browsing(self, gate: Gate) -> object:
        return BROWSING.load()(start=self._tasks.start_soon, may_reach=partial(gate.allows, "browser_open"))

    def _proof(self, live: LiveSession, ports: ClientPorts, gate: Gate) -> TurnProof:
        return TurnProof(
            live, workspace=ports.workspace, store=self._contents, gate=gate, servers=self._servers,
            confine=partial(self._confine_server, live), tasks=self._tasks, clock=self._clock,
        )  # fmt: skip

    async def _confine_server(self, live: LiveSession) -> "CommandSandbox | None":
        """The sandbox of a language server; None: there is none."""
        sandboxes, session = self.sandboxes(live), live.session
        if sandboxes is None:
            return None
        return await sandboxes().of_servers(places_of(session, self._locations, origin=live.origin.session))

    def _context(
        self, live: LiveSession, requester: ModelRequester, *, choice: ResolvedModel,
        capabilities: Callable[[], Capabilities], hooks: HookChain, ports: ClientPorts,
    ) -> ModelContext:  # fmt: skip
        session, clock = live.session, self._clock

        def compaction() -> Compaction:
            other = SUMMARY_MODELS.load()(
                live, choice=choice, requester=requester, prices=self._costs.prices(live.settings),
                providers=self._providers, secrets=self._secrets, options=partial(_options, live),
                clock=clock,
            )  # fmt: skip
            outdated = Stamps.on(session.tool_state).outdated
            archive = None if live.depth else live.extensions.port(ARCHIVE_PORT.load())
            audit = self._call_audit(live, ports, Redactor(own_keys(live.settings)))
            gate, around = self._gate(live, ports), CallHooks(hooks)
            return COMPACTOR.load()(
                session, requester=requester, clock=clock, outdated=outdated, other=other.lend, keeps=hooks.keeps,
                archive=archive, calls=UNASKED_CALLS.load()(gate=gate, hooks=around, audit=audit, clock=clock),
            )  # fmt: skip

        return ModelContext(
            session,
            layers=lambda: (*live.prompt.layers, *live.extensions.layers(capabilities().context_window)),
            window=lambda: capabilities().context_window,
            model=choice.target.name,
            scale=self._scale,
            growing=self._growing.setdefault(session, GrowingEstimate()),
            compaction=compaction,
        )

    def _notice(self, session: Session, choice: ResolvedModel) -> str | None:
        """The notice about the model that answers; a retired model is mentioned once in each session."""
        if choice.sees:
            return f"{choice.target.name} answers, because it sees pictures"
        notice = (session.id, choice.replaced)
        if not choice.replaced or notice in self._noticed:
            return None
        self._noticed.add(notice)
        return choice.replaced

    def _gate(self, live: LiveSession, ports: ClientPorts) -> Gate:
        session, store = live.session, self._permissions
        project = live.origin.session.roots[0]
        return Gate(
            session,
            policy=partial(current_policy, configured_rules(live.settings), store, project),
            remember=lambda rules, answer: store.remember(project, rules, answer=answer),
            remember_tool=lambda tool, digest: store.remember_tool(project, tool, digest=digest),
            asker=ports.asker,
            context=self._places(live),
            person=live.origin.session if live.depth else None,
            mode=partial(_mode, live, ports),
            sandboxes=self.sandboxes(live),
        )

    def _places(self, live: LiveSession) -> PolicyContext:
        origin = None if live.parent is None else live.parent.session
        return places_of(live.session, self._locations, origin=origin)

    def sandboxes(self, live: LiveSession) -> "Callable[[], CommandSandboxes] | None":
        """The sandboxes of a session's commands; None on a system that has none."""
        if sys.platform == "win32":
            return None
        return Lazy(
            lambda: SANDBOXES.load()(
                live.session,
                section=live.settings.sandbox,
                cache=self._locations.cache_dir,
                proxy=self._proxy,
                tasks=self._tasks,
            )
        )


def _make_proxy() -> "NetworkProxy":
    return PROXY.load()()


async def _noted(notes: Callable[[str], Awaitable[Notes]], sources: tuple[str, ...], prompt: str) -> Notes:
    """The notes for a prompt, to which sources of the prompt itself are added."""
    found = await notes(prompt)
    return replace(found, sources=(*found.sources, *sources))


def _hidden(live: LiveSession, *, offered: Toolbox, ports: ClientPorts) -> frozenset[str]:
    """The tools that are hidden from the model in a turn, which may have only some of them."""
    only, hidden = ports.only_tools, hidden_tools(live) | ports.without_tools
    if live.depth:
        hidden |= NOT_FOR_SUBAGENTS
    if live.depth >= live.settings.delegation.depth:
        hidden |= {"delegate"}
    return hidden if only is None else hidden | (frozenset(offered.tool_names()) - only)


def _mode(live: LiveSession, ports: ClientPorts) -> Mode:
    """The mode of a turn now: that of the session that a person prompts, unless the turn may have only a stricter."""
    return narrower(live.origin.session.mode, ports.ceiling)


def _turn_limits(limits: LimitsSection, ports: ClientPorts) -> TurnLimits:
    """The limits of a turn: as configured, and as allowed besides."""
    further = ports.limits or TurnLimits(requests=limits.max_turn_requests)
    configured = None if limits.max_turn_cost is None else from_dollars(limits.max_turn_cost)
    return TurnLimits(
        requests=min(limits.max_turn_requests, further.requests),
        tokens=_least(limits.max_turn_tokens, further.tokens),
        cost=_least(configured, ports.cost, further.cost),
        minutes=limits.max_turn_minutes,
    )


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _options(live: LiveSession, choice: ResolvedModel) -> ChatOptions:
    """The configured sampling options, with those chosen in the session."""
    effort = effort_of(live, model=choice.target.name, configured=choice.target.options.effort)
    return replace(choice.target.options, effort=effort)
