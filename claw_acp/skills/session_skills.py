"""The skills of one session, as a session extension."""

from collections.abc import Collection, Sequence

from anyio.abc import TaskGroup

from claw_acp.config.locations import find_locations
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.command import Command
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.contracts.tool import Tool
from claw_acp.core.clock import Clock
from claw_acp.registry.entry_points import TOOLS, discover
from claw_acp.session.extension import SessionExtension
from claw_acp.session.session import Session
from claw_acp.session.setup import SessionSetup
from claw_acp.skills.catalog import Catalog, make_catalog
from claw_acp.skills.command import SkillsCommand, commands
from claw_acp.skills.folders import FoundSkills, SkillFolder, SkillFolders, folders_for
from claw_acp.skills.index import instructions
from claw_acp.skills.tool import NAME, SkillTool
from claw_acp.workspace.entered_folders import EnteredFolders


class SessionSkills(SessionExtension):
    """See `SessionExtension`. Skills of a project count once the person trusts their text.

    Args:
        session: The session.
        tasks: Not used.
        clock: Not used.
        secrets: Not used.
    """

    name = "skills"
    own_names = frozenset({"skills"})

    def __init__(self, session: Session, *, tasks: TaskGroup, clock: Clock, secrets: SecretCache) -> None:
        del tasks, clock, secrets
        self._session = session
        self._settings = Settings()
        self._folders = SkillFolders(self._places)
        self._placed: tuple[object, Sequence[SkillFolder]] | None = None
        self._found = FoundSkills()
        self._agreed: Collection[ProjectFile] = ()
        self._catalog = Catalog()
        self._commands: Sequence[Command] = ()
        self._window = 0
        self._instructions: tuple[object, str] | None = None  # and what they were made of
        self._listing = SkillsCommand(self._current)
        self._tool: Sequence[Tool] = (SkillTool(self._current),)

    def configure(self, setup: SessionSetup, settings: Settings) -> None:  # noqa: ARG002 - the contract's
        """See `SessionExtension`."""
        self._settings = settings
        self._placed = None

    def look(self) -> bool:
        """See `SessionExtension`."""
        before = self._commands
        found = self._folders.look()
        if found != self._found:
            self._found = found
            self._renew()
        self._current()
        return before is not self._commands and _shown(before) != _shown(self._commands)

    def _places(self) -> Sequence[SkillFolder]:
        entered = tuple(EnteredFolders.on(self._session.tool_state).entered)
        asked = (self._session.roots, entered)
        if self._placed is None or self._placed[0] != asked:
            environ = self._settings.environ
            folders = folders_for(
                self._session.roots,
                entered=entered,
                config_dir=find_locations(environ).config_dir,
                environ=environ,
                more=self._settings.skills.folders,
            )
            self._placed = asked, folders
        return self._placed[1]

    def _current(self) -> Catalog:
        """The skills as far as they are trusted now."""
        files = self.project_files()
        if files and tuple(self._agreed) != (agreed := self.trust.trusted(files)):
            self._agreed = agreed
            self._renew()
        return self._catalog

    def _renew(self) -> None:
        found = self._found
        needs_tools = any(skill.needs.tools for skill in found.skills)
        self._catalog = make_catalog(
            found.skills,
            troubles=found.troubles,
            trusted=self.trust.trusted,
            environ=self._settings.environ,
            tools={NAME, *discover(*TOOLS)} if needs_tools else (),
            disabled=self._settings.skills.disabled,
        )
        self._commands = commands(self._catalog, listing=self._listing)

    def project_files(self) -> Sequence[ProjectFile]:
        """See `SessionExtension`."""
        return [skill.file for skill in self._found.skills if skill.file is not None]

    def fit(self, window: int) -> None:
        """See `SessionExtension`."""
        self._window = window

    def tools(self) -> Sequence[Tool]:
        """See `SessionExtension`."""
        return self._tool if self._catalog.entries else ()

    def commands(self) -> Sequence[Command]:
        """See `SessionExtension`."""
        self._current()
        return self._commands

    def instructions(self) -> str:
        """See `SessionExtension`."""
        made_of = self._current(), self._window, self._settings.skills.index
        if self._instructions is None or self._instructions[0] != made_of:
            catalog, window, form = made_of
            self._instructions = made_of, instructions(catalog, window=window, form=form)
        return self._instructions[1]


def _shown(commands: Sequence[Command]) -> Sequence[tuple[str, str, str | None]]:
    return [(command.name, command.description, command.hint) for command in commands]
