"""The port through which a turn asks a person for permission."""

from typing import Literal, Protocol

from claw_acp.core.events import ToolContent
from claw_acp.core.value import Value

ChoiceKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class Choice(Value):
    """One answer on offer; `label` is what the person reads."""

    id: str
    label: str
    kind: ChoiceKind


class PermissionQuestion(Value):
    """May the announced tool call `call_id` run?

    `title` and `content` (the diff, say) are what was published of the call; `reason` is why it is asked.
    """

    session: str
    call_id: str
    title: str
    reason: str
    content: tuple[ToolContent, ...]
    choices: tuple[Choice, ...]


class Asker(Protocol):
    """Someone who can answer."""

    async def permission(self, question: PermissionQuestion) -> Choice | None:
        """The chosen answer; None for anything that is not a clear choice (dismissed, unknown, nobody there)."""
        ...
