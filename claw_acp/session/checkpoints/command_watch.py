"""The commands of a session that may change files: from a survey before each to the changes after it."""

import logging
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
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
from claw_acp.session.checkpoints.survey import Survey, is_history
from claw_acp.session.checkpoints.surveyor import MOST_CHANGES, OTHERS, Bounds, Surveyor
from claw_acp.session.session import Session
from claw_acp.store.contents import ContentStore
from claw_acp.workspace.tree_scan import MOST_PATHS, TreeScan

log = logging.getLogger(__name__)

LOOK: Final = 1.0  # seconds to find out whether a command of an earlier turn still runs

_FULL: Final = 5  # a survey of which a fifth differs is kept as a whole
STATE_KEY: Final = "checkpoints.commands"


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
        most: The most paths that are looked at.
        others: The bounds of what is kept of files that a command does not name.
    """

    def __init__(self, store: ContentStore, *, most: int = MOST_PATHS, others: Bounds = OTHERS) -> None:
        self.most = most
        self.surveyor = Surveyor(store, most=most, others=others)
        self.running: dict[str, WatchedCommand] = {}
        self.told_incomplete = False
        self._store = store
        self._count = count(1)
        self._recorded: dict[str, int] = {}  # path -> when a change of it was recorded last
        self._base: tuple[Survey, str] | None = None  # kept as a whole; later ones as what differs from it

    @classmethod
    def on(cls, state: ToolState, *, store: ContentStore) -> "CommandWatch":
        """The commands of the session that owns the state."""
        watch = state.get(STATE_KEY, partial(cls, store))
        assert isinstance(watch, cls)
        return watch

    def recorded(self, changes: Sequence[PathChange]) -> None:
        """Note that these changes are in the journal: they are no command's that runs beside."""
        now = self.moment()
        self._recorded |= {change.path: now for change in changes}

    def recorded_since(self, path: str, moment: int) -> bool:
        """Return whether a change of this path was recorded after that moment."""
        return self._recorded.get(path, 0) > moment

    def moment(self) -> int:
        """A number for this moment."""
        return next(self._count)

    async def begin(self, session: Session, command: Command, *, roots: Sequence[Path]) -> "WatchedCommand":
        """Keep what a command may destroy, and journal it.

        Raises:
            ToolError: It cannot be kept.
        """
        watched = WatchedCommand(self, session, command, roots=roots)
        await watched.begin(session.history.turns.latest, await to_thread.run_sync(self.surveyor.scan, roots))
        return watched

    async def finish(self, session: Session) -> Sequence[PathChange]:
        """Journal the changes of commands that began in earlier turns: the program was killed, or they still run.

        Somebody else may have changed the same files meanwhile, so how the command left them is not known. Returns the
        changes of those that still run; they are observed further.
        """
        pending = tuple(session.history.pending_files.commands.values())
        scan = await to_thread.run_sync(self.surveyor.scan, session.roots)
        ongoing: list[PathChange] = []
        for begun in pending:
            watched = self.running.pop(begun.command, None)
            moment = 0 if watched is None else watched.moment
            changes = await to_thread.run_sync(self._changes_since, begun.survey, scan)
            own = [replace(change, after=None) for change in changes if not self.recorded_since(change.path, moment)]
            self.recorded(own)
            await session.publish(replace(begun, changes=tuple(own)))
            if watched is not None:
                ongoing += own
                if not await watched.over():
                    await watched.begin(begun.item, scan)
        return ongoing

    def _changes_since(self, survey: str, scan: TreeScan) -> Sequence[PathChange]:
        try:
            return self.surveyor.changes(Survey.unpacked(survey, get=self._store.get), scan)
        except (ToolError, ValueError, KeyError) as error:  # swept or damaged
            log.warning("the changes of a command stay unknown", extra={"reason": str(error)})
            return ()

    def survey(self, command: Command, scan: TreeScan, roots: Sequence[Path]) -> tuple[Survey, str]:
        """The survey before a command, and the hash under which it is kept."""
        survey = self.surveyor.survey(scan, roots, line=command.line, cwd=command.cwd)
        if self._base is not None and self._store.keep(self._base[1]):
            changed = survey.changed_since(self._base[0])
            if len(changed) * _FULL < len(scan.paths):
                return survey, self._store.put(survey.packed(base=self._base[1], changed=changed))
        self._base = survey, self._store.put(survey.packed())
        return self._base


class WatchedCommand:
    """One command, from its survey to its changes.

    Attributes:
        moment: When it was surveyed.
        process: The running program.
    """

    def __init__(self, watch: CommandWatch, session: Session, command: Command, *, roots: Sequence[Path]) -> None:
        self.moment = 0
        self.process: RunningProcess | None = None
        self._watch = watch
        self._session = session
        self._command = command
        self._roots = roots
        self._id = ""
        self._turn = ""
        self._survey: Survey | None = None

    async def begin(self, turn: str, scan: TreeScan) -> None:
        """Journal that the command may change files from now on, for this turn.

        Raises:
            ToolError: What it may destroy cannot be kept.
        """
        self._survey, digest = await to_thread.run_sync(self._watch.survey, self._command, scan, self._roots)
        self._id, self._turn = new_id("task"), turn
        await self._session.publish(FilesChanged(item=turn, command=self._id, survey=digest))
        self.moment = self._watch.moment()
        self._watch.running[self._id] = self
        if not scan.complete and not self._watch.told_incomplete:
            self._watch.told_incomplete = True
            text = f"The folder has more than {self._watch.most:,} files; only some changes by commands are recorded."
            await self._session.broadcast(_warning(text))

    async def over(self) -> bool:
        """Return whether the program has ended, as far as can be told at once."""
        with anyio.move_on_after(LOOK):
            return self.process is None or (await self.process.output()).exit is not None
        return False

    async def end(self) -> None:
        """Journal what has changed since the beginning; only once, and only while a turn runs.

        Without a turn the journal is not ours to write; the next turn then finds a command that never ended.
        """
        survey = self._survey
        if survey is None or self._id not in self._watch.running or self._session.state == "idle":
            return
        del self._watch.running[self._id]
        scan = await to_thread.run_sync(self._watch.surveyor.scan, self._roots)
        changes = await to_thread.run_sync(self._watch.surveyor.changes, survey, scan)
        own = tuple(change for change in changes if not self._watch.recorded_since(change.path, self.moment))
        self._watch.recorded(own)
        done = FilesChanged(item=self._turn, command=self._id, changes=own)
        await self._session.publish(done, committed=False)
        text = _not_kept(own)
        if len(changes) >= MOST_CHANGES:
            text += f" The command changed more than {MOST_CHANGES:,} files; only as many are recorded."
        if text:
            await self._session.broadcast(_warning(text.strip()))


def _not_kept(changes: Sequence[PathChange]) -> str:
    """Sentences about what cannot be restored; empty if all can."""
    lost = [change.path for change in changes if change.before.kind == "file" and not change.before.kept]
    names = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
    text = f"No copy of these files was kept before the command changed them: {names}." if lost else ""
    gone = [change.path for change in changes if is_history(change) and not (change.after and change.after.digest)]
    return text + (f" Git's own files are gone, with the history of the project: {', '.join(gone)}." if gone else "")


def _warning(text: str) -> Notice:
    return Notice(item=new_id("ntc"), severity="warning", title="Not all of this can be undone", description=text)


class WatchedProcess:
    """A running program whose changes of files are journalled when it is released."""

    def __init__(self, process: RunningProcess, watched: WatchedCommand) -> None:
        self._process = process
        self._watched = watched
        watched.process = process

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
