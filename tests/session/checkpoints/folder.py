"""A folder that an agent, commands, a person and crashes change, and the session that must be able to go back."""

import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

from claw_acp.contracts.workspace import Command
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ToolError
from claw_acp.core.events import MessageStarted, StateChanged
from claw_acp.core.ids import new_id
from claw_acp.core.messages import TextPart
from claw_acp.core.value import replace
from claw_acp.session.checkpoints.command_watch import CommandWatch
from claw_acp.session.checkpoints.recorder import RecordedWorkspace
from claw_acp.session.checkpoints.session_checkpoints import SessionCheckpoints
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import Session
from claw_acp.store.contents import ContentStore
from claw_acp.workspace.local import LocalWorkspace
from tests.session.checkpoints.stopping import Stopped, StoppingJournal, others_work, stopped_at

_T = TypeVar("_T")
Tree = Mapping[str, tuple[str, int]]
_REPOSITORY = """repository() {
    git init -q; git add -A; git commit -qm all; touch -d @1 $(git ls-files); git update-index --refresh
}"""  # git trusts the status of files that are older than its index
Deed = Callable[[Path, str], object]
"""Changes a folder; the text is that of files it writes."""


def tree_of(folder: Path) -> dict[str, tuple[str, int]]:
    """All files and links of a folder, with content and mode."""
    found: dict[str, tuple[str, int]] = {}
    for path in folder.rglob("*"):
        if ".git" in path.relative_to(folder).parts or path.name.startswith(".claw-acp-"):
            continue  # the latter a killed program has left behind
        if path.is_symlink():
            found[str(path.relative_to(folder))] = f"-> {path.readlink()}", 0
        elif path.is_file():
            found[str(path.relative_to(folder))] = path.read_text(), path.stat().st_mode & 0o777
    return found


def exact_tree_of(folder: Path) -> dict[bytes, tuple[int, bytes]]:
    """All paths of a folder but those of git: each with its mode, and the bytes or the target."""
    found: dict[bytes, tuple[int, bytes]] = {}
    waiting = [os.fsencode(folder)]
    while waiting:
        for entry in sorted(os.scandir(waiting.pop()), key=lambda entry: entry.name):
            mode = entry.stat(follow_symlinks=False).st_mode
            content = b""
            if entry.is_symlink():
                content = os.fsencode(Path(os.fsdecode(entry.path)).readlink())
            elif entry.is_file():
                content = _read_anyway(entry.path)
            elif entry.name != b".git" and os.access(entry.path, os.X_OK):
                waiting.append(entry.path)
            if entry.name != b".git":
                found[os.path.relpath(entry.path, os.fsencode(folder))] = mode, content
    return found


def _read_anyway(path: bytes) -> bytes:
    return Path(os.fsdecode(path)).read_bytes() if os.access(path, os.R_OK) else b"closed"


