"""The hooks of one session that people wrote as commands: a session extension, made with the first prompt."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from claw_acp.config.locations import find_locations
from claw_acp.config.model import HookCommandSection, HooksSection
from claw_acp.config.settings import Settings
from claw_acp.contracts.hook import Hook
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonValue
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

_MODES: Final[Mapping[str, str]] = {"ask": "default", "edit": "acceptEdits", "auto": "bypassPermissions"}
"""The published names of modes."""
_told: set[str] = set()  # problems that people were told of in this process


class SessionHooks(SessionExtension):
    """The hook commands of one session. Their files are looked at before each prompt, and read when they have changed.

    Args:
        session: The session.
        others: What other extensions need.
    """

    def __init__(self, session: Session, **others: object) -> None:  # noqa: ARG002 - the contract's
        self._session = session
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
        make = partial(COMMAND.load(), session_facts=self._facts)
        self._hooks = [(rule, make(rule)) for rule in found.rules]
        self._seen = states(self._all_files())
        if new := [trouble for trouble in found.troubles if trouble not in _told]:
            _told.update(new)
            await self._tell(new)

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

    async def _tell(self, troubles: Sequence[str]) -> None:
        title = "Some hooks are not used as they are written"
        notice = Notice(item=new_id("ntc"), severity="warning", title=title, description="\n".join(troubles))
        await self._session.publish(notice, committed=False)


if TYPE_CHECKING:
    _conforms: type[SessionExtension] = SessionHooks
