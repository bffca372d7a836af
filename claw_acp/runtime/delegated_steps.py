"""The latest steps of a subagent, shown in the call that started it."""

from collections import deque
from typing import TYPE_CHECKING, Final

import anyio

from claw_acp.contracts.tool import Progress, ToolContext
from claw_acp.core.events import Event, PartContent, TextDelta, ToolCallChanged
from claw_acp.core.messages import TextPart
from claw_acp.session.session import Session
from claw_acp.session.subscribers import Subscriber

SHOWN: Final = 8
LONGEST_TEXT: Final = 400  # characters of what it says


class DelegatedSteps:
    """A subscriber to a subagent's session.

    What the subagent reads from strangers counts for the conversation that delegates at once: before the subagent acts
    on it, that stands in the journal.

    Args:
        session: The session that delegates.
        context: That of the call.
        with_text: Show what it says, too.
    """

    behind = False
    lost = False

    def __init__(self, session: Session, *, context: ToolContext, with_text: bool = False) -> None:
        self._with_text = with_text
        self._text = ""
        self._session = session
        self._context = context
        self._steps: deque[str] = deque(maxlen=SHOWN)
        self._changed = anyio.Event()

    async def on_event(self, event: Event) -> None:
        """See `Subscriber`."""
        if isinstance(event, TextDelta) and self._with_text:
            self._text = f"{self._text}{event.text}"[-LONGEST_TEXT:]
            self._changed.set()
        if not isinstance(event, ToolCallChanged):
            return
        known = self._session.history.foreign_sources
        if sources := tuple(source for source in event.sources or () if source not in known):
            await self._session.publish(ToolCallChanged(item=self._context.call_id, sources=sources))
        if event.status in {"pending", "in_progress"} and event.title not in {None, "", *list(self._steps)[-1:]}:
            self._steps.append(event.title or "")
            self._text = ""
            self._changed.set()

    async def show(self) -> None:
        """Show the steps as they come; several at once if they come quickly."""
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            lines = [*(f"- {step}" for step in self._steps), *([f"\n{self._text}"] if self._text.strip() else [])]
            text = TextPart(text="\n".join(lines))
            await self._context.progress(Progress(content=(PartContent(part=text),)))

    async def caught_up(self) -> None:
        """See `Subscriber`."""

    def drop(self) -> None:
        """See `Subscriber`."""

    def on_closed(self) -> None:
        """See `Subscriber`."""


if TYPE_CHECKING:
    _conforms: type[Subscriber] = DelegatedSteps
