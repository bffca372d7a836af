"""A session as one client sees it: its events become `session/update` notifications."""

from collections.abc import Sequence

from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.acp.settings import settings_of
from claw_acp.acp.updates import render, user_message
from claw_acp.core.events import Event, MessageStarted, Notice, SessionChanged, UsageChanged
from claw_acp.core.json_value import JsonObject
from claw_acp.rpc.peer import Peer
from claw_acp.runtime.engine import Engine, OpenSession


class SessionView:
    """Watches one session for one client."""

    def __init__(self, peer: Peer, opened: OpenSession, *, client: ClientCapabilities) -> None:
        self.opened = opened
        self.client = client
        self.can_ask = True
        self._peer = peer
        opened.session.watchers.append(self.on_event)

    @property
    def peer(self) -> Peer:
        """The client."""
        return self._peer

    def detach(self) -> None:
        """Stop watching."""
        self.opened.session.watchers.remove(self.on_event)

    async def on_event(self, event: Event) -> None:
        """Show one live event."""
        if isinstance(event, SessionChanged):
            await self._show_settings(event)
            return
        update = render(event, client=self.client, replay=False)
        if update is not None:
            await self.update(update)

    async def update(self, update: JsonObject) -> None:
        """Send one `session/update`."""
        await self._peer.notify("session/update", {"sessionId": self.opened.session.id, "update": update})

    async def replay(self, events: Sequence[Event]) -> None:
        """Show a whole conversation again, as it was left; of usage only the last word."""
        last_usage = None
        for event in events:
            if isinstance(event, UsageChanged):
                last_usage = event
                continue
            for update in self._replayed(event):
                await self.update(update)
        for call_id in self.opened.session.history.unfinished_calls:
            await self.update({"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "failed"})
        usage = last_usage and render(last_usage, client=self.client, replay=True)
        if usage:
            await self.update(usage)
        if self.opened.session.record.title:
            await self.update({"sessionUpdate": "session_info_update", "title": self.opened.session.record.title})

    def _replayed(self, event: Event) -> Sequence[JsonObject]:
        if isinstance(event, MessageStarted) and event.role == "user":
            return user_message(event)
        update = render(event, client=self.client, replay=True)
        return () if update is None else (update,)

    async def announce(self, engine: Engine, more: Sequence[str] = ()) -> None:
        """What a client is told once it knows that the session is open: commands, and notices if it shows them."""
        if self.client.notices:
            for text in (*self.opened.notices, *more):
                await self.on_event(Notice(severity="warning", title=text))
        commands = [
            {"name": command.name, "description": command.description}
            | ({"input": {"hint": command.hint}} if command.hint else {})
            for command in engine.commands
        ]
        await self.update({"sessionUpdate": "available_commands_update", "availableCommands": commands})

    async def _show_settings(self, event: SessionChanged) -> None:
        if event.title is not None:
            await self.update({"sessionUpdate": "session_info_update", "title": event.title})
        if event.mode is not None:
            await self.update({"sessionUpdate": "current_mode_update", "currentModeId": event.mode})
        if event.mode is not None or event.model is not None:
            options = settings_of(self.opened)["configOptions"]
            await self.update({"sessionUpdate": "config_option_update", "configOptions": options})
