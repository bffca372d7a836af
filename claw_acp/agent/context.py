"""The messages of a model request: the system prompt, the conversation, and what a single request adds."""

from collections.abc import Callable, Iterable, Sequence
from math import ceil
from typing import Final, Protocol

from claw_acp.agent.system_prompt import joined
from claw_acp.agent.token_estimate import ANSWER_TOKENS, GrowingEstimate, TokenScale, estimate
from claw_acp.contracts.prompt_layer import PromptLayer
from claw_acp.contracts.provider import UNKNOWN_WINDOW, ToolSpec
from claw_acp.core.messages import Message
from claw_acp.core.value import Value
from claw_acp.session.session import Session

FULL: Final = 0.5  # of the room: from here on room is made
LEAST_ROOM: Final = 1_000  # tokens, where system prompt and tools alone fill the window


class Room(Value):
    """The tokens that the system prompt, the tools and the answer leave of a model's window for the conversation.

    `scale` is what the model's provider counts for an estimated token.
    """

    size: int
    scale: float = 1.0

    def tokens(self, messages: Iterable[Message]) -> int:
        """The tokens of these messages, as the provider counts."""
        return ceil(estimate(messages) * self.scale)


class Prefix(Value):
    """The part of each request that stands before the conversation."""

    system: Message
    tools: Sequence[ToolSpec] = ()


class Compaction(Protocol):
    """Makes room in the conversation of a session. What it does is journalled; the conversation is read anew then."""

    async def make_room(self, room: Room, *, prefix: Prefix) -> None:
        """Take out what is old, and summarize it, as far as that is worth it."""
        ...

    async def shrink(self, room: Room, *, refusals: int) -> bool:
        """Take out much at once, after a model refused a request as too long; False if that is in vain."""
        ...

    async def summarize(self, room: Room, *, prefix: Prefix, focus: str) -> str:
        """Summarize the whole conversation because a person wants it; returns an account for them."""
        ...


class ModelContext:
    """Assembles the messages of a session's model requests.

    Args:
        session: The session of the conversation.
        layers: The layers of the system prompt, read before each request.
        window: The context window of the model in tokens; 0 when it is not known.
        model: The model, as `UsageChanged` names it.
        scale: What its provider counts for an estimated token.
        growing: The estimate of the session's conversation, kept from turn to turn.
        compaction: Loads what makes room in a conversation that is too long; without it, nothing does.
    """

    def __init__(
        self,
        session: Session,
        *,
        layers: Callable[[], Sequence[PromptLayer]],
        window: Callable[[], int] = lambda: 0,
        model: str = "",
        scale: TokenScale | None = None,
        growing: GrowingEstimate | None = None,
        compaction: Callable[[], Compaction] | None = None,
    ) -> None:
        self._session = session
        self._layers = layers
        self._window = window
        self._model = model
        self._scale = scale or TokenScale()
        self._growing = growing or GrowingEstimate()
        self._load = compaction
        self._compaction: Compaction | None = None

    async def messages(self, *extra: Message, tools: Sequence[ToolSpec] = ()) -> Sequence[Message]:
        """The messages of the next request, after room was made in a conversation that fills half of what there is.

        Args:
            extra: Messages for this request only, after the conversation.
            tools: The tools sent besides, which take room, too.
        """
        prefix = self._prefix(tools)
        if self._load is not None:
            sums = self._growing.sums(self._session.history.messages())
            self._learn(sums, prefix=prefix)
            room = self._room(prefix, extra)
            if sums[-1] * room.scale > room.size * FULL:
                await self._compactor(self._load).make_room(room, prefix=prefix)
        return [prefix.system, *self._session.history.messages(), *extra]

    async def smaller(self, *extra: Message, tools: Sequence[ToolSpec] = (), refusals: int) -> Sequence[Message] | None:
        """The messages of a request that a model refused as too long, made smaller; None if that cannot be done.

        Args:
            extra: As in `messages`.
            tools: As in `messages`.
            refusals: How often this request was refused by now.
        """
        if self._load is None:
            return None
        prefix = self._prefix(tools)
        refused = [prefix.system, *self._session.history.messages(), *extra]
        self._scale.refuse(self._model, estimated=estimate(refused, tools))
        room = self._room(prefix, extra)
        if not await self._compactor(self._load).shrink(room, refusals=refusals):
            return None
        return [prefix.system, *self._session.history.messages(), *extra]

    async def summarize(self, focus: str, *, tools: Sequence[ToolSpec]) -> str:
        """Replace the conversation by a summary now, with special regard to `focus`; returns an account for people."""
        prefix = self._prefix(tools)
        if self._load is None:
            return "This model's context cannot be summarized."
        return await self._compactor(self._load).summarize(self._room(prefix, ()), prefix=prefix, focus=focus)

    def _prefix(self, tools: Sequence[ToolSpec]) -> Prefix:
        return Prefix(system=Message.system(joined(self._layers())), tools=tools)

    def _compactor(self, load: Callable[[], Compaction]) -> Compaction:
        if self._compaction is None:
            self._compaction = load()
        return self._compaction

    def _room(self, prefix: Prefix, extra: Sequence[Message]) -> Room:
        scale = self._scale.of(self._model)
        taken = estimate([prefix.system, *extra], prefix.tools) * scale + ANSWER_TOKENS
        window = self._scale.window(self._model, known=self._window() or UNKNOWN_WINDOW)
        return Room(size=max(LEAST_ROOM, window - ceil(taken)), scale=scale)

    def _learn(self, sums: Sequence[int], *, prefix: Prefix) -> None:
        """Compare the usage that was reported last with the estimate of what it counts."""
        usage, counted = self._session.history.usage, self._session.history.counted
        if usage is not None and counted:
            estimated = estimate([prefix.system], prefix.tools) + sums[counted]
            self._scale.learn(usage.model, estimated=estimated, reported=usage.used)
