"""The progress of an attempt, shown as a tool call in the session that started it."""

from collections import deque
from typing import TYPE_CHECKING, Final

from claw_acp.core.events import Event, PartContent, ToolCallChanged, ToolStatus
from claw_acp.core.messages import TextPart
from claw_acp.session.session import Session
from claw_acp.session.subscribers import Subscriber

TOOL: Final = "attempt"
"""The tool name under which attempts and their questions are shown; there is no such tool."""

SHOWN: Final = 8  # the latest steps


class AttemptProgress:
    """Follows the session of one attempt and shows its steps in another. It stores nothing.

    Args:
        session: The session that is shown to a person.
        call: The id of the tool call.
        title: Its title.
    """

    def __init__(self, session: Session, *, call: str, title: str) -> None:
        self._session = session
        self._call = call
        self._title = title
        self._steps: deque[str] = deque(maxlen=SHOWN)

    async def begin(self) -> None:
        """Show that the attempt has begun."""
        began = ToolCallChanged(item=self._call, name=TOOL, title=self._title, kind="other", status="in_progress")
        await self._session.broadcast(began)

    async def end(self, status: ToolStatus, words: str) -> None:
        """Show that it has ended."""
        ended = ToolCallChanged(item=self._call, status=status, content=_text(words) or None)
        await self._session.broadcast(ended)

    async def on_event(self, event: Event) -> None:
        """See `Subscriber`."""
        if isinstance(event, ToolCallChanged) and event.title and event.status in {"pending", "in_progress"}:
            if not self._steps or self._steps[-1] != event.title:
                self._steps.append(event.title)
            content = _text("\n".join(f"- {step}" for step in self._steps))
            await self._session.broadcast(ToolCallChanged(item=self._call, content=content))

    @property
    def behind(self) -> bool:
        """See `Subscriber`: those of the other session set the pace."""
        return False

    @property
    def lost(self) -> bool:
        """See `Subscriber`."""
        return False

    async def caught_up(self) -> None:
        """See `Subscriber`."""

    def drop(self) -> None:
        """See `Subscriber`."""

    def on_closed(self) -> None:
        """See `Subscriber`."""


def _text(text: str) -> tuple[PartContent, ...]:
    return (PartContent(part=TextPart(text=text)),) if text else ()


if TYPE_CHECKING:
    _conforms: type[Subscriber] = AttemptProgress