class Project:
    """One session in one folder. Made by `opened`."""

    def __init__(self, folder: Path, *, journal: Journal, store: ContentStore, record: SessionRecord) -> None:
        self.folder = folder
        self.store = store
        self._journal = journal
        self._record = record
        self.session = self._open()

    @classmethod
    @asynccontextmanager
    async def opened(cls, place: Path, *, inside: str = ".") -> "AsyncGenerator[Project]":
        folder = place / "project" / inside
        folder.mkdir(parents=True)
        record = SessionRecord(id="s", cwd=str(folder), mode="auto", model="m", created_at=0.0, updated_at=0.0)
        async with StoppingJournal.opened(place / "claw.db") as journal:
            await journal.create(record)
            yield cls(folder, journal=journal, store=ContentStore(place / "blobs"), record=record)

    def _open(self) -> Session:
        return Session(self._record, journal=self._journal, clock=SYSTEM_CLOCK, roots=[self.folder])

    @property
    def checkpoints(self) -> SessionCheckpoints:
        """Its checkpoints."""
        return SessionCheckpoints(
            self.session, workspace=LocalWorkspace([self.folder]), store=self.store, clock=SYSTEM_CLOCK
        )

    @property
    def workspace(self) -> RecordedWorkspace:
        """The files as tools have them."""
        return RecordedWorkspace(LocalWorkspace([self.folder]), session=self.session, store=self.store)

    async def reopen(self) -> None:
        """Go on as another program does after a crash."""
        self.session = self._open()
        await self.session.catch_up()
        await self.checkpoints.resume()

    async def begin_turn(self) -> str:
        """Begin a turn with a prompt; returns its id."""
        turn = new_id("turn")
        await self.session.publish(StateChanged(item=turn, state="running"))
        message = MessageStarted(item=new_id("msg"), role="user", parts=(TextPart(text=f"prompt of {turn}"),))
        await self.session.publish(message)
        return turn

    async def end_turn(self) -> None:
        """End the turn."""
        await self.session.publish(StateChanged(item=self.session.history.turns.latest, state="idle", stop="end_turn"))

    async def write(self, name: str, text: str) -> bool:
        """Write as our tools do; returns True."""
        with suppress(ToolError):
            await self.workspace.write_text(self.workspace.locate(name), text)
        return True

    async def delete(self, name: str) -> bool:
        """Delete a file as our tools do; returns True."""
        with suppress(ToolError):
            await self.workspace.delete_file(self.folder / name)
        return True

    async def move(self, name: str, other: str) -> bool:
        """Move a file as our tools do; returns True."""
        with suppress(ToolError):
            await self.workspace.move_file(self.folder / name, target=self.folder / other)
        return True

    async def command(self, deed: Deed, text: str, *, line: str = "make") -> bool:
        """Change files as a command does; returns True."""
        watch = CommandWatch.on(self.session.tool_state, store=self.store)
        watched = await watch.begin(self.session, Command(line=line, cwd=self.folder), roots=[self.folder])
        with others_work():
            self.by_hand(deed, text)
        await watched.end()
        return True

    async def shell(self, line: str) -> None:
        """Run a command line in the project, as the agent's shell does."""
        await self.command(lambda folder, _: run_line(line, cwd=folder), "", line=line)

    async def survives(self, act: Awaitable[_T], *, stop: int) -> _T | None:
        """Have the program do something; at its operation `stop` it is killed, and another one goes on.

        Returns the result; None if it was killed.
        """
        with stopped_at(stop), suppress(Stopped):
            return await act
        await self.reopen()
        return None

    async def copied(self) -> "Project":
        """A copy of the session, for the same folder."""
        record = replace(self._record, id=new_id("ses"))
        await self._journal.fork(record, source=self._record.id)
        copy = Project(self.folder, journal=self._journal, store=self.store, record=record)
        await copy.session.catch_up()
        return copy

    def by_hand(self, deed: Deed, text: str) -> None:
        """Change files as a person does."""
        with suppress(OSError):
            deed(self.folder, text)


def run_line(line: str, *, cwd: Path) -> None:
    """Run a command line with bash and a git that knows only us. `repository` commits all, as a while ago."""
    who = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **who}
    subprocess.run(
        ["bash", "-ec", f"{_REPOSITORY}\n{line}"], cwd=cwd, env=environment, check=True, capture_output=True, timeout=30
    )


def write(name: str) -> Deed:
    """Write a file, and make its directories."""

    def deed(folder: Path, text: str) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    return deed


def remove(name: str) -> Deed:
    """Remove a file, a link or a whole directory."""

    def deed(folder: Path, _: str) -> None:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    return deed


def move(name: str, other: str) -> Deed:
    """Rename."""
    return lambda folder, _: (folder / name).rename(folder / other)


def link(name: str, target: str) -> Deed:
    """Make a link."""
    return lambda folder, _: (folder / name).symlink_to(target)


def git(line: str) -> Deed:
    """Have git change the folder; what it refuses stays as it is."""
    return lambda folder, _: run_line(f"{line} || true", cwd=folder)


def chmod(name: str, mode: int) -> Deed:
    """Change the mode of a file."""
    return lambda folder, _: (folder / name).chmod(mode) if (folder / name).is_file() else None
