"""The checkpoints of a session: the changes of its turns, with undo and redo."""

import codecs
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from claw_acp.contracts.checkpoints import (
    Checkpoints,
    FileComparison,
    OnEdited,
    Restored,
    RestoredFile,
    Scope,
    TurnSummary,
)
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.clock import Clock
from claw_acp.core.errors import InvalidRequest, ToolError
from claw_acp.core.events import FilesRestored, Notice, PathChange, PathState
from claw_acp.core.ids import new_id
from claw_acp.core.value import Value, replace
from claw_acp.session.checkpoints.command_watch import CommandWatch
from claw_acp.session.checkpoints.log import Chain, CheckpointLog, is_edited, saved, turn_at
from claw_acp.session.checkpoints.recorder import MAX_COPY, present_state
from claw_acp.session.checkpoints.restoring import Restorer
from claw_acp.session.checkpoints.survey import is_history
from claw_acp.session.session import Session
from claw_acp.store.contents import MAX_CONTENT, ContentStore
from claw_acp.workspace.files import read
from claw_acp.workspace.path_states import ABSENT, state_of

_MOST_NAMES: Final = 10
_PROMPT: Final = 60  # characters of a prompt in a list


class RestorePlan(Value):
    """What can be done to bring files to other states.

    `edited` files were changed by others, `failed` ones cannot be changed, each with the reason; with `waits` a person
    has to say first what becomes of those. `repositories` are the `.git` of those whose history stays as it is.
    """

    changes: tuple[PathChange, ...]
    edited: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    waits: bool
    repositories: tuple[str, ...] = ()


