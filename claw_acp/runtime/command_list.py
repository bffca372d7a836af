"""Which slash commands can be typed in a session, by origin, and the files of prompts among them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from claw_acp.config.locations import Locations
from claw_acp.contracts.command import Command, CommandGroup
from claw_acp.registry.reference import Ref
from claw_acp.session.session import Session

if TYPE_CHECKING:
    from claw_acp.commands.prompt_folders import PromptFolders

# Loaded when it is looked for such files: a new session is answered before.
FOLDERS: "Ref[Callable[..., PromptFolders]]" = Ref("claw_acp.commands.prompt_folders:watched")

BUILT_IN: Final = "Built in"
PROJECT: Final = "From this project"
USER: Final = "Your own"
SERVERS: Final = "From MCP servers"


class CommandList:
    """The commands of one session: ours, those of prompt files, and those of its MCP servers.

    A name belongs to the first that has it: ours, then the user's files, the project's, the servers'.

    Args:
        session: Whose folders are looked at.
        locations: Where the user's own files are.
        own: Our commands.
        lent: Those of the session's servers, as they are now.
    """

    def __init__(
        self,
        session: Session,
        *,
        locations: Locations,
        own: Callable[[], Sequence[Command]],
        lent: Callable[[], Sequence[Command]],
    ) -> None:
        self._session = session
        self._locations = locations
        self._own = own
        self._lent = lent
        self._folders: PromptFolders | None = None

    def __call__(self) -> Sequence[Command]:
        """All commands, each name once."""
        return [command for group in self.groups() for command in group.commands]

    def groups(self) -> Sequence[CommandGroup]:
        """All commands by their origin; groups without any are left out."""
        files: Mapping[str, Sequence[Command]] = {} if self._folders is None else self._folders.commands
        found = [
            (BUILT_IN, self._own()),
            (USER, files.get("user", ())),
            (PROJECT, files.get("project", ())),
            (SERVERS, self._lent()),
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
        """The troubles with files that were meant as commands."""
        return () if self._folders is None else self._folders.troubles

    async def look(self) -> bool:
        """See which files there are now; True when the commands are not what they were."""
        return await to_thread.run_sync(self._look)

    def _look(self) -> bool:
        if self._folders is None:
            roots: Callable[[], Sequence[Path]] = lambda: self._session.roots  # noqa: E731 - a value that changes
            taken = partial(_names, self._own)
            self._folders = FOLDERS.load()(roots, config_dir=self._locations.config_dir, taken=taken)
        return self._folders.look()


def _is_new(name: str, taken: set[str]) -> bool:
    """Return whether a command can have this name; servers choose theirs freely."""
    return bool(name) and name not in taken and not any(character.isspace() for character in name)


def _names(commands: Callable[[], Sequence[Command]]) -> frozenset[str]:
    return frozenset(command.name for command in commands())
