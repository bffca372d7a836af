"""Another model that may write a summary, and when: while no cache holds the conversation."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from claw_acp.agent.model_request import ModelRequester
from claw_acp.core.ids import made_at
from claw_acp.core.value import Value
from claw_acp.session.history import History

CACHED_FOR: Final = 300.0  # seconds after a request; Anthropic's marks last as long, other vendors promise no more


class SummaryModel(Value):
    """A model that writes summaries in the place of the session's own.

    Attributes:
        name: `provider/model`.
        requester: Asks it.
        window: Its context window in tokens.
    """

    name: str
    requester: ModelRequester
    window: int


LendSummaryModel = Callable[[], AbstractAsyncContextManager[SummaryModel | None]]
"""Lends the model for the next summary, or None: the session's own is to write it."""


@asynccontextmanager
async def lend_none() -> AsyncGenerator[None]:
    """Lend no other model."""
    yield None


def is_cold(history: History, *, model: str, now: float) -> bool:
    """True if no cache of `model` (`provider/model`) holds the conversation.

    It has never reported cached tokens, or its last request is too long ago.
    """
    last = history.usages.get(model)
    if last is None or model not in history.caching:
        return True
    asked = made_at(last.item)
    return asked is not None and now - asked >= CACHED_FOR
