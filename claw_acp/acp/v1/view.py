"""The view of a session for a client of protocol 1."""

from collections.abc import Sequence

from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.acp.updates import sandbox_meta
from claw_acp.acp.v1.settings import settings_of
from claw_acp.acp.v1.updates import CallStatuses, commands_update, render, subagent_update, user_message
from claw_acp.acp.view import SessionView
from claw_acp.core.events import (
    CommandsChanged,
    Event,
    MessageStarted,
    Notice,
    SessionChanged,
    StateChanged,
    SubagentChanged,
    ToolCallChanged,
    UsageChanged,
)
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ContentPart
from claw_acp.registry.reference import Ref
from claw_acp.rpc.peer import Peer
from claw_acp.runtime.live_session import LiveSession


class SessionViewV1(SessionView):
    """Renders events for protocol 1; what a client does not support is left out or shown in another way."""

    ASKER = Ref("claw_acp.acp.v1.prompt:EditorAsker")
    WORKSPACE = Ref("claw_acp.acp.v1.workspace:EditorWorkspace")

    def __init__(self, peer: Peer, live: LiveSession, client: ClientCapabilities) -> None:
        super().__init__(peer, live, client)
        self._untold: list[Notice] = []
        self.sent: list[Sequence[ContentPart]] = []
        """The prompts of this client that are not part of the conversation yet; it has shown them itself."""
        self._statuses = CallStatuses()
        self._subagents: dict[str, SessionView] = {}

    async def show(self, event: Event) -> None:
        """See `SessionView`."""
        match event:
            case SessionChanged():
                await self._show_settings(event)
            case CommandsChanged():
                await self._show_commands()
            case MessageStarted(role="user"):
                await self._show_prompt(event)
            case SubagentChanged() if self.client.subagents:
                await self._show_subagent(event)
            case Notice() if not self.client.notices and not self.live.session.busy:
                self._untold.append(event)  # told as a thought, and those belong to turns
            case _:
                await self.update(self._rendered(event, replay=False))
                if isinstance(event, StateChanged) and event.state == "running":
                    await self._tell_the_untold()

    def forget_prompt(self, parts: Sequence[ContentPart]) -> bool:
        """Take a prompt out of those that were `sent`; False if it is not there."""
        if parts not in self.sent:
            return False
        self.sent.remove(parts)
        return True

    def detach(self) -> None:
        """See `SessionView`."""
        super().detach()
        for view in self._subagents.values():
            view.detach()
        self._subagents.clear()

    async def _show_subagent(self, event: SubagentChanged) -> None:
        """Announce the session of a subagent, and show it from then on, as long as it is at work."""
        await self.update(subagent_update(event))
        if (shown := self._subagents.pop(event.item, None)) is not None:
            shown.detach()
        child = self.live.subagents.get(event.item)
        if child is not None and event.state == "running" and self.connected:
            self._subagents[event.item] = SessionViewV1(self.peer, child, self.client)

    async def _show_prompt(self, event: MessageStarted) -> None:
        """Show the prompt of another client."""
        if self.forget_prompt(event.parts):
            return
        for update in user_message(event):
            await self.update(update)

    def _rendered(self, event: Event, *, replay: bool) -> JsonObject | None:
        """The update for an event."""
        if isinstance(event, ToolCallChanged):
            return self._statuses.render(event, client=self.client, replay=replay)
        return render(event, client=self.client, replay=replay)

    async def _tell_the_untold(self) -> None:
        for notice in self._untold:
            await self.update(render(notice, client=self.client, replay=False))
        self._untold.clear()

    async def announce(self, more: Sequence[str] = ()) -> None:
        """See `SessionView`."""
        if self.client.notices:
            for text in (*self.live.notices, *self.live.commands.troubles, *more):
                await self.update(render(Notice(severity="warning", title=text), client=self.client, replay=False))
        await self._show_commands()

    async def show_past(self, events: Sequence[Event]) -> None:
        """See `SessionView`."""
        usage = None
        for event in events:
            if isinstance(event, UsageChanged):
                usage = render(event, client=self.client, replay=True)  # only the last word counts
            elif isinstance(event, MessageStarted) and event.role == "user":
                for update in user_message(event):
                    await self.update(update)
            else:
                await self.update(self._rendered(event, replay=True))
        session = self.live.session
        if not session.busy:
            for call_id in session.history.unfinished_calls:
                await self.update({"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "failed"})
        await self.update(usage)
        if session.record.title:
            await self.update({"sessionUpdate": "session_info_update", "title": session.record.title})

    async def _show_commands(self) -> None:
        await self.update(commands_update(self.live.commands()))

    async def _show_settings(self, event: SessionChanged) -> None:
        if event.title is not None:
            await self.update({"sessionUpdate": "session_info_update", "title": event.title})
        if event.sandbox is not None:
            await self.update({"sessionUpdate": "session_info_update", **sandbox_meta(event.sandbox)})
        if event.mode is not None:
            await self.update({"sessionUpdate": "current_mode_update", "currentModeId": event.mode})
        if event.mode is not None or event.model is not None or event.options:
            options = settings_of(self.live, self.client)["configOptions"]
            await self.update({"sessionUpdate": "config_option_update", "configOptions": options})
