"""Adding the message of a prompt to a conversation."""

from collections.abc import Callable
from typing import TypeAlias

from claw_acp.core.errors import ClawError
from claw_acp.core.events import MessageStarted
from claw_acp.session.session import Session

OnAccepted: TypeAlias = Callable[[str], None]
"""Called with the id of a prompt's message once it is part of the conversation."""


def ignore(message_id: str) -> None:
    """Do nothing: the default where only the end of the turn counts."""


async def publish_prompt(session: Session, message: MessageStarted, *, on_accepted: OnAccepted) -> None:
    """Publish a prompt's message; it becomes part of the conversation even if this is cancelled meanwhile.

    Raises:
        StoreError: It was not stored.
    """
    try:
        await session.publish(message)
    except ClawError:
        raise
    except BaseException:  # the journal has taken it, and it was shown: see `Session.publish`
        on_accepted(message.item)
        raise
    on_accepted(message.item)
