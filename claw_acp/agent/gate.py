"""The permission for a call to run: the policy decides, a person is asked where it says so, "always" is remembered."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import anyio
from anyio import to_thread

from claw_acp.agent.incoming_text import names_host, untrusted_text
from claw_acp.contracts.questions import Asker, Choice, PermissionQuestion
from claw_acp.contracts.tool import Access, EvaluatesCode, Hindrance, Invocation, Reach, RunsCommand, UsesServer
from claw_acp.core.errors import ConfigError, StoreError, ToolError
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.core.mode import Mode
from claw_acp.core.value import Value, replace
from claw_acp.registry.reference import Ref
from claw_acp.security.permission_store import Answer
from claw_acp.security.policy import Decision, Policy, PolicyContext
from claw_acp.security.untrusted_text import sources_of
from claw_acp.session.session import Session

if TYPE_CHECKING:
    from claw_acp.agent.command_aftermath import Aftermath
    from claw_acp.agent.command_sandboxes import CommandSandboxes
    from claw_acp.contracts.launch import CommandSandbox
    from claw_acp.net.proxy.verdict import Record

AFTERMATH: "Ref[Callable[[Session], Aftermath]]" = Ref("claw_acp.agent.command_aftermath:Aftermath.on")

log = logging.getLogger(__name__)

STORING = 5.0  # seconds for the file of answers; another process may be writing it


_SECOND: Final[Mapping[Hindrance, tuple[str, Reach]]] = {
    "writing": ("change anything", "project"),
    "network": ("reach the network", "network"),
}


AskHost: TypeAlias = Callable[[Decision], Awaitable[bool]]


class Admission(Value):
    """The outcome. When `allowed` is false, `reason` is for the model and `shown` for the person."""

    allowed: bool
    reason: str
    shown: str = ""
    choice: Choice | None = None


class Gate:
    """Every tool call has to pass here before its `run`.

    Args:
        policy: Returns the policy for the next call, including rules stored a moment ago.
        remember: Stores an "always" answer.
        remember_tool: Keeps the digest of a server's tool.
        mode: Returns the mode in force; None: the session's.
        sandboxes: Returns the sandboxes of commands; None: there are none.
        person: The session in which a person prompts; None: this one.
    """

    def __init__(
        self,
        session: Session,
        *,
        policy: Callable[[], Policy],
        remember: Callable[[Sequence[str], Answer], None],
        remember_tool: Callable[[str, str], None],
        asker: Asker,
        context: PolicyContext,
        mode: Callable[[], Mode] | None = None,
        sandboxes: "Callable[[], CommandSandboxes] | None" = None,
        person: Session | None = None,
    ) -> None:
        self._session = session
        self._person = person
        self._mode = mode or (lambda: session.mode)
        self._policy = policy
        self._remember = remember
        self._remember_tool = remember_tool
        self._allowed_now: set[str] = set()  # by "always" answers of this turn
        self._asker = asker
        self._context = replace(context, names_host=partial(names_host, person or session))
        self._sandboxes = sandboxes
        self._known: frozenset[str] | None = None

    def next_answer(self) -> None:
        """Note that the model has answered: text that comes in from now on cannot have asked for its calls."""
        self._known = frozenset(self._session.history.untrusted_sources)

    async def explore(self, invocation: Invocation) -> None:
        """Find out what the decision about a call depends on: what it touches, and the sandbox of its commands."""
        await invocation.explore()
        if self._sandboxes is not None and any(map(_needs_sandbox, invocation.accesses)):
            self._context = await self._sandboxes().found(self._context)

    def decide(self, tool: str, invocation: Invocation) -> Decision:
        """Return the decision of the rules and the session's mode."""
        return self._judged(tool, invocation.accesses)

    def allows(self, tool: str, accesses: Sequence[Access]) -> bool | None:
        """Return the same about accesses without a call: True, False, or None where a person would be asked."""
        return {"allow": True, "deny": False, "ask": None}[self._judged(tool, accesses).verdict]

    def _judged(self, tool: str, accesses: Sequence[Access]) -> Decision:
        context = self._context
        if (untrusted := untrusted_text(self._session, known=self._known, person=self._person)) is not None:
            context = replace(context, untrusted=untrusted)
        return self._policy().decide(tool=tool, accesses=accesses, mode=self._mode(), context=context)

    def sources(self, decision: Decision, invocation: Invocation) -> tuple[str, ...]:
        """The sources of untrusted text that a call brings in."""
        return sources_of(invocation.accesses, decision, context=self._context)

    def again(self, hindrance: Hindrance) -> Decision:
        """Return the decision whether a command that seemed to only read may run again, in a wider sandbox."""
        if hindrance not in _SECOND:
            return Decision(verdict="deny", reason="A command that only reads has no need of what is hidden.")
        what, reach = _SECOND[hindrance]
        reason = (
            f"The command seemed to only read, but failed in the sandbox; its output says that it could not {what}."
        )
        match self._mode():
            case "plan":
                return Decision(verdict="deny", reason=reason)
            case "auto" if reach == "project":
                return Decision(verdict="allow", reason=reason, reach=reach)
            case _:
                return Decision(verdict="ask", reason=reason, reach=reach)

    def place(self, decision: Decision) -> str:
        """Where the commands of a call run, for people; empty where there is no sandbox, or no command."""
        if self._context.commands != "sandboxed" or self._sandboxes is None or decision.reach is None:
            return ""
        return decision.place or self._sandboxes().place(decision)

    async def aftermath(self, decision: Decision) -> "Aftermath | None":
        """Begin to watch what a command leaves behind, if it may change anything where there is a sandbox."""
        if self._context.commands != "sandboxed" or decision.reach in {None, "reading"}:
            return None
        watched = AFTERMATH.load()(self._session)
        await watched.begin()
        return watched

    @property
    def moves_aside(self) -> bool:
        """True if nobody looks at each command, so that what it leaves behind is moved aside."""
        return self._mode() == "auto"

    async def sandbox(
        self, decision: Decision, invocation: Invocation, *, ask: AskHost, record: "Record"
    ) -> "CommandSandbox | None":
        """Return the sandbox of the commands of a call; None: they run outside.

        Args:
            decision: The decision on the call.
            invocation: The call.
            ask: Asks a person about an address that no rule is about.
            record: Keeps a record of each connection.

        Raises:
            ToolError: A directory of ours cannot be written.
        """
        if self._context.commands != "sandboxed" or self._sandboxes is None:
            return None
        commands = [access for access in invocation.accesses if isinstance(access, RunsCommand)]
        try:
            return await self._sandboxes().make(
                decision, context=self._context, rules=self._policy().rules, ask=ask, record=record,
                stays=any(access.stays for access in commands), changes=self._mode() in {"edit", "auto"},
                needs=next((access.needs for access in commands if access.needs is not None), None),
            )  # fmt: skip
        except OSError as error:
            raise ToolError(f"The command was not run: its sandbox cannot be set up: {error}") from error

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """Hosts that rules allow by their exact name."""
        return self._policy().allowed_hosts

    def reader(self, tool: str) -> Callable[[Path], bool]:
        """Return a test of whether a search that may run may read a file, by the current rules."""
        policy = self._policy()
        return lambda path: policy.hides(path, tool=tool, context=self._context) is None

    async def ask(self, question: PermissionQuestion, *, call_id: str) -> Admission:
        """Ask the person. Anything but a clear yes is a no."""
        question = replace(question, session=self._session.id, call_id=call_id)
        choice = await self._asker.permission(question)
        if choice is None:
            reason = "This call was not allowed, so it was not run. Do not repeat it as it is."
            return Admission(allowed=False, reason=reason, shown="Not run: it was not allowed.")
        allowed = choice.kind in {"allow_once", "allow_always"}
        if choice.stores and choice.kind in {"allow_always", "reject_always"}:
            answer: Answer = "allow" if allowed else "deny"
            await self._keep(partial(self._remember, choice.stores, answer), what=", ".join(choice.stores))
            self._allowed_now |= set(choice.stores if allowed else ())
        reason = "" if allowed else "The user rejected this call, so it was not run. Ask what to do instead."
        return Admission(
            allowed=allowed, reason=reason, shown="" if allowed else "Rejected; it was not run.", choice=choice
        )

    async def admitted(self, tool: str, invocation: Invocation) -> None:
        """Keep how a server's tool describes itself: when it is first called, and when it is allowed for good."""
        for access in invocation.accesses:
            if isinstance(access, UsesServer) and access.digest:
                known = self._policy().known_tools.get(tool)
                if known is None or (known != access.digest and tool in self._allowed_now):
                    await self._keep(partial(self._remember_tool, tool, access.digest), what=tool)
                self._allowed_now.discard(tool)

    async def _keep(self, store: Callable[[], None], *, what: str) -> None:
        """Store an answer; if that fails it still counts this once, and the person is notified."""
        try:
            with anyio.fail_after(STORING):
                await to_thread.run_sync(store, abandon_on_cancel=True)
        except (ConfigError, StoreError, TimeoutError) as error:
            log.warning("answer not remembered", extra={"rules": what, "reason": str(error)})
            title = "Your answer counts for this call only; it could not be remembered"
            await self._session.broadcast(
                Notice(item=new_id("ntc"), severity="warning", title=title, description=str(error))
            )


def _needs_sandbox(access: Access) -> bool:
    return isinstance(access, RunsCommand | EvaluatesCode)
