"""The slash commands of a session, by origin, and the prompt files among them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import Lock, to_thread

from claw_acp.config.locations import Locations
from claw_acp.contracts.command import Command, CommandGroup
from claw_acp.registry.reference import Ref
from claw_acp.runtime.extensions import Extensions
from claw_acp.session.session import Session

if TYPE_CHECKING:
    from claw_acp.commands.prompt_folders import PromptFolders

# Loaded when it is looked for such files: a new session is answered before.
FOLDERS: "Ref[Callable[..., PromptFolders]]" = Ref("claw_acp.commands.prompt_folders:watched")

BUILT_IN: Final = "Built in"
PROJECT: Final = "From this project"
USER: Final = "Your own"


class CommandList:
    """The commands of one session: ours, those of prompt files, and those of its extensions.

    The first command of a name wins: ours, then the user's files, the project's, the extensions'.

    Args:
        session: The session; its folders may hold prompt files.
        locations: The directories of the user's files.
        own: Our own commands.
        extensions: Have commands of their own.
    """

    def __init__(
        self,
        session: Session,
        *,
        locations: Locations,
        own: Callable[[], Sequence[Command]],
        extensions: Extensions,
    ) -> None:
        self._session = session
        self._locations = locations
        self._own = own
        self._extensions = extensions
        self._folders: PromptFolders | None = None
        self._looking = Lock()

    def __call__(self) -> Sequence[Command]:
        """All commands, each name once."""
        return [command for group in self.groups() for command in group.commands]

    def groups(self) -> Sequence[CommandGroup]:
        """All commands by origin, without empty groups."""
        files: Mapping[str, Sequence[Command]] = {} if self._folders is None else self._folders.commands
        found = [
            (BUILT_IN, self._own()),
            (USER, files.get("user", ())),
            (PROJECT, files.get("project", ())),
            *((group.name, group.commands) for group in self._extensions.command_groups()),
        ]
        taken: set[str] = set()
        groups: list[CommandGroup] = []
        for name, commands in found:
            fresh: list[Command] = []
            for command in commands:
                if _is_new(command.name, taken):
                    taken.add(command.name)
                    fresh.append(command)
            if fresh:
                groups.append(CommandGroup(name=name, commands=fresh))
        return groups

    @property
    def troubles(self) -> Sequence[str]:
        """The problems with files that were meant as commands."""
        return () if self._folders is None else self._folders.troubles

    async def look(self) -> bool:
        """Read files again that commands are made of; True when the commands have changed."""
        async with self._looking:  # who opened the session is told of what was found first, and nobody else
            if self._extensions.waits:
                await to_thread.run_sync(self._extensions.load_waiting)
                self._extensions.make_waiting()
            return await to_thread.run_sync(self._look)

    def _look(self) -> bool:
        if self._folders is None:
            roots: Callable[[], Sequence[Path]] = lambda: self._session.roots  # noqa: E731 - a value that changes
            self._folders = FOLDERS.load()(roots, config_dir=self._locations.config_dir, taken=self._own_names)
        changed = self._extensions.look()
        return self._folders.look() or changed

    def _own_names(self) -> frozenset[str]:
        return self._extensions.own_command_names() | {command.name for command in self._own()}


def _is_new(name: str, taken: set[str]) -> bool:
    """Return whether a command can have this name; servers choose theirs freely."""
    return name not in taken and name.split() == [name]
