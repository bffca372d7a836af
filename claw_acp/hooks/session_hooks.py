"""The hooks of one session that people wrote as commands: a session extension, made with the first prompt."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import CancelScope, to_thread
from anyio.abc import TaskGroup

from claw_acp.config.locations import find_locations
from claw_acp.config.model import HookCommandSection, HooksSection
from claw_acp.config.settings import Settings
from claw_acp.contracts.hook import Hook, HookFailed, HookResult
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonValue
from claw_acp.core.printable import plain_lines, printable
from claw_acp.hooks.places import HookFile, hook_files, states
from claw_acp.registry.reference import Ref
from claw_acp.session.extension import SessionExtension
from claw_acp.session.session import Session
from claw_acp.session.setup import SessionSetup

if TYPE_CHECKING:
    from claw_acp.hooks.files import FoundHooks
    from claw_acp.hooks.rule import HookRule

READ: "Ref[Callable[..., FoundHooks]]" = Ref("claw_acp.hooks.files:read_hooks")
COMMAND: "Ref[Callable[..., Hook]]" = Ref("claw_acp.hooks.command:CommandHook")

MOST_ASIDE: Final = 20
"""Commands of a session that nobody waits for, at once."""
_MODES: Final[Mapping[str, str]] = {"ask": "default", "edit": "acceptEdits", "auto": "bypassPermissions"}
"""The published names of modes."""
_told: set[str] = set()  # problems that people were told of in this process


class SessionHooks(SessionExtension):
    """The hook commands of one session. Their files are looked at before each prompt, and read when they have changed.

    Args:
        session: The session.
        tasks: Run what nobody waits for.
        others: What other extensions need.
    """

    def __init__(self, session: Session, *, tasks: TaskGroup, **others: object) -> None:  # noqa: ARG002 - the contract's
        self._session = session
        self._tasks = tasks
        self._aside: set[CancelScope] = set()  # of commands that nobody waits for and that run
        self._settings = HooksSection()
        self._rows: Sequence[HookCommandSection] = ()
        self._environ: Mapping[str, str] = {}
        self._places: tuple[Path, Sequence[HookFile]] | None = None  # of the files of a project and of the person
        self._seen: Sequence[object] = ()
        self._hooks: list[tuple[HookRule, Hook]] = []

    def configure(self, setup: SessionSetup, settings: Settings) -> None:  # noqa: ARG002 - the contract's
        """See `SessionExtension`."""
        self._settings, self._environ, self._seen, self._places = settings.hooks, settings.environ, (), None
        self._rows = () if settings.hooks.use == "off" else settings.hook_commands

    async def settled(self, *, within: float) -> None:  # noqa: ARG002 - reading files takes no time of others
        """Read the files if they have changed."""
        seen = states(self._all_files())
        if seen == self._seen:
            return
        self._hooks = []
        files = self._all_files()
        if not self._rows and not any(states(files)):
            self._seen = states(files)
            return
        found = await to_thread.run_sync(READ.load(), files, self._rows)
        make = partial(COMMAND.load(), session_facts=self._facts, run_aside=self._run_aside)
        self._hooks = [(rule, make(rule)) for rule in found.rules]
        self._seen = states(self._all_files())
        if new := [trouble for trouble in found.troubles if trouble not in _told]:
            _told.update(new)
            await self._tell("Some hooks are not used as they are written", "\n".join(new))

    def hooks(self) -> Sequence[Hook]:
        """The hooks; those of a project only while the person trusts its files, and these are as they were read."""
        files = self.project_files()
        if not files:
            return [hook for _, hook in self._hooks]
        unchanged = states(self._all_files()) == self._seen
        trusted = frozenset(self.trust.trusted(files)) if unchanged else frozenset[ProjectFile]()
        return [hook for rule, hook in self._hooks if trusted.issuperset(rule.files)]

    def project_files(self) -> Sequence[ProjectFile]:
        """See `SessionExtension`."""
        return tuple(dict.fromkeys(file for rule, _ in self._hooks for file in rule.files))

    def _all_files(self) -> Sequence[HookFile]:
        """The files to look at: those that may hold hooks, and the scripts of the project that they name."""
        project = self._session.roots[0]
        if self._places is None or self._places[0] != project:
            home = Path(self._environ.get("HOME") or Path.home())
            config = find_locations(self._environ).config_dir
            files = hook_files(project, config_dir=config, home=home, use=self._settings.use)
            self._places = project, files
        scripts = (HookFile(path=file.project / file.path) for file in self.project_files())
        return [*self._places[1], *scripts]

    def _facts(self) -> Mapping[str, JsonValue]:
        """What commands are told of the session."""
        session = self._session
        return {
            "session_id": session.id, "transcript_path": "", "cwd": str(session.roots[0]),
            "permission_mode": _MODES.get(session.mode, session.mode),
        }  # fmt: skip

    def _run_aside(self, name: str, run: Callable[[], Awaitable[HookResult]]) -> None:
        """Run a command that nobody waits for, until the session is closed at most.

        Raises:
            HookFailed: Too many of them run.
        """
        if len(self._aside) == MOST_ASIDE:
            raise HookFailed(f"{MOST_ASIDE} commands that nobody waits for still run")
        scope = CancelScope()
        self._aside.add(scope)
        self._tasks.start_soon(self._watch, name, run, scope)

    async def _watch(self, name: str, run: Callable[[], Awaitable[HookResult]], scope: CancelScope) -> None:
        try:
            with scope:
                await run()
        except HookFailed as error:
            await self._tell(f"The hook {name} failed", error.message)
        finally:
            self._aside.remove(scope)

    async def aclose(self) -> None:
        """End the commands that nobody waits for."""
        for scope in self._aside:
            scope.cancel()

    async def _tell(self, title: str, text: str) -> None:
        notice = Notice(item=new_id("ntc"), severity="warning", title=printable(title), description=plain_lines(text))
        await self._session.publish(notice, committed=False)


if TYPE_CHECKING:
    _conforms: type[SessionExtension] = SessionHooks
