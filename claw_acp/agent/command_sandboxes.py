"""The sandboxes of the commands of one session. It is loaded with the first command."""

import logging
import resource
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Final

from anyio import to_thread
from anyio.abc import TaskGroup

from claw_acp.config.model import SandboxSection
from claw_acp.contracts.launch import CommandSandbox, Confinement, StartedBy
from claw_acp.contracts.sandbox import ProgramNeeds, SandboxLimits, SandboxProfile
from claw_acp.contracts.tool import Reach
from claw_acp.core.environment import current_environment
from claw_acp.core.errors import ToolError
from claw_acp.core.events import SANDBOX_OFF, Notice
from claw_acp.core.ids import new_id
from claw_acp.core.private_directory import make_private
from claw_acp.core.value import replace
from claw_acp.net.proxy.verdict import Record
from claw_acp.registry.reference import Ref
from claw_acp.sandbox.backend import Guarantee, SandboxBackend
from claw_acp.sandbox.caches import project_caches
from claw_acp.sandbox.findings import NONE
from claw_acp.sandbox.machine import sandbox_of_this_machine
from claw_acp.sandbox.shared_network import SharedNetwork
from claw_acp.security.command_paths import PolicyContext
from claw_acp.security.command_profile import MOST_ENTRIES, ExtraPaths, command_profile, fitted, too_large
from claw_acp.security.rules import Rule
from claw_acp.security.verdicts import Decision
from claw_acp.session.session import Session

if TYPE_CHECKING:
    from claw_acp.agent.command_network import ProxiedNetwork
    from claw_acp.net.proxy.network_proxy import NetworkProxy

log = logging.getLogger(__name__)

OPENED: "Ref[Callable[..., Awaitable[ProxiedNetwork]]]" = Ref("claw_acp.agent.command_network:opened")
"""By name, as few commands reach the network, and the proxy takes 12 ms to load."""

MOST_PROCESSES: Final = 4_096
LARGEST_FILE: Final = 64 * 1024**3
STATE_KEY: Final = "sandbox.temporary"
NETWORK_KEY: Final = "sandbox.network"
_PLACES: Final[Mapping[Reach, str]] = {
    "reading": "in the sandbox, read-only, without network",
    "project": "in the sandbox, without network",
    "network": "in the sandbox, where you are asked about each host",
    "machine": "outside of the sandbox",
}
_ESSENTIAL: Final[frozenset[Guarantee]] = frozenset(("writable", "unreadable", "network"))
"""What a sandbox must hold, so that nobody has to look at each command."""

_NONE: Final = "No sandbox works on this machine, so commands run like any program of yours"
_ADVICE: Final = "`claw-acp doctor` tells why, and what to install."
_UNGUARDED: Final = "git's hooks and settings of editors and agents in the project"
_LOOKED_AT: Final = "What is changed there is found after each command, and moved aside in auto mode."
_told: set[str] = set()  # what people were told in this process


async def _found(section: SandboxSection, cache: Path) -> SandboxBackend | None:
    """The sandbox for commands, if it holds what is essential."""
    find = partial(sandbox_of_this_machine, section.backend, image=section.image or "", cache=cache)
    backend = await to_thread.run_sync(find)
    return backend if backend is not None and backend.enforces >= _ESSENTIAL else None


async def about_sandbox(section: SandboxSection, cache: Path) -> str:
    """A sentence about where commands run."""
    if section.use == "off":
        return "Commands run like any program of yours: the sandbox is switched off."
    backend = await _found(section, cache)
    if backend is None:
        return f"{_NONE}."
    limit = "" if "read_only" in backend.enforces else f" It does not keep {_UNGUARDED} from being changed."
    return f"Commands run in the sandbox {backend.name}; those that only read, read-only.{limit}"


def with_sandbox(context: PolicyContext, section: SandboxSection, backend: SandboxBackend | None) -> PolicyContext:
    """The environment of decisions where commands run in `backend`, as the settings want it; None: there is none."""
    if section.use == "off":
        return context
    without = "open" if section.use == "tolerant" else "unprotected"
    return replace(context, commands=without if backend is None else "sandboxed")


