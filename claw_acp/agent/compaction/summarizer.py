"""Asks a model for the summary of a conversation, on the cached prefix, and checks the result."""

import logging
from collections.abc import Sequence
from typing import Final

from claw_acp.agent.compaction.summary import instruction, merged, problem_of
from claw_acp.agent.context import Prefix, Room
from claw_acp.agent.model_request import ModelRequester
from claw_acp.contracts.provider import ToolChoice
from claw_acp.core.errors import BudgetReached, ProviderError
from claw_acp.core.events import CompactionChanged
from claw_acp.core.messages import Message
from claw_acp.registry.foreign_code import is_cancellation
from claw_acp.session.entries import HistoryItem
from claw_acp.session.session import Session

log = logging.getLogger(__name__)

SUMMARY_SHARE: Final = 0.1  # of the room
MOST_SUMMARY: Final = 4_000  # tokens
TRIES: Final[Sequence[ToolChoice]] = ("auto", "none")
"""Tool choices of the tries: the first is that of all requests, since another one would miss vendors' caches."""
FITS: Final = 0.9  # of the room: what is longer is summarized without its beginning
CUT_OFF: Final = "(The beginning of the conversation is left out here.)"


class Summarizer:
    """Asks for summaries in one session."""

    def __init__(self, session: Session, *, requester: ModelRequester) -> None:
        self._session = session
        self._requester = requester
        self.problem = "it is short enough."
        """The reason why there is no summary, as the end of a sentence."""

    async def ask(
        self, item: str, items: Sequence[HistoryItem], *, room: Room, prefix: Prefix, focus: str, most: int
    ) -> str | None:
        """A summary that is valid and merged with the one before; None when there is none, which is journalled.

        People see it grow while it is written. It is stored only when it is complete: until then nothing has happened.

        Args:
            item: The id of the compaction.
            items: The part of the conversation that is to be replaced.
            room: The available room.
            prefix: The part of every request before the conversation.
            focus: The person's request.
            most: The tokens that it must stay below to be a gain.
        """
        limit = min(MOST_SUMMARY, int(room.size * SUMMARY_SHARE / room.scale))
        before, problem = self._session.history.summary, ""
        messages = self._conversation(items, room=room)
        try:
            for choice in TRIES:
                asked = Message.user(instruction(limit=limit, focus=focus, problem=problem))
                text = await self._written(item, [prefix.system, *messages, asked], prefix=prefix, choice=choice)
                problem = problem_of(text, limit=limit)
                summary = merged(text, before=before, limit=limit)
                if not problem and room.tokens([Message.user(summary)]) < most:
                    return summary
                problem = problem or "the conversation would not become shorter."
                await self.account(item, used=room.tokens(messages))
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

    async def account(self, item: str, *, used: int) -> None:
        """Publish the cost of the last try; `used` tokens fill the context now."""
        if (event := self._requester.aside_usage(item, used=used)) is not None:
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

    async def _written(self, item: str, messages: Sequence[Message], *, prefix: Prefix, choice: ToolChoice) -> str:
        """The model's text; calls in the answer are not run."""
        await self._session.broadcast(CompactionChanged(item=item, status="in_progress", summary=""))

        async def show(text: str) -> None:
            await self._session.broadcast(CompactionChanged(item=item, status="in_progress", delta=text))

        return await self._requester.ask_aside(messages, tools=prefix.tools, tool_choice=choice, show=show)

    async def _end(self, item: str, *, error: str) -> None:
        self.problem = error
        log.warning("no summary", extra={"session": self._session.id, "reason": error})
        await self._session.publish(CompactionChanged(item=item, status="failed", error=error))
