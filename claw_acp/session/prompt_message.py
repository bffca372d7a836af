"""Adding the message of a prompt to a conversation."""

from collections.abc import Callable
from typing import TypeAlias

from claw_acp.core.errors import ClawError
from claw_acp.core.events import MessageStarted
from claw_acp.core.value import replace
from claw_acp.session.session import Session

OnAccepted: TypeAlias = Callable[[str], None]
"""Called with the id of a prompt's message once it is part of the conversation."""


def ignore(message_id: str) -> None:
    """Do nothing: the default where only the end of the turn counts."""


class NamedPrompt:
    """An `OnAccepted` of a prompt whose sender chose the id of its message, to send it again if nobody kept it.

    Args:
        message_id: The id.
        again: The agent's process that had it before has ended.
        tell: What is to be called.
    """

    def __init__(self, message_id: str, *, again: bool, tell: OnAccepted) -> None:
        self.message_id = message_id
        self.again = again
        self._tell = tell

    def __call__(self, message_id: str) -> None:
        """Pass it on."""
        self._tell(message_id)


def is_again(on_accepted: OnAccepted) -> bool:
    """Return whether the prompt was sent before."""
    return isinstance(on_accepted, NamedPrompt) and on_accepted.again


def is_kept(session: Session, on_accepted: OnAccepted) -> bool:
    """Return whether a prompt is part of the conversation already."""
    return isinstance(on_accepted, NamedPrompt) and session.history.has_message(on_accepted.message_id)


async def publish_prompt(session: Session, message: MessageStarted, *, on_accepted: OnAccepted) -> None:
    """Publish a prompt's message; it becomes part of the conversation even if this is cancelled meanwhile.

    Raises:
        StoreError: It was not stored.
    """
    if isinstance(on_accepted, NamedPrompt) and not is_kept(session, on_accepted):
        message = replace(message, item=on_accepted.message_id)
    try:
        await session.publish(message)
    except ClawError:
        raise
    except BaseException:  # the journal has taken it, and it was shown: see `Session.publish`
        on_accepted(message.item)
        raise
    on_accepted(message.item)
