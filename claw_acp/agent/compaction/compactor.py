"""The tiers in order: shorten old results, summarize, and drop whole turns if nothing else helps."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import anyio
from anyio import to_thread

from claw_acp.agent.compaction.consolidator import Consolidator
from claw_acp.agent.compaction.put_back import listed_paths, put_back
from claw_acp.agent.compaction.summarizer import Summarizer
from claw_acp.agent.compaction.summary import without_model
from claw_acp.agent.compaction.summary_model import LendSummaryModel, lend_none
from claw_acp.agent.compaction.tiers import first_kept, oldest_third, results_to_shorten
from claw_acp.agent.context import FULL, Prefix, Room
from claw_acp.agent.model_request import ModelRequester
from claw_acp.contracts.conversation_archive import ConversationArchive
from claw_acp.contracts.unasked_calls import UnaskedCalls
from claw_acp.core.clock import Clock
from claw_acp.core.events import CompactionChanged, Notice
from claw_acp.core.ids import new_id
from claw_acp.core.messages import Message
from claw_acp.session.entries import HistoryItem
from claw_acp.session.history import SUMMARY
from claw_acp.session.session import Session

log = logging.getLogger(__name__)

KEPT: Final = 0.15  # of the room, for the newest messages ...
MOST_KEPT: Final = 20_000  # ... but at most so many tokens
WORTH: Final = 0.7  # a summary must leave at most this share of the conversation, else it is no progress
LEAST_SUMMARY: Final = 300  # tokens; no summary with all its headings is shorter
SMALLEST: Final = 4_000  # tokens of a room in which summaries are worth their requests
MOST_FAILURES: Final = 2  # summaries in a row that came to nothing; then no model is asked until room was made
LONGEST_LOOK: Final = 0.5  # seconds; then files are put back without a word on whether they changed
NARROW: Final = 0.8  # of the room: from here on whole turns are left out if there was no summary


async def no_hook(trigger: str) -> str | None:  # noqa: ARG001 - the same for all
    """None: no hook keeps the conversation as it is."""
    return None


class Compactor:
    """Makes room in one session's conversation; see `agent.context.Compaction`.

    Args:
        session: The session. Every run of a tier is in its journal, so that all processes see the same conversation.
        requester: Asks the model for summaries.
        clock: Time for ids.
        outdated: Returns those of some files that have changed since the session saw them; called in a thread.
        other: Lends another model for a summary while no cache holds the conversation.
        keeps: Returns the reason of a hook not to replace the conversation by a summary; None: there is none.
        archive: Keeps what is taken out; None: the journal alone has it.
        calls: Decides on what the archive keeps.
    """

    def __init__(
        self,
        session: Session,
        *,
        requester: ModelRequester,
        clock: Clock,
        outdated: Callable[[AbstractSet[str]], AbstractSet[str]] = lambda _: frozenset(),
        other: LendSummaryModel = lend_none,
        keeps: Callable[[str], Awaitable[str | None]] = no_hook,
        archive: ConversationArchive | None = None,
        calls: UnaskedCalls | None = None,
    ) -> None:
        self._session = session
        self._summarizer = Summarizer(session, requester=requester, clock=clock, other=other)
        self._clock = clock
        self._outdated = outdated
        self._keeps = keeps
        self._consolidator = None
        if archive is not None and calls is not None:
            self._consolidator = Consolidator(session, archive=archive, calls=calls, requester=requester, other=other)

    async def make_room(self, room: Room, *, prefix: Prefix) -> None:
        """Run one tier after the other until the conversation fills less than half of the room.

        Results are shortened first only if that is enough: else the summary would miss the cache of the conversation.
        """
        if await self._shorten(room, least=self._filled(room) - int(room.size * FULL)):
            return
        if room.size >= SMALLEST and self._session.history.failed_compactions < MOST_FAILURES:
            kept = first_kept(self._items(), room=room, keep=min(MOST_KEPT, int(room.size * KEPT)))
            if await self._summarize(room, prefix=prefix, kept=kept):
                return
        await self._shorten(room)
        if self._filled(room) > room.size * NARROW:
            await self._leave_out(room, first_kept(self._items(), room=room, keep=int(room.size * FULL / 2)))

    async def shrink(self, room: Room, *, refusals: int) -> bool:
        """Halve the conversation after the first refusal, drop the oldest third after the second."""
        before = self._filled(room)
        if refusals == 1:
            await self._shorten(room, forced=True)
            if self._filled(room) > before // 2:
                await self._leave_out(room, first_kept(self._items(), room=room, keep=before // 2))
        elif refusals == 2 and await self._leave_out(room, oldest_third(self._items(), room=room)):
            await self._notice(
                "The oldest third of the conversation was left out", "The model takes no longer request."
            )
        return self._filled(room) < before

    async def summarize(self, room: Room, *, prefix: Prefix, focus: str) -> str:
        """Summarize everything, at a person's request."""
        before, items = self._filled(room), self._items()
        if not items:
            return "There is nothing to summarize."
        if not await self._summarize(room, prefix=prefix, kept=len(items), focus=focus):
            return f"The conversation stays as it was: there is no summary, because {self._summarizer.problem}"
        return f"Summarized: the conversation takes {self._filled(room):,} tokens instead of {before:,}."

    def _items(self) -> Sequence[HistoryItem]:
        return self._session.history.items()

    def _filled(self, room: Room) -> int:
        return room.tokens(self._session.history.messages())

    # ------------------------------------------------------------------ tiers

    async def _shorten(self, room: Room, *, least: int = 0, forced: bool = False) -> bool:
        running = self._session.history.turns.running
        calls = results_to_shorten(self._items(), room=room, running=running, least=least, forced=forced)
        if calls:
            done = CompactionChanged(item=self._new_id(), status="completed", shortened=tuple(calls))
            await self._session.publish(done)
            log.info("results shortened", extra={"session": self._session.id, "calls": len(calls)})
        return bool(calls)

    async def _summarize(self, room: Room, *, prefix: Prefix, kept: int, focus: str = "") -> bool:
        """Have a model summarize the items before `kept`; False when there is no progress."""
        items, before = self._items(), self._filled(room)
        stays = sum(room.tokens(item.messages) for item in items[kept:])
        if not focus and kept < len(items) and stays > before * WORTH:
            return False  # no summary could be short enough
        added = await self._put_back(room, items[kept:])
        if (reason := await self._keeps("manual" if kept == len(items) else "auto")) is not None:
            self._summarizer.problem = f"a hook decided so: {reason}"
            return False
        item = self._new_id()
        most = before - stays - room.tokens([Message.user(added)])
        if most < LEAST_SUMMARY:
            return False
        text = await self._summarizer.ask(item, items[:kept], room=room, prefix=prefix, focus=focus, most=most)
        if text is None:
            return False
        await self._replace(item, text + added, items=items, kept=kept, model=self._summarizer.writer)
        await self._summarizer.account(item, used=self._filled(room))
        if self._consolidator is not None:
            await self._consolidator.consolidate(item, room=room)
        return True

    async def _leave_out(self, room: Room, kept: int) -> bool:
        """Replace the items before `kept` by the program's own facts about them; False when that gains nothing."""
        items, history = self._items(), self._session.history
        gone = sum(len(item.messages) for item in items[:kept])
        text = without_model(history.summary, messages=gone) + await self._put_back(room, items[kept:])
        grown = room.tokens([Message.user(SUMMARY.format(text))]) - room.tokens(
            [Message.user(SUMMARY.format(history.summary))] if history.summary else ()
        )
        if grown >= sum(room.tokens(item.messages) for item in items[:kept]):
            return False
        await self._replace(self._new_id(), text, items=items, kept=kept)
        log.info("turns left out", extra={"session": self._session.id, "messages": gone})
        return True

    async def _put_back(self, room: Room, stay: Sequence[HistoryItem]) -> str:
        history = self._session.history
        outdated: AbstractSet[str] = frozenset()
        with anyio.move_on_after(LONGEST_LOOK):
            outdated = await to_thread.run_sync(self._outdated, listed_paths(history), abandon_on_cancel=True)
        kept = sum(message.role == "user" for item in stay for message in item.messages)
        current = bool(stay) and stay[-1].turn == history.turns.running
        return put_back(history, room=room, kept=kept, current=current and not kept, outdated=outdated)

    async def _replace(
        self, item: str, summary: str, *, items: Sequence[HistoryItem], kept: int, model: str = ""
    ) -> None:
        if self._consolidator is not None:
            await self._consolidator.keep(items[:kept])  # first: whenever this process ends, nothing is lost
        first = items[kept].id if kept < len(items) else None
        done = CompactionChanged(item=item, status="completed", summary=summary, kept_from=first, model=model)
        await self._session.publish(done)

    async def _notice(self, title: str, description: str) -> None:
        notice_id = new_id("ntc", clock=self._clock)
        notice = Notice(item=notice_id, severity="warning", title=title, description=description)
        await self._session.publish(notice)

    def _new_id(self) -> str:
        return new_id("cmp", clock=self._clock)
