"""The commands of a session that may change files: from a survey before each to the changes after it."""

import logging
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from claw_acp.contracts.tool import ToolState
from claw_acp.contracts.workspace import Command, ExitStatus, ProcessOutput, RunningProcess
from claw_acp.core.errors import ToolError
from claw_acp.core.events import FilesChanged, Notice, PathChange
from claw_acp.core.ids import new_id
from claw_acp.core.value import replace
from claw_acp.security.forbidden import harmless_device
from claw_acp.security.read_only.commands import only_looks
from claw_acp.security.read_only.plain_line import read_line
from claw_acp.session.checkpoints.survey import MOST_CHANGES, Survey, Surveyor
from claw_acp.session.session import Session
from claw_acp.store.contents import ContentStore

log = logging.getLogger(__name__)

_STATE_KEY: Final = "checkpoints.commands"


def only_reads(line: str) -> bool:
    """Return whether a command line is known to change no file."""
    plain = read_line(line)
    if plain is None or not only_looks(plain):
        return False
    redirects = (redirect for command in plain.commands for redirect in command.command.redirects)
    return not any(redirect.writes and not harmless_device(redirect.target or "") for redirect in redirects)


class CommandWatch:
    """The commands of one session that run now, and what its other changes were meanwhile.

    Args:
        store: Keeps contents and surveys.
    """

    def __init__(self, store: ContentStore) -> None:
        self.surveyor = Surveyor(store)
        self.running: dict[str, int] = {}  # id -> when it began
        self._store = store
        self._count = count(1)
        self._recorded: dict[str, int] = {}  # path -> when a change of it was recorded last
        self._last: tuple[Survey, str] | None = None

    @classmethod
    def on(cls, state: ToolState, *, store: ContentStore) -> "CommandWatch":
        """The commands of the session that owns the state."""
        watch = state.get(_STATE_KEY, partial(cls, store))
        assert isinstance(watch, cls)
        return watch

    def recorded(self, changes: Sequence[PathChange]) -> None:
        """Note that these changes are in the journal: they are no command's that runs beside."""
        now = next(self._count)
        self._recorded |= {change.path: now for change in changes}

    def recorded_since(self, path: str, moment: int) -> bool:
        """Return whether a change of this path was recorded after that moment."""
        return self._recorded.get(path, 0) > moment

    async def begin(self, session: Session, command: Command, *, roots: Sequence[Path]) -> "WatchedCommand":
        """Keep what a command may destroy, and journal it.

        Raises:
            ToolError: It cannot be kept.
        """
        survey, digest = await to_thread.run_sync(partial(self._survey, command, roots))
        begun = FilesChanged(item=session.history.turns.latest, command=new_id("task"), survey=digest)
        await session.publish(begun)
        self.running[begun.command] = next(self._count)
        return WatchedCommand(self, session, begun, survey=survey, roots=roots)

    async def finish(self, session: Session) -> None:
        """Journal the changes of commands that began in earlier turns: the program was killed, or they still run.

        Somebody else may have changed the same files meanwhile, so how the command left them is not known.
        """
        for begun in tuple(session.history.pending_files.commands.values()):
            moment = self.running.pop(begun.command, 0)
            changes = await to_thread.run_sync(self._changes_since, begun.survey, session.roots)
            own = [replace(change, after=None) for change in changes if not self.recorded_since(change.path, moment)]
            await session.publish(replace(begun, changes=tuple(own)))

    def _changes_since(self, survey: str, roots: Sequence[Path]) -> Sequence[PathChange]:
        try:
            return self.surveyor.changes(Survey.unpacked(self._store.get(survey)), roots)
        except (ToolError, ValueError, KeyError) as error:  # swept or damaged
            log.warning("the changes of a command stay unknown", extra={"reason": str(error)})
            return ()

    def _survey(self, command: Command, roots: Sequence[Path]) -> tuple[Survey, str]:
        survey = self.surveyor.survey(roots, line=command.line, cwd=command.cwd)
        if self._last is None or not self._last[0].same_as(survey):
            self._last = survey, self._store.put(survey.packed())
        return self._last


class WatchedCommand:
    """One command, from its survey to its changes."""

    def __init__(
        self, watch: CommandWatch, session: Session, begun: FilesChanged, *, survey: Survey, roots: Sequence[Path]
    ) -> None:  # fmt: skip
        self._watch = watch
        self._session = session
        self._begun = begun
        self._survey = survey
        self._roots = roots

    async def end(self) -> None:
        """Journal what has changed since the beginning; only once, and only while a turn runs.

        Without a turn the journal is not ours to write; the next turn then finds a command that never ended.
        """
        if self._begun.command not in self._watch.running or self._session.state == "idle":
            return
        moment = self._watch.running.pop(self._begun.command)
        changes = await to_thread.run_sync(self._watch.surveyor.changes, self._survey, self._roots)
        own = tuple(change for change in changes if not self._watch.recorded_since(change.path, moment))
        self._watch.recorded(own)
        await self._session.publish(replace(self._begun, changes=own), committed=False)
        lost = [change.path for change in own if change.before.kind == "file" and not change.before.kept]
        if lost or len(changes) >= MOST_CHANGES:
            await self._session.broadcast(_notice(lost, len(changes)))


def _notice(lost: Sequence[str], changes: int) -> Notice:
    names = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
    text = f"No copy of these files was kept before the command changed them: {names}." if lost else ""
    if changes >= MOST_CHANGES:
        text += f" The command changed more than {MOST_CHANGES:,} files; only as many are recorded."
    return Notice(
        item=new_id("ntc"), severity="warning", title="Not all of this can be undone", description=text.strip()
    )


class WatchedProcess:
    """A running program whose changes of files are journalled when it is released."""

    def __init__(self, process: RunningProcess, watched: WatchedCommand) -> None:
        self._process = process
        self._watched = watched

    @property
    def terminal_id(self) -> str | None:
        """See `RunningProcess`."""
        return self._process.terminal_id

    async def output(self) -> ProcessOutput:
        """See `RunningProcess`."""
        return await self._process.output()

    async def wait(self) -> ExitStatus:
        """See `RunningProcess`."""
        return await self._process.wait()

    async def changed(self, since: ProcessOutput) -> None:
        """See `RunningProcess`."""
        await self._process.changed(since)

    async def kill(self) -> None:
        """See `RunningProcess`."""
        await self._process.kill()

    def stop(self) -> bool:
        """See `RunningProcess`."""
        return self._process.stop()

    async def release(self) -> None:
        """See `RunningProcess`."""
        await self._process.release()
        await self._watched.end()


if TYPE_CHECKING:
    _conforms: type[RunningProcess] = WatchedProcess
