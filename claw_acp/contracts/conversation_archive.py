"""The contract of what keeps the parts of a conversation that leave the model's sight."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol

from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.unasked_calls import UnaskedCalls
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value


class ArchivedPiece(Value):
    """A part of a conversation, word for word, that no model has put into a few sentences yet."""

    id: str
    text: str


class ConversationArchive(Protocol):
    """Keeps parts of one conversation: first word for word, then in the words of a model.

    Attributes:
        tool: What a model calls to say what matters of a piece. It is never listed with other tools, nor run.
    """

    tool: ToolSpec

    @abstractmethod
    async def keep(self, pieces: Sequence[str], *, calls: UnaskedCalls) -> None:
        """Keep texts word for word, unless the rules forbid to keep anything."""
        ...

    @abstractmethod
    async def waiting(self, *, most: int) -> Sequence[ArchivedPiece]:
        """The oldest pieces of this conversation that are still kept word for word, also of earlier processes."""
        ...

    @abstractmethod
    async def consolidate(self, piece: ArchivedPiece, arguments: JsonObject, *, calls: UnaskedCalls) -> str:
        """Put the arguments of a call of `tool` in the place of a piece; returns what is wrong with them, if anything.

        Notes among them are kept if the rules let them without a question, as if the model had called for each.
        """
        ...
