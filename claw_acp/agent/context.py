"""The messages of a model request: the system prompt, the conversation, and what a single request adds."""

from collections.abc import Callable, Sequence
from typing import Protocol

from claw_acp.agent.system_prompt import joined
from claw_acp.agent.token_estimate import ANSWER_TOKENS, estimate
from claw_acp.contracts.prompt_layer import PromptLayer
from claw_acp.contracts.provider import ToolSpec
from claw_acp.core.messages import Message
from claw_acp.session.session import Session


class ContextStrategy(Protocol):
    """Reduces the context of a request, for instance by dropping old tool results or by a summary."""

    async def fit(self, messages: Sequence[Message], *, limit: int) -> Sequence[Message] | None:
        """Return `messages` in at most `limit` tokens, as `token_estimate` counts; None when that cannot be done."""
        ...


class ModelContext:
    """Assembles the messages of a session's model requests.

    Args:
        session: The session of the conversation.
        layers: The layers of the system prompt, read before each request.
        window: The context window of the model in tokens; 0 when it is not known.
        strategy: Reduces messages that are too long; without one, they are sent as they are.
    """

    def __init__(
        self,
        session: Session,
        *,
        layers: Callable[[], Sequence[PromptLayer]],
        window: Callable[[], int] = lambda: 0,
        strategy: ContextStrategy | None = None,
    ) -> None:
        self._session = session
        self._layers = layers
        self._window = window
        self._strategy = strategy

    async def messages(self, *extra: Message, tools: Sequence[ToolSpec] = ()) -> Sequence[Message]:
        """The messages of the next request, reduced if possible when they exceed the model's window.

        Args:
            extra: Messages for this request only, after the conversation.
            tools: The tools sent besides, which take room, too.
        """
        system = Message.system(joined(self._layers()))
        messages = [system, *self._session.history.messages(), *extra]
        if self._strategy is None or not (window := self._window()):
            return messages
        limit = window - ANSWER_TOKENS - estimate((), tools)
        fitting = None if estimate(messages) <= limit else await self._strategy.fit(messages, limit=limit)
        return messages if fitting is None else fitting

    async def smaller(self, messages: Sequence[Message]) -> Sequence[Message] | None:
        """Return `messages` reduced to about half, after a model refused them as too long; None if that cannot be done.

        Half by the estimate is half of their true size, however wrong the estimate is.
        """
        return None if self._strategy is None else await self._strategy.fit(messages, limit=estimate(messages) // 2)