class SessionCheckpoints:
    """See `Checkpoints`. To be used while the session runs no turn.

    Args:
        session: The session.
        workspace: Its files, an editor's if there is one.
        store: Keeps the contents.
        clock: Makes ids.
    """

    def __init__(self, session: Session, *, workspace: Workspace, store: ContentStore, clock: Clock) -> None:
        self._session = session
        self._workspace = workspace
        self._store = store
        self._clock = clock
        self._restorer = Restorer(session, workspace=workspace, store=store)

    async def resume(self) -> None:
        """Finish what a killed program has left open: commands whose changes are not known, and an undo."""
        files = self._session.history.pending_files
        if files.commands:
            ongoing = await CommandWatch.on(self._session.tool_state, store=self._store).finish(self._session)
            if ongoing:
                names = ", ".join(self._shown(change.path) for change in ongoing[:_MOST_NAMES])
                more = f" and {len(ongoing) - _MOST_NAMES:,} more" if len(ongoing) > _MOST_NAMES else ""
                await self._say("A command in the background, or you, changed files since the last turn", names + more)
        restoring = files.restoring
        if restoring is None:
            return
        failed = await self._restorer.finish(restoring)
        what = "The taking of an attempt" if restoring.takes else "An undo"
        title = f"{what} that was interrupted has been finished"
        reasons = "; ".join(f"{self._shown(path)} stays as it is: {reason}" for path, reason in failed)
        await self._say(title, reasons)

    async def _say(self, title: str, text: str) -> None:
        item = new_id("ntc", clock=self._clock)
        await self._session.broadcast(Notice(item=item, severity="info", title=title, description=text or None))

    async def turns(self) -> Sequence[TurnSummary]:
        """See `Checkpoints`."""
        log = await self._log()
        return [
            TurnSummary(
                number=turn.number,
                prompt=_beginning(turn.prompt),
                files=tuple(self._shown(path) for path in log.since(turn.first, until=turn.last)),
            )
            for turn in log.turns
        ]

    async def undo(
        self, turn: int | None, *, scope: Scope = "all", path: str | None = None, edited: OnEdited = "ask"
    ) -> Restored:
        """See `Checkpoints`."""
        log = await self._log()
        turns = log.turns
        chosen = turn_at(turns, turn)
        chains: Mapping[str, Chain] = {} if scope == "conversation" else log.since(chosen.first)
        if path is not None:
            located = str(self._workspace.locate(path))
            chains = {name: chain for name, chain in chains.items() if name in {located, path}}
            if not chains:
                raise InvalidRequest(f"{path} was not changed since turn {chosen.number}")
        conversation = scope != "files" and path is None
        if not (chains or conversation):
            raise InvalidRequest(f"no file was changed since turn {chosen.number}")
        begun = FilesRestored(
            item=new_id("undo", clock=self._clock), status="in_progress", turn=chosen.id, conversation=conversation
        )
        restored = await self._restore(begun, chains, edited=edited)
        after = sum(other.number >= chosen.number for other in turns) if conversation and not restored.waits else 0
        return replace(restored, turn=chosen.number, turns=after)

    async def redo(self, *, skip: bool = False) -> Restored:
        """See `Checkpoints`."""
        log = await self._log()
        undo = log.last_undo
        if undo is None:
            stale = " since your last prompt; what came before it stays undone" if log.undos else ""
            raise InvalidRequest(f"nothing was undone{stale}")
        backwards = {change.path: Chain(change=change) for change in undo.changes}
        begun = FilesRestored(
            item=new_id("undo", clock=self._clock),
            status="in_progress",
            turn=undo.turn,
            redoes=undo.item,
            conversation=undo.conversation,
        )
        restored = await self._restore(begun, backwards, edited="skip" if skip else "ask")
        if restored.waits:
            return restored
        now = CheckpointLog(await self._session.read()).turns
        number = next((turn.number for turn in now if turn.id == undo.turn), 0)
        return replace(restored, turn=number, turns=len(now) - number + 1 if undo.conversation and number else 0)

    async def compare(self, turn: int | None) -> Sequence[FileComparison]:
        """See `Checkpoints`."""
        log = await self._log()
        if turn is None:
            changed = [past for past in log.turns if log.since(past.first, until=past.last)]
            if not changed:
                raise InvalidRequest("no turn of this conversation changed a file")
            chosen = changed[-1]
        else:
            chosen = turn_at(log.turns, turn)
        chains = log.since(chosen.first, until=chosen.last)
        return [await to_thread.run_sync(self._compared, chains[path].change) for path in sorted(chains)]

    # ------------------------------------------------------------------ inside

    async def _log(self) -> CheckpointLog:
        return CheckpointLog(await self._session.read())

    async def plan_to_take(self, changes: Iterable[PathChange], *, edited: OnEdited) -> "RestorePlan":
        """A plan to make changes that were made elsewhere, to copies of the files as they were before."""
        backwards = (
            PathChange(path=change.path, before=change.after or PathState(), after=change.before) for change in changes
        )
        plan = await self._planned({change.path: Chain(change=change) for change in backwards}, edited=edited)
        return replace(plan, waits=plan.waits and bool(plan.edited))

    async def take(self, plan: "RestorePlan", *, number: int) -> Restored:
        """Carry out a plan in the turn that runs, as the changes of the attempt with that number."""
        turn = self._session.history.turns.latest
        begun = FilesRestored(item=new_id("undo", clock=self._clock), status="in_progress", turn=turn, takes=number)
        return await self._carried_out(begun, plan)

    async def compared(self, changes: Sequence[PathChange]) -> Sequence[FileComparison]:
        """The files before and after changes."""
        return await to_thread.run_sync(lambda: [self._compared(change) for change in changes])

    async def _restore(self, begun: FilesRestored, chains: Mapping[str, Chain], *, edited: OnEdited) -> Restored:
        """Restore every path to the state before its chain; `edited` decides about paths that others edited."""
        plan = await self._planned(chains, edited=edited, conversation=begun.conversation)
        if plan.waits or not (plan.changes or begun.conversation):
            return self._not_restored(plan)
        return await self._carried_out(begun, plan)

    async def _planned(
        self, chains: Mapping[str, Chain], *, edited: OnEdited, conversation: bool = False
    ) -> RestorePlan:
        """What can be done; `conversation` says that the conversation goes back as well."""
        present = await self._present(chains)
        changes: list[PathChange] = []
        touched: list[str] = []
        failed: list[tuple[str, str]] = []
        for path, now in present.items():
            chain = chains[path]
            change = PathChange(path=path, before=now, after=saved(chain.change.before))
            if now.same_as(change.after or ABSENT):
                changes.append(change)  # it is there already, and counts as undone
            elif reason := self._restorer.obstacle(change):
                failed.append((self._shown(path), reason))
            elif is_edited(chain, now) and edited != "overwrite":
                touched.append(self._shown(path))
            else:
                changes.append(change)
        asks = bool(touched) or bool(failed and (changes or conversation))
        return RestorePlan(
            changes=tuple(changes),
            edited=tuple(touched),
            failed=tuple(failed),
            waits=edited == "ask" and asks,
            repositories=tuple(self._shown(path) for path, chain in chains.items() if is_history(chain.change)),
        )

    async def _carried_out(self, begun: FilesRestored, plan: RestorePlan) -> Restored:
        late = await self._restorer.carry_out(replace(begun, changes=plan.changes))
        lost = {path for path, _ in late}
        made = [change for change in plan.changes if change.path not in lost and change.before != change.after]
        return replace(
            self._not_restored(plan),
            files=tuple(RestoredFile(path=self._shown(change.path), deed=_deed(change)) for change in made),
            failed=(*plan.failed, *((self._shown(path), reason) for path, reason in late)),
        )

    def _not_restored(self, plan: RestorePlan) -> Restored:
        return Restored(edited=plan.edited, failed=plan.failed, waits=plan.waits, repositories=plan.repositories)

    async def _present(self, chains: Mapping[str, Chain]) -> dict[str, PathState]:
        """The present states, without git's. What lies behind a link that becomes a directory again is not there."""
        files = (path for path, chain in chains.items() if not is_history(chain.change))
        present = {path: await self._restorer.present(Path(path)) for path in files}
        links = tuple(
            f"{path}{os.sep}"
            for path, now in present.items()
            if now.kind == "link" and chains[path].change.before.kind == "directory"
        )
        return present | {path: ABSENT for path in present if links and path.startswith(links)}

    def _shown(self, path: str) -> str:
        for root in self._session.roots:
            if Path(path).is_relative_to(root):
                return str(Path(path).relative_to(root))
        return path

    def _compared(self, change: PathChange) -> FileComparison:
        if is_history(change):
            return FileComparison(path=self._shown(change.path), old=None, new=None, note="commits, branch or stash")
        after = change.after or present_state(Path(change.path), store=self._store, limit=MAX_COPY)
        old, old_note = self._text(change.before, path=change.path)
        new, new_note = self._text(after, path=change.path)
        notes = [note for note in (old_note, new_note) if note]
        if (old is None and old_note) or (new is None and new_note):
            old = new = None  # there is something, but no text to compare
        if change.after is None:
            notes.append("compared with its present state")
        if change.before.kind == after.kind == "file" and change.before.mode != after.mode:
            notes.append(f"mode {change.before.mode:o} → {after.mode:o}")
        return FileComparison(path=self._shown(change.path), old=old, new=new, note=", ".join(dict.fromkeys(notes)))

    def _content(self, state: PathState, *, path: str) -> bytes:
        """The content of a state, from the store or from the disk if that has it still.

        Raises:
            ToolError: Neither has it.
        """
        if state.kept:
            return self._store.get(state.unsaved or state.digest)
        if state.digest and state_of(Path(path)).digest == state.digest and state.kind == "file":
            return read(Path(path), limit=MAX_CONTENT)
        raise ToolError(f"{state.size:,} bytes, not kept")

    def _text(self, state: PathState, *, path: str) -> tuple[str | None, str]:
        """The text of a state, and a note if there is none to show."""
        if state.kind == "absent":
            return None, ""
        if state.kind not in {"file", "link"}:
            return None, "directory" if state.kind == "directory" else "not known"
        try:
            content = self._content(state, path=path)
        except ToolError as error:
            return None, error.message
        if state.kind == "link":
            return content.decode(errors="replace") + "\n", "symbolic link"
        if b"\0" in content:
            return None, f"binary, {len(content):,} bytes"
        return content.removeprefix(codecs.BOM_UTF8).decode(errors="replace"), ""


def _deed(change: PathChange) -> str:
    if change.after is None or change.after.kind == "absent":
        return "deleted"
    return "created again" if change.before.kind == "absent" else "changed back"


def _beginning(prompt: str) -> str:
    line = " ".join(prompt.split())
    return line if len(line) <= _PROMPT else f"{line[: _PROMPT - 1].rstrip()}…"


if TYPE_CHECKING:
    _conforms: type[Checkpoints] = SessionCheckpoints
