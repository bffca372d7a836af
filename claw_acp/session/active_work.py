"""The work running in a session: tool calls and background programs, each of which a person can end by itself."""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

import anyio
from anyio.abc import TaskGroup

from claw_acp.contracts.program import Program
from claw_acp.contracts.workspace import ExitStatus, ending
from claw_acp.core.events import CommandContent, Event, PartContent, TerminalChanged, ToolCallChanged
from claw_acp.core.messages import TextPart
from claw_acp.core.value import Record, made_by

log = logging.getLogger(__name__)

MOST_ENDS = 64  # of programs in the background that wait to be kept; one more, and the oldest is forgotten

Clean = Callable[[CommandContent], CommandContent]
Tell = Callable[[], Awaitable[None]]


class _Kept(Record):
    """A program that outlived its tool call."""

    program: Program
    call_id: str
    clean: Clean
    snapshot: CommandContent  # as shown last, clean
    scope: anyio.CancelScope = made_by(default_factory=anyio.CancelScope)
    over: anyio.Event = made_by(default_factory=anyio.Event)


class ActiveWork:
    """The tool calls and programs of one session.

    Args:
        broadcast: Shows an event to the session's subscribers without keeping it.
        keep_ends: Writes `ends` to the journal as soon as possible.
        tasks: The task group that follows background programs; None: they are not followed.

    Attributes:
        ends: Final changes of calls whose background programs have ended, not yet in the journal.
    """

    def __init__(
        self,
        broadcast: Callable[[Event], Awaitable[None]],
        *,
        keep_ends: Callable[[], Awaitable[None]],
        tasks: TaskGroup | None,
    ) -> None:
        self.ends: deque[ToolCallChanged] = deque(maxlen=MOST_ENDS)
        self._broadcast = broadcast
        self._keep_ends = keep_ends
        self._tasks = tasks
        self._calls: dict[str, tuple[anyio.CancelScope, Tell]] = {}
        self._programs: dict[str, Program] = {}  # of running calls
        self._kept: dict[str, _Kept] = {}

    # ------------------------------------------------------------------ tool calls

    def call_begins(self, call_id: str, scope: anyio.CancelScope, *, tell: Tell) -> None:
        """Register a call that is about to be announced.

        Cancelling `scope` ends it alone; `tell` reports one that still waits.
        """
        self._calls[call_id] = (scope, tell)

    def call_ends(self, call_id: str) -> None:
        """Note that the result of the call is final; cancelling it is too late."""
        self._calls.pop(call_id, None)

    def can_cancel_call(self, call_id: str) -> bool:
        """Return whether `cancel_call` would do something."""
        return call_id in self._calls

    def cancel_call(self, call_id: str) -> bool:
        """Cancel one tool call, begun or not; its final status follows, and the turn goes on.

        Returns:
            False for a call that is final already, or unknown.
        """
        call = self._calls.get(call_id)
        if call is None:
            return False
        call[0].cancel()
        return True

    async def tell_cancelled(self, call_id: str) -> None:
        """Report a call that was cancelled while it waited for its turn; nothing else would report it until then."""
        call = self._calls.get(call_id)
        if call is not None:
            await call[1]()

    # ------------------------------------------------------------------ programs

    @contextmanager
    def running(self, program: Program) -> Generator[None]:
        """Let `cancel_terminal` end this program while the block runs."""
        terminal_id = program.snapshot.terminal_id
        self._programs[terminal_id] = program
        try:
            yield
        finally:
            del self._programs[terminal_id]

    def keep(self, program: Program, *, call_id: str, clean: Clean) -> None:
        """Follow a program that outlives its call, until it ends or this is closed.

        Args:
            program: The program; its call shows it already.
            call_id: That call.
            clean: Removes secrets from a snapshot.
        """
        if self._tasks is None:
            return
        kept = _Kept(program=program, call_id=call_id, clean=clean, snapshot=clean(program.snapshot))
        self._kept[kept.snapshot.terminal_id] = kept
        self._tasks.start_soon(self._follow, kept, name="background program")

    def cancel_terminal(self, terminal_id: str) -> bool:
        """End one program; its call, or a `TerminalChanged`, then shows that it has ended.

        Returns:
            False for a program that has ended, that the client runs, or that is unknown.
        """
        program = self._programs.get(terminal_id)
        if program is None and (kept := self._kept.get(terminal_id)) is not None:
            program = kept.program
        return program is not None and program.stop()

    def background(self) -> tuple[CommandContent, ...]:
        """The programs that outlived their call and still run, as last shown.

        A program that ended is removed before its end is shown.
        """
        return tuple(kept.snapshot for kept in self._kept.values())

    async def aclose(self, *, within: float) -> None:
        """Wait until the ends of background programs are shown, then show nothing more.

        The programs are stopped elsewhere.

        Args:
            within: Seconds to wait for programs that have not ended, and for subscribers that do not read.
        """
        try:
            with anyio.move_on_after(within):
                for kept in tuple(self._kept.values()):
                    await kept.over.wait()
        finally:
            for kept in tuple(self._kept.values()):
                kept.scope.cancel()
            self._kept.clear()

    async def _follow(self, kept: _Kept) -> None:
        terminal_id = kept.snapshot.terminal_id
        try:
            with kept.scope:
                while kept.snapshot.running:
                    kept.snapshot = kept.clean(await kept.program.next_snapshot())
                    if not kept.snapshot.running:
                        self._kept.pop(terminal_id, None)
                        self.ends.append(_end(kept))
                    await self._broadcast(TerminalChanged(item=terminal_id, command=kept.snapshot))
            kept.over.set()
            await self._keep_ends()
        except Exception:
            log.exception("a background program is no longer followed", extra={"terminal": terminal_id})
        finally:
            self._kept.pop(terminal_id, None)
            kept.over.set()


def _end(kept: _Kept) -> ToolCallChanged:
    """The call as it is now that its program has ended; also in text, for clients that show no terminals."""
    snapshot = kept.snapshot
    content: tuple[CommandContent | PartContent, ...] = (snapshot,)
    if snapshot.code is not None or snapshot.signal is not None:
        words = ending(ExitStatus(code=snapshot.code, signal=snapshot.signal))
        content = (snapshot, PartContent(part=TextPart(text=words)))
    return ToolCallChanged(item=kept.call_id, content=content)
