"""A session as one client sees it: its events become `session/update` notifications."""

from collections.abc import Sequence

import anyio

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
        self.peer = peer
        self._held: list[Event] | None = None
        self._replaying = anyio.Lock()
        opened.session.watchers.append(self.on_event)

    def detach(self) -> None:
        """Stop watching."""
        self.opened.session.watchers.remove(self.on_event)

    async def on_event(self, event: Event) -> None:
        """Show one live event, once a replay that goes on is through."""
        if self._held is not None:
            self._held.append(event)
        elif isinstance(event, SessionChanged):
            await self._show_settings(event)
        else:
            await self._send(render(event, client=self.client, replay=False))

    async def update(self, update: JsonObject) -> None:
        """Send one `session/update`."""
        await self.peer.notify("session/update", {"sessionId": self.opened.session.id, "update": update})

    async def replay(self) -> None:
        """Show the whole conversation again, as it was left, then what happened meanwhile."""
        async with self._replaying:
            self._held = []
            try:
                events = await self.opened.session.read()
                await self._replay(events)
                seen = events[-1].seq if events else 0
                while self._held:
                    event = self._held.pop(0)
                    if event.seq > seen and not isinstance(event, SessionChanged):
                        await self._send(render(event, client=self.client, replay=False))
            finally:
                self._held = None

    async def announce(self, engine: Engine, more: Sequence[str] = ()) -> None:
        """What a client is told once it knows that the session is open: commands, and notices if it shows them."""
        if self.client.notices:
            for text in (*self.opened.notices, *more):
                await self._send(render(Notice(severity="warning", title=text), client=self.client, replay=False))
        commands = [
            {"name": command.name, "description": command.description}
            | ({"input": {"hint": command.hint}} if command.hint else {})
            for command in engine.commands
        ]
        await self.update({"sessionUpdate": "available_commands_update", "availableCommands": commands})

    async def _replay(self, events: Sequence[Event]) -> None:
        usage = None
        for event in events:
            if isinstance(event, UsageChanged):
                usage = render(event, client=self.client, replay=True)  # only the last word counts
            elif isinstance(event, MessageStarted) and event.role == "user":
                for update in user_message(event):
                    await self.update(update)
            else:
                await self._send(render(event, client=self.client, replay=True))
        session = self.opened.session
        if not session.busy:
            for call_id in session.history.unfinished_calls:
                await self.update({"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "failed"})
        await self._send(usage)
        if session.record.title:
            await self.update({"sessionUpdate": "session_info_update", "title": session.record.title})

    async def _send(self, update: JsonObject | None) -> None:
        if update is not None:
            await self.update(update)

    async def _show_settings(self, event: SessionChanged) -> None:
        if event.title is not None:
            await self.update({"sessionUpdate": "session_info_update", "title": event.title})
        if event.mode is not None:
            await self.update({"sessionUpdate": "current_mode_update", "currentModeId": event.mode})
        if event.mode is not None or event.model is not None:
            options = settings_of(self.opened)["configOptions"]
            await self.update({"sessionUpdate": "config_option_update", "configOptions": options})
