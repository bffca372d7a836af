"""Asks a model for the summary of a conversation, on the cached prefix, and checks the result."""

import logging
from collections.abc import Sequence
from typing import Final

from claw_acp.agent.compaction.summary import instruction, merged, problem_of
from claw_acp.agent.compaction.summary_model import LendSummaryModel, lend_none
from claw_acp.agent.context import Prefix, Room
from claw_acp.agent.model_request import ModelRequester
from claw_acp.agent.token_estimate import ANSWER_TOKENS, estimate
from claw_acp.contracts.provider import ToolChoice
from claw_acp.core.clock import Clock
from claw_acp.core.errors import BudgetReached, ProviderError
from claw_acp.core.events import CompactionChanged, Notice
from claw_acp.core.ids import new_id
from claw_acp.core.messages import Message
from claw_acp.core.value import Value
from claw_acp.registry.foreign_code import is_cancellation
from claw_acp.session.entries import HistoryItem
from claw_acp.session.session import Session

log = logging.getLogger(__name__)

SUMMARY_SHARE: Final = 0.1  # of the room
MOST_SUMMARY: Final = 4_000  # tokens
TRIES: Final[Sequence[ToolChoice]] = ("auto", "none")
"""Tool choices of the tries: the first is that of all requests, since another one would miss vendors' caches."""
FITS: Final = 0.9  # of the room, or of another model's window: what is longer is summarized without its beginning
CUT_OFF: Final = "(The beginning of the conversation is left out here.)"


class SummaryTask(Value):
    """A summary that is wanted.

    Attributes:
        item: The id of the compaction.
        messages: The conversation to summarize.
        room: The available room.
        prefix: The part of every request before the conversation.
        focus: The person's request.
        most: The tokens that it must stay below to be a gain.
        limit: The tokens that the model is asked to stay below.
    """

    item: str
    messages: Sequence[Message]
    room: Room
    prefix: Prefix
    focus: str
    most: int
    limit: int

    def fits(self, window: int) -> bool:
        """Return whether a model with this window can write it."""
        sent = estimate([self.prefix.system, *self.messages], self.prefix.tools) * self.room.scale
        return sent + self.limit + ANSWER_TOKENS <= window * FITS


class Summarizer:
    """Asks for summaries in one session: another model while no cache holds the conversation, else the session's."""

    def __init__(
        self, session: Session, *, requester: ModelRequester, clock: Clock, other: LendSummaryModel = lend_none
    ) -> None:
        self._session = session
        self._requester = requester
        self._clock = clock
        self._other = other
        self._asked = requester  # the one asked last
        self.writer = ""
        """The model that wrote the last summary (`provider/model`), if that was another than the session's."""
        self.problem = "it is short enough."
        """The reason why there is no summary, as the end of a sentence."""

    async def ask(
        self, item: str, items: Sequence[HistoryItem], *, room: Room, prefix: Prefix, focus: str, most: int
    ) -> str | None:
        """A summary that is valid and merged with the one before; None when there is none, which is journalled.

        People see it grow while it is written. It is stored only when it is complete: until then nothing has happened.
        `items` is the part of the conversation that is to be replaced; for the rest see `SummaryTask`.
        """
        limit = min(MOST_SUMMARY, int(room.size * SUMMARY_SHARE / room.scale))
        messages, problem = self._conversation(items, room=room), ""
        task = SummaryTask(item=item, messages=messages, room=room, prefix=prefix, focus=focus, most=most, limit=limit)
        self.writer = ""
        try:
            if summary := await self._by_other(task):
                return summary
            for choice in TRIES:
                summary, problem = await self._attempt(task, by=self._requester, choice=choice, problem=problem)
                if summary:
                    return summary
        except BudgetReached:
            await self._end(item, error="the budget is used up")
            raise
        except ProviderError as error:
            problem = error.message
        except BaseException as error:
            if is_cancellation(error):
                with self._session.cleanup_scope():
                    await self._session.publish(CompactionChanged(item=item, status="cancelled"))
            raise
        await self._end(item, error=problem)
        return None

    async def _by_other(self, task: SummaryTask) -> str:
        """A valid summary by another model; empty if the session's model has to write it.

        Calls are forbidden at once: there is no cache to miss.
        """
        async with self._other() as other:
            if other is None or not task.fits(other.window):
                return ""
            try:
                summary, problem = await self._attempt(task, by=other.requester, choice="none")
            except BudgetReached:
                raise
            except ProviderError as error:
                summary, problem = "", error.message
        if summary:
            self.writer = other.name
        else:
            log.warning("no summary", extra={"session": self._session.id, "model": other.name, "reason": problem})
            title = f"The session's model writes the summary, since {other.name} did not"
            notice_id = new_id("ntc", clock=self._clock)
            notice = Notice(item=notice_id, severity="info", title=title, description=problem, topic="retry")
            await self._session.publish(notice)
        return summary

    async def _attempt(
        self, task: SummaryTask, *, by: ModelRequester, choice: ToolChoice, problem: str = ""
    ) -> tuple[str, str]:
        """A valid summary, or an empty one and the reason; `problem` describes the fault of the one before."""
        self._asked = by
        asked = Message.user(instruction(limit=task.limit, focus=task.focus, problem=problem))
        text = await self._written(task, asked, choice=choice)
        problem = problem_of(text, limit=task.limit)
        summary = merged(text, before=self._session.history.summary, limit=task.limit)
        if not problem and task.room.tokens([Message.user(summary)]) < task.most:
            return summary, ""
        await self.account(task.item, used=task.room.tokens(task.messages))
        return "", problem or "the conversation would not become shorter."

    async def account(self, item: str, *, used: int) -> None:
        """Publish the cost of the last try; `used` tokens fill the context now."""
        event = self._asked.aside_usage(item, used=used, size=self._requester.window)
        if event is not None:
            await self._session.publish(event)

    def _conversation(self, items: Sequence[HistoryItem], *, room: Room) -> Sequence[Message]:
        """The conversation as in the last request, which caches hold; if it is too long, its end."""
        messages = self._session.history.messages()
        if room.tokens(messages) <= room.size * FITS:
            return messages
        left = room.size * FITS
        kept: list[HistoryItem] = []
        for one in reversed(items):
            left -= room.tokens(one.messages)
            if left < 0:
                break
            kept.append(one)
        return [Message.user(CUT_OFF), *(message for one in reversed(kept) for message in one.messages)]

    async def _written(self, task: SummaryTask, asked: Message, *, choice: ToolChoice) -> str:
        """The model's text; calls in the answer are not run."""
        await self._session.broadcast(CompactionChanged(item=task.item, status="in_progress", summary=""))

        async def show(text: str) -> None:
            await self._session.broadcast(CompactionChanged(item=task.item, status="in_progress", delta=text))

        messages = [task.prefix.system, *task.messages, asked]
        answer = await self._asked.ask_aside(messages, tools=task.prefix.tools, tool_choice=choice, show=show)
        return answer.text

    async def _end(self, item: str, *, error: str) -> None:
        self.problem = error
        log.warning("no summary", extra={"session": self._session.id, "reason": error})
        await self._session.publish(CompactionChanged(item=item, status="failed", error=error))
