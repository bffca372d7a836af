"""A person's message becomes part of a conversation, and whoever waits for that is told."""

from collections.abc import Callable
from typing import TypeAlias

from claw_acp.core.errors import ClawError
from claw_acp.core.events import MessageStarted
from claw_acp.session.session import Session

Inserted: TypeAlias = Callable[[str], None]
"""Hears the id of a prompt's message once that is part of the conversation."""


def nobody(message_id: str) -> None:
    """Who waits where the end of the turn is all that counts."""


async def insert(session: Session, message: MessageStarted, *, inserted: Inserted) -> None:
    """Publish a prompt's message; cancelled meanwhile, it is part of the conversation all the same.

    Raises:
        StoreError: It was not kept.
    """
    try:
        await session.publish(message)
    except ClawError:
        raise
    except BaseException:  # the journal has taken it, and it was shown: see `Session.publish`
        inserted(message.item)
        raise
    inserted(message.item)
