"""The events of one turn as chat frames."""

from collections.abc import Callable
from typing import Final

from claw_acp.core.events import Event, MessageStarted, Notice, TextDelta, ThoughtDelta, ToolCallChanged
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart
from claw_acp.gateway.acp.close_code import STALLED, RemoteTransport

FULL: Final = 1024 * 1024  # unread bytes at which a turn waits for the client
TOO_MUCH: Final = 4 * FULL  # unread bytes at which a client is hung up on, if others keep up

Emit = Callable[[JsonObject], None]


class TurnWatch:
    """A subscriber for one turn: passes frames on, and keeps the last message and what was refused.

    Args:
        emit: Takes each frame; must not wait.
        transport: Where they go, if a client reads them one by one.
    """

    def __init__(self, emit: Emit, transport: RemoteTransport | None = None) -> None:
        self._emit = emit
        self._transport = transport
        self._begun = False
        self._message = ""
        self._words: list[str] = []
        self._titles: dict[str, str] = {}
        self.refused: list[str] = []

    @property
    def text(self) -> str:
        """The last message of the model."""
        return "".join(self._words).strip()

    def begin(self, _message_id: str) -> None:
        """Watch from now on: turns of others may have run before."""
        self._begun = True

    async def on_event(self, event: Event) -> None:
        """See `Subscriber`."""
        if not self._begun:
            return
        match event:
            case MessageStarted(role="assistant", item=item, parts=parts):
                if text := "".join(part.text for part in parts if isinstance(part, TextPart)):
                    self._say(item, text)
            case TextDelta(item=item, text=text):
                self._say(item, text)
            case ThoughtDelta(text=text) if text:
                self._emit({"type": "thought", "text": text})
            case ToolCallChanged():
                self._tool(event)
            case Notice(severity=severity, title=title):
                self._emit({"type": "notice", "severity": severity, "text": title})
            case _:
                pass

    def _say(self, item: str, text: str) -> None:
        if item != self._message:
            self._message, self._words = item, []
        self._words.append(text)
        self._emit({"type": "chunk", "text": text, "message": item})

    def _tool(self, event: ToolCallChanged) -> None:
        title = self._titles[event.item] = event.title or self._titles.get(event.item, "")
        if event.refusal is not None:
            self.refused.append(f"{title or 'a call'}: {event.refusal}")
        if event.status is not None:
            frame: dict[str, str] = {"type": "tool", "id": event.item, "title": title, "status": event.status}
            self._emit(frame if event.refusal is None else {**frame, "refusal": event.refusal})

    # ------------------------------------------------------------------ the pace of the client

    @property
    def behind(self) -> bool:
        """See `Subscriber`."""
        return self._transport is not None and self._transport.backlog >= FULL

    @property
    def lost(self) -> bool:
        """See `Subscriber`."""
        return self._transport is not None and self._transport.backlog >= TOO_MUCH

    async def caught_up(self) -> None:
        """See `Subscriber`."""
        if self._transport is not None:
            await self._transport.drained()

    def drop(self) -> None:
        """See `Subscriber`."""
        if self._transport is not None:
            self._transport.end(STALLED)

    def on_closed(self) -> None:
        """See `Subscriber`."""
