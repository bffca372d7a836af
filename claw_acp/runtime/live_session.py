"""A session in use with its attachments, and the registry of sessions in use."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import anyio

from claw_acp.agent.system_prompt import SystemPrompt
from claw_acp.config.current import CurrentSettings
from claw_acp.config.settings import Settings
from claw_acp.core.value import Record, made_by
from claw_acp.runtime.command_list import CommandList
from claw_acp.runtime.extensions import Extensions
from claw_acp.session.extension import SessionExtension
from claw_acp.session.record import BACKGROUND
from claw_acp.session.session import Session
from claw_acp.session.setup import SessionSetup
from claw_acp.workspace.local import LocalWorkspace

if TYPE_CHECKING:
    from claw_acp.contracts.place import Place
    from claw_acp.runtime.running_turn import RunningTurn
    from claw_acp.runtime.waiting_question import WaitingQuestion
    from claw_acp.session.stores import EventBus, JournalStore, SessionLocks


class Places:
    """The places of one session in the order in which they came. A number is given once, so it stays unambiguous.

    Attributes:
        lead: The one that the lead was handed over to; it leads all turns that begin.
        awaited: The lead was handed over to the next one that comes.
        changed: Set, and replaced, with each change.
    """

    def __init__(self) -> None:
        self._numbers: dict[Place, int] = {}
        self._last = 0
        self.lead: Place | None = None
        self.awaited = False
        self.changed = anyio.Event()

    def __iter__(self) -> "Iterator[Place]":
        return iter(tuple(self._numbers))

    def __contains__(self, place: "Place") -> bool:
        return place in self._numbers

    def number(self, place: "Place") -> int:
        """The number of one of them."""
        return self._numbers[place]

    def add(self, place: "Place") -> None:
        """Add one that came."""
        self._last += 1
        self._numbers[place] = self._last
        self.tell()

    def remove(self, place: "Place") -> None:
        """Remove one that left."""
        del self._numbers[place]
        if self.lead is place:
            self.lead = None
        self.tell()

    def tell(self) -> None:
        """Wake those who wait for a change."""
        self.changed.set()
        self.changed = anyio.Event()


class LiveSession(Record):
    """A session in use.

    Attributes:
        session: The conversation.
        configuration: The configuration in force where it was opened.
        settings: The settings of its folder, as last read.
        workspace: Its files and programs on this machine.
        setup: The setup it was opened with.
        commands: The slash commands that can be typed now.
        extensions: Supply further tools, commands and instructions.
        notices: Problems with the set-up to show: no model, mistakes in the configuration.
        prompt: The system prompt, without the layers of extensions.
        turns: The turn that runs, and those that wait behind it.
        questions: Permission questions that wait for an answer.
        places: The clients that have it open.
        closed: Set when it has been closed; present while it is closing.
        parent: The session that an attempt belongs to; None for all others.
        delegated_by: The session that gave a subagent its task; None for all others.
        subagents: The sessions of subagents that are at work for it, by id.
    """

    session: Session
    configuration: CurrentSettings
    settings: Settings
    workspace: LocalWorkspace
    setup: SessionSetup
    commands: CommandList
    extensions: Extensions
    notices: Sequence[str] = ()
    prompt: SystemPrompt = made_by(default_factory=SystemPrompt)
    turns: "list[RunningTurn]" = made_by(default_factory=list["RunningTurn"])
    questions: "list[WaitingQuestion]" = made_by(default_factory=list["WaitingQuestion"])
    places: Places = made_by(default_factory=Places)
    closed: anyio.Event | None = None
    parent: "LiveSession | None" = None
    delegated_by: "LiveSession | None" = None
    subagents: "dict[str, LiveSession]" = made_by(default_factory=dict[str, "LiveSession"])

    def enter(self, place: "Place") -> None:
        """Note that a client has the session open, and has been told so: from now on it is asked. Idempotent.

        It becomes the lead if that was handed over to the next one.
        """
        if place in self.places:
            return
        self.places.add(place)
        if self.places.awaited and place.workspace is not None:
            self.hand_over(place)

    def leave(self, place: "Place") -> None:
        """Note that a client has it open no more: the turns that it leads end. Idempotent."""
        if place not in self.places:
            return
        self.places.remove(place)
        for turn in self.turns:
            if turn.lead is place:
                turn.cancel()

    def hand_over(self, to: "Place | None") -> None:
        """Make a place the lead of all turns of places, also of those that follow; None: the next one that comes."""
        self.places.lead, self.places.awaited = to, to is None
        for turn in self.turns:
            turn.hand_over(to)

    def goes_on_without(self, place: "Place") -> bool:
        """Return whether the work goes on when a place leaves, because the lead was handed over."""
        return self.places.awaited or self.places.lead not in {None, place}

    @property
    def wanted(self) -> bool:
        """True if it must not be closed: somebody has it open, a turn runs, or it waits for its next place."""
        return bool(self.session.subscribers) or self.session.busy or self.places.awaited

    @property
    def origin(self) -> "LiveSession":
        """The session whose folder, rules, mode and budget count: that of the person's prompt."""
        above = self.parent or self.delegated_by
        return self if above is None else above.origin

    @property
    def records_files(self) -> bool:
        """True if the changes of its turns are recorded here: not in a copy, nor in the session that waits for it."""
        beside = BACKGROUND in self.session.record.options
        return self.parent is None and (self.delegated_by is None or beside)

    @property
    def depth(self) -> int:
        """The number of subagents above each other, up to this one; 0: it is none."""
        return 0 if self.delegated_by is None else self.delegated_by.depth + 1


class LiveSessions:
    """The sessions in use in this process, by id.

    Attributes:
        on_opened: Called with every session that is opened.
        lasting: They outlast the clients that opened them, as in a hub.
    """

    def __init__(self) -> None:
        self.lasting = False
        self._by_id: dict[str, LiveSession] = {}
        self.on_opened: Callable[[LiveSession], None] | None = None

    def add(self, live: LiveSession) -> None:
        """Add a session that was just opened."""
        self._by_id[live.session.id] = live
        if self.on_opened is not None:
            self.on_opened(live)

    def remove(self, session_id: str) -> None:
        """Remove a session that was closed."""
        del self._by_id[session_id]

    def find(self, session_id: str) -> LiveSession | None:
        """The session with this id, also while it is being closed."""
        return self._by_id.get(session_id)

    def __iter__(self) -> Iterator[LiveSession]:
        return iter(tuple(self._by_id.values()))


def _own_bus(_session_id: str) -> None:
    """Each session's subscribers are in this process."""


class SharedSessions(Record):
    """The sessions of a process, shared by all its engines.

    Attributes:
        journal: Stores all.
        live: Those in use.
        locks: Keep other processes from writing to one at the same time.
        added: Make further extensions of every session, also of those that are open already.
        bus: Makes what carries the events of a session, by its id; None: its subscribers are in this process.
    """

    journal: "JournalStore"
    live: LiveSessions
    locks: "SessionLocks"
    added: list[Callable[[Session], SessionExtension]] = made_by(
        default_factory=list[Callable[[Session], SessionExtension]]
    )
    bus: "Callable[[str], EventBus | None]" = _own_bus
