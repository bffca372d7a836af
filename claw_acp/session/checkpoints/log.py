"""The changes of files in a session and their undos, read from its events."""

from collections.abc import Iterable, Mapping, Sequence

from claw_acp.core.errors import InvalidRequest
from claw_acp.core.events import Event, FilesChanged, FilesRestored, MessageStarted, PathChange, PathState, StateChanged
from claw_acp.core.messages import TextPart
from claw_acp.core.value import Record, Value, replace
from claw_acp.session.turns import TurnLog


class FileEdit(Record):
    """One change of one path; `undone_by` is the undo that reverted it, empty while it stands."""

    turn: str
    seq: int
    change: PathChange
    undone_by: str = ""


class PastTurn(Value):
    """A turn that began with a prompt: its number in the present conversation, and its first and last position."""

    number: int
    id: str
    first: int
    last: int | None
    prompt: str


class Chain(Value):
    """All changes of a path since a turn began, as one change.

    `broken` is set if others changed it in between.
    """

    change: PathChange
    broken: bool = False


class CheckpointLog:
    """The changes of a session, folded from its whole journal."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.edits: list[FileEdit] = []
        self.undos: list[FilesRestored] = []
        """Undos in force, in order."""
        self._turns = TurnLog()
        self._began: dict[str, int] = {}
        self._prompts: dict[str, str] = {}  # of turns that have one
        for event in events:
            self._apply(event)

    def _apply(self, event: Event) -> None:
        match event:
            case FilesChanged():
                for change in event.changes:
                    self._edit(event, change)
            case FilesRestored(status="completed"):
                self._restore(event)
            case MessageStarted(role="user", local_only=False) if self._turns.latest:
                self._prompts.setdefault(self._turns.latest, _text(event))
            case _:
                self._turns.follow(event)
                if isinstance(event, StateChanged) and event.state == "running":
                    self._began.setdefault(event.item, event.seq)

    def _edit(self, event: FilesChanged, change: PathChange) -> None:
        if change.after is not None:
            for edit in reversed(self.edits):
                if edit.turn == event.item and edit.change.path == change.path and edit.change.after is None:
                    edit.change = change
                    return
        self.edits.append(FileEdit(turn=event.item, seq=event.seq, change=change))

    def _restore(self, event: FilesRestored) -> None:
        if event.takes:
            self.edits += [FileEdit(turn=event.turn, seq=event.seq, change=change) for change in event.changes]
            return
        paths = {change.path for change in event.changes}
        for edit in self.edits:
            if edit.change.path not in paths:
                continue
            if event.redoes:
                edit.undone_by = "" if edit.undone_by == event.redoes else edit.undone_by
            elif not edit.undone_by and self._place(edit) >= self._began.get(event.turn, 0):
                edit.undone_by = event.item
        if event.redoes:
            self.undos = [undo for undo in self.undos if undo.item != event.redoes]
        else:
            self.undos.append(event)

    def _place(self, edit: FileEdit) -> int:
        """The position that decides which undo a change belongs to: that of its turn.

        A command that ran on changed files later. When its turn was undone meanwhile, the change stands for itself.
        """
        began = self._began.get(edit.turn, edit.seq)
        return edit.seq if self._turns.is_undone(began) else began

    # ------------------------------------------------------------------ questions

    @property
    def turns(self) -> Sequence[PastTurn]:
        """The turns that began with a prompt, without undone ones."""
        spans = [span for span in self._turns.spans if span.id in self._prompts]
        return [
            PastTurn(number=number, id=span.id, first=span.first, last=span.last, prompt=self._prompts[span.id])
            for number, span in enumerate(spans, 1)
        ]

    @property
    def last_undo(self) -> FilesRestored | None:
        """The undo that a redo would revert: the last one, unless a prompt came after it."""
        if not self.undos:
            return None
        latest = max((first for id_, first in self._began.items() if id_ in self._prompts), default=0)
        return self.undos[-1] if self.undos[-1].seq > latest else None

    def since(self, first: int, *, until: int | None = None) -> Mapping[str, Chain]:
        """The standing changes of the turns from a position on (up to another), by path."""
        chains: dict[str, Chain] = {}
        for edit in self.edits:
            change = edit.change
            place = self._place(edit)
            if edit.undone_by or place < first or (until is not None and place > until):
                continue
            before = chains.get(change.path)
            if before is None:
                chains[change.path] = Chain(change=change)
                continue
            last = before.change.after
            broken = before.broken or last is None or not last.same_as(change.before)
            chains[change.path] = Chain(change=replace(before.change, after=change.after), broken=broken)
        return {path: chain for path, chain in chains.items() if not _is_nothing(chain.change)}


def _is_nothing(change: PathChange) -> bool:
    return change.after is not None and change.before.same_as(change.after)


def _text(event: MessageStarted) -> str:
    return next((part.text for part in event.parts if isinstance(part, TextPart)), "")


def is_edited(chain: Chain, now: PathState) -> bool:
    """Return whether others changed the path, or may have, since we did."""
    left = chain.change.after
    if chain.broken or left is None:
        return True
    return not (left.same_as(now) or saved(left).same_as(saved(now)))


def saved(state: PathState) -> PathState:
    """The state after the editor has saved what it shows."""
    return replace(state, digest=state.unsaved, unsaved="", kept=True) if state.unsaved else state


def turn_at(turns: Sequence[PastTurn], number: int | None) -> PastTurn:
    """The turn with this number; None: the last one.

    Raises:
        InvalidRequest: There is none.
    """
    if not turns:
        raise InvalidRequest("this conversation has no turn")
    if number is None:
        return turns[-1]
    found = next((turn for turn in turns if turn.number == number), None)
    if found is None:
        raise InvalidRequest(f"there is no turn {number}; they go from 1 to {turns[-1].number}")
    return found