def place_of(decision: Decision) -> str:
    """Where a command with this decision runs if there is a sandbox, for people."""
    return _PLACES[decision.reach or "project"]


class CommandSandboxes:
    """The sandboxes of a session's commands.

    Args:
        session: The session.
        section: The settings.
        cache: The directory for our caches.
        proxy: Returns the proxy through which commands reach the network.
        tasks: Runs what serves a command.
    """

    def __init__(
        self,
        session: Session,
        *,
        section: SandboxSection,
        cache: Path,
        proxy: "Callable[[], NetworkProxy]",
        tasks: TaskGroup,
    ) -> None:
        self._session = session
        self._section = section
        self._cache = cache
        self._proxy = proxy
        self._tasks = tasks
        self._backend: SandboxBackend | None = None

    async def found(self, context: PolicyContext) -> PolicyContext:
        """The environment of decisions with what is known about the sandbox of this machine."""
        if self._section.use == "off":
            await self._session.tell_sandbox(SANDBOX_OFF)
            return context
        self._backend = await _found(self._section, self._cache)
        await self._session.tell_sandbox(NONE if self._backend is None else self._backend.name)
        if self._backend is None:
            await self._tell_none()
        return with_sandbox(context, self._section, self._backend)

    def place(self, decision: Decision) -> str:
        """Where a command with this decision runs, for people; empty where there is no sandbox."""
        if self._backend is None:
            return ""
        unguarded = "read_only" not in self._backend.enforces and decision.reach not in {"reading", "machine"}
        return place_of(decision) + (f", which does not guard {_UNGUARDED}" if unguarded else "")

    async def make(
        self,
        decision: Decision,
        *,
        context: PolicyContext,
        rules: Sequence[Rule],
        ask: Callable[[Decision], Awaitable[bool]],
        record: Record,
        stays: bool,
        needs: ProgramNeeds | None = None,
        changes: bool = True,
    ) -> CommandSandbox | None:
        """The sandbox of one command; None: it runs outside.

        Args:
            decision: The decision that it may run.
            context: The environment of the decision.
            rules: The rules in force, of which those about addresses count.
            ask: Asks a person about an address that no rule is about.
            record: Keeps a record of each connection.
            stays: Whether it goes on in the background.
            needs: What a program of the settings needs.
            changes: Whether such a program may change the project by itself.

        Raises:
            OSError: A directory of ours cannot be written.
        """
        backend, reach = self._backend, decision.reach or "project"
        if backend is None or reach == "machine":
            return None
        profile, env = await to_thread.run_sync(partial(self._profile, decision, reach, context))
        if reach != "reading":
            await self._tell_unguarded(backend, context.roots)
        profile = replace(profile, beside=await self._beside(reach, stays=stays))
        if needs is not None:
            profile = fitted(profile, needs, protected=context.protected, changes=changes)
        if reach != "network" or "proxy" not in backend.enforces or (needs is not None and needs.open_network):
            return CommandSandbox(profile=profile, confine=partial(_confined, backend, profile, None), env=env)
        network = await OPENED.load()(self._proxy(), tasks=self._tasks, rules=rules, ask=ask, record=record)
        profile = replace(profile, network="hosts", proxy=network.socket)
        confine = partial(_confined, backend, profile, network)
        return CommandSandbox(profile=profile, confine=confine, env=env, network=network)

    async def of_servers(self, context: PolicyContext) -> CommandSandbox | None:
        """The sandbox of a program that serves several sessions in the project, and may outlive this one.

        Raises:
            ToolError: A directory of ours cannot be written.
        """
        sandbox = await self.in_project(await self.found(context))
        if sandbox is None or self._backend is None:
            return None
        profile = replace(sandbox.profile, temporary=None)  # that of the session goes with it
        return replace(sandbox, profile=profile, confine=partial(_confined, self._backend, profile, None))

    async def in_project(self, context: PolicyContext) -> CommandSandbox | None:
        """The sandbox of a program that changes the project and needs no network; None: there is none.

        Raises:
            ToolError: A directory of ours cannot be written.
        """
        if self._backend is None or context.commands != "sandboxed":
            return None
        decision = Decision(verdict="allow", reason="", reach="project")
        try:
            profile, env = await to_thread.run_sync(partial(self._profile, decision, "project", context))
        except OSError as error:
            raise ToolError(f"The sandbox cannot be set up: {error.strerror or error}.") from error
        return CommandSandbox(profile=profile, confine=partial(_confined, self._backend, profile, None), env=env)

    async def _beside(self, reach: Reach, *, stays: bool) -> int | None:
        """The process in whose network it runs; from the first program in the background on there is one a session."""
        known = self._session.tool_state.items.get(NETWORK_KEY)
        if reach != "project" or self._backend is None or self._backend.name != "bubblewrap":
            return None
        if not isinstance(known, SharedNetwork) or not known.is_there:
            known = await SharedNetwork.opened() if stays else None
            self._session.tool_state.items[NETWORK_KEY] = known
        return known.process if known is not None else None

    def _profile(
        self, decision: Decision, reach: Reach, context: PolicyContext
    ) -> tuple[SandboxProfile, Mapping[str, str]]:
        temporary = _Temporary.of(self._session, self._cache)
        writable = self._section.writable
        variables: Mapping[str, str] = {}
        if reach != "reading":
            offline = reach == "project"
            caches = project_caches(context.roots[0], cache=self._cache, environ=current_environment(), offline=offline)
            writable, variables = (*writable, caches.directory), caches.variables
        extra = ExtraPaths(
            writable=writable,
            readable=decision.readable,
            unreadable=self._section.unreadable,
            temporary=temporary.directory,
            limits=SandboxLimits(
                processes=_at_most(MOST_PROCESSES, resource.RLIMIT_NPROC),
                file_size=_at_most(LARGEST_FILE, resource.RLIMIT_FSIZE),
            ),
        )
        return command_profile(reach, context=context, extra=extra), variables

    async def _tell_none(self) -> None:
        asks = " In auto mode you are asked about commands that do more than read." if self._section.use == "on" else ""
        await self._tell_once(_NONE, f"{_ADVICE}{asks}")

    async def _tell_unguarded(self, backend: SandboxBackend, roots: Sequence[Path]) -> None:
        """Tell what of the project commands may change although it makes other programs run something."""
        if "read_only" not in backend.enforces:
            title = f"The sandbox {backend.name} does not keep {_UNGUARDED} from being changed"
            await self._tell_once(title, f"{_LOOKED_AT} {_ADVICE}")
            return
        for root in roots:
            if too_large(root):
                title = f"{root} is too large for all settings of editors and agents in it to be kept from commands"
                limit = f"It has more than {MOST_ENTRIES:,} files and folders, or too many such settings"
                await self._tell_once(title, f"{limit}: those deep in it can be changed unnoticed, but for git's own.")

    async def _tell_once(self, title: str, description: str) -> None:
        if title in _told:
            return
        _told.add(title)
        log.warning("commands are not confined as they should be", extra={"reason": title})
        await self._session.broadcast(
            Notice(item=new_id("ntc"), severity="warning", title=title, description=description)
        )


def _at_most(limit: int, kind: int) -> int:
    """A limit as far as the person's own lets us set it."""
    _, hard = resource.getrlimit(kind)
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)


def _confined(
    backend: SandboxBackend, profile: SandboxProfile, network: "ProxiedNetwork | None", started_by: StartedBy
) -> Confinement:
    confinement = backend.confine(profile, started_by=started_by)
    return confinement if network is None else network.used_by(confinement)


class _Temporary:
    """The directory for temporary files of a session's commands, which ends with the session."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @classmethod
    def of(cls, session: Session, cache: Path) -> "_Temporary":
        """The directory of a session, which exists."""

        def make() -> _Temporary:
            return cls(cache / "sandbox" / "temporary" / session.id)

        found = session.tool_state.get(STATE_KEY, make)
        assert isinstance(found, cls)
        make_private(found.directory)
        return found

    async def aclose(self) -> None:
        """Remove it."""
        with suppress(OSError):
            await to_thread.run_sync(partial(rmtree, self.directory, ignore_errors=True))
