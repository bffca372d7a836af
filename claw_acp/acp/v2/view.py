"""The view of a session for a client of protocol 2."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from claw_acp.acp.config_options import config_options
from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.acp.updates import notice, sandbox_meta
from claw_acp.acp.v2.replay import folded
from claw_acp.acp.v2.tool_calls import ToolCalls
from claw_acp.acp.v2.updates import STATES, State, available_commands, end_of_turn, render, render_past
from claw_acp.acp.view import SessionView
from claw_acp.core.events import (
    FINAL,
    CommandContent,
    CommandsChanged,
    Event,
    Notice,
    SessionChanged,
    StateChanged,
    TerminalChanged,
    ToolCallChanged,
    ToolContent,
)
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import replace
from claw_acp.registry.reference import Ref
from claw_acp.rpc.message import INTERNAL_ERROR
from claw_acp.rpc.peer import Peer
from claw_acp.runtime.live_session import LiveSession


class SessionViewV2(SessionView):
    """Renders events for protocol 2: states, upserts, terminals of our own.

    Attributes:
        state: The state sent last; a new session is idle.
    """

    ASKER = Ref("claw_acp.acp.v2.prompt:AskerV2")

    def __init__(self, peer: Peer, live: LiveSession, client: ClientCapabilities) -> None:
        self.state: State = "idle"
        self._calls = ToolCalls()
        self._questions = 0  # sent to the person and not answered
        self._blocked = False  # nothing but an answer lets the turn go on
        self._background: dict[str, None] = {}  # terminals the client was told of, whose end it does not know
        super().__init__(peer, live, client)

    # ------------------------------------------------------------------ live

    async def show(self, event: Event) -> None:
        """See `SessionView`."""
        match event:
            case ToolCallChanged():
                await self._send(self._change(event))
            case TerminalChanged(command=picture):
                await self._show_terminal(picture)
            case StateChanged():
                await self._show_state(event)
            case SessionChanged():
                await self._show_settings(event)
            case Notice(severity="error") if self.state != "idle":
                pass  # the turn fails, and its end says the same
            case CommandsChanged():
                commands = available_commands(self.live.commands())
                await self.update({"sessionUpdate": "available_commands_update", "availableCommands": commands})
            case _:
                await self.update(render(event))

    async def announce(self, more: Sequence[str] = ()) -> None:
        """See `SessionView`. Commands and options are in the answers that open a session."""
        for text in (*self.live.notices, *self.live.commands.troubles, *more):
            await self.update(notice(Notice(severity="warning", title=text)))

    @asynccontextmanager
    async def asking(self) -> AsyncGenerator[None]:
        """See `SessionView`."""
        self._questions += 1
        try:
            await self._tell_if_blocked()
            yield
        finally:
            self._questions -= 1

    def offers(self) -> JsonObject:
        """The options that can be set in the session, the commands that can be typed, and the sandbox of commands."""
        options = config_options(self.live, id_key="configId", switches=self.client.boolean_options)
        commands = available_commands(self.live.commands())
        return {"configOptions": options, "availableCommands": commands, **sandbox_meta(self.live.session.sandbox)}

    def _change(self, event: ToolCallChanged) -> list[JsonObject]:
        work = self.live.session.work
        return self._calls.change(event, cancellable=work.can_cancel_call(event.item))

    async def _send(self, updates: Sequence[JsonObject]) -> None:
        for update in updates:
            await self.update(update)

    async def _show_settings(self, event: SessionChanged) -> None:
        if event.title is not None:
            await self.update({"sessionUpdate": "session_info_update", "title": event.title})
        if event.sandbox is not None:
            await self.update({"sessionUpdate": "session_info_update", **sandbox_meta(event.sandbox)})
        if event.mode is not None or event.model is not None or event.options:
            options = self.offers()["configOptions"]
            await self.update({"sessionUpdate": "config_option_update", "configOptions": options})

    # ------------------------------------------------------------------ states

    async def _show_state(self, event: StateChanged) -> None:
        match event.state:
            case "waiting":
                self._blocked = True
                await self._tell_if_blocked()
            case "running":
                self._blocked = False
                if self.state != "running":
                    await self._tell("running")
            case "idle":
                self._blocked = False
                await self._tell("idle", **end_of_turn(event))

    async def settle(self, trouble: str | None = None, *, code: int = INTERNAL_ERROR) -> None:
        """Report that the session is idle, after a turn that ended without reporting it.

        Args:
            trouble: The reason; without it, the turn was cancelled.
            code: The error code.
        """
        await self.shown()
        if self.state == "idle" or self.live.session.busy:
            return
        end = StateChanged(state="idle", stop="cancelled")
        failed = replace(end, stop=None, error=trouble, code=code)
        await self.live.session.broadcast(end if trouble is None else failed)

    async def _tell_if_blocked(self) -> None:
        if self._blocked and self._questions and self.state == "running":
            await self._tell("requires_action")

    async def tell_state(self) -> None:
        """Send the current state, which a client that resumes a session must know."""
        await self._tell(STATES[self.live.session.state])

    async def _tell(self, state: State, **more: JsonValue) -> None:
        self.state = state
        for picture in self.live.session.work.background():
            if picture.terminal_id not in self._background:
                await self._send(self._calls.terminals.draw(picture))
                self._background[picture.terminal_id] = None
        await self.update({"sessionUpdate": "state_update", **self.snapshot(), **more})

    def snapshot(self) -> JsonObject:
        """The state sent last."""
        background = [{"type": "terminal", "terminalId": terminal_id} for terminal_id in self._background]
        return {"state": self.state, "background": background}

    async def _show_terminal(self, picture: CommandContent) -> None:
        await self._send(self._calls.terminals.draw(picture))
        if not picture.running and picture.terminal_id in self._background:
            del self._background[picture.terminal_id]
            await self._tell(self.state)

    # ------------------------------------------------------------------ what is over

    async def show_past(self, events: Sequence[Event]) -> None:
        """See `SessionView`. The client's copy of the conversation is replaced, not repeated."""
        self._calls = ToolCalls()
        self._background.clear()
        for event in folded(events):
            if isinstance(event, ToolCallChanged):
                await self._send(self._change(self._as_left(event)))
            else:
                await self.update(render_past(event))
        title = self.live.session.record.title
        if title:
            await self.update({"sessionUpdate": "session_info_update", "title": title})

    def _as_left(self, event: ToolCallChanged) -> ToolCallChanged:
        """A call in its present state: one that a crash left unfinished has failed, and its program is gone."""
        session = self.live.session
        unfinished = event.status not in FINAL
        if unfinished and session.busy:
            return event
        now = {picture.terminal_id: picture for picture in session.work.background()}
        content = None if event.content is None else tuple(_as_it_is(item, now) for item in event.content)
        return replace(event, content=content, **({"status": "failed"} if unfinished else {}))


def _as_it_is(item: ToolContent, now: dict[str, CommandContent]) -> ToolContent:
    if not isinstance(item, CommandContent) or not item.running:
        return item
    return now.get(item.terminal_id) or replace(item, running=False)
