"""The prompts of one chat client, as turns of sessions."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager

import anyio

from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.loop import Outcome
from claw_acp.contracts.questions import Asker
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart, Usage
from claw_acp.core.mode import MODES, Mode, is_wider
from claw_acp.gateway.access.client import Client
from claw_acp.gateway.chat.turn_watch import TurnWatch
from claw_acp.gateway.chat.wire import ChatPrompt
from claw_acp.runtime.engine_host import EngineHost
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.running_turn import JoinedPrompt, RunningTurn
from claw_acp.runtime.session_options import choose_mode, choose_model
from claw_acp.session.session import CLEANUP_TIMEOUT
from claw_acp.session.setup import SessionSetup

Attending = Callable[[LiveSession], AbstractContextManager[Asker]]
"""Has a session open for a block; gives what asks in its turns."""


class Conversation:
    """Runs one prompt after the other.

    Args:
        host: The engine.
        client: Whose prompts they are. Without the scope control it may not use a wider mode than the configured one.
    """

    def __init__(self, host: EngineHost, client: Client) -> None:
        self._host = host
        self._client = client
        self._turn: RunningTurn | JoinedPrompt | None = None
        self._cancelled = False

    def cancel(self) -> None:
        """Cancel the prompt that runs, or is about to."""
        self._cancelled = True
        if self._turn is not None:
            self._turn.cancel()

    async def run(
        self, prompt: ChatPrompt, *, watch: TurnWatch, attending: Attending, on_session: Callable[[str], None]
    ) -> JsonObject:
        """Run a prompt to its end; the facts about it: the text, the session, tokens, what was refused.

        Raises:
            ClawError: The prompt is invalid, or its turn failed.
        """
        live = await self._session_for(prompt)
        try:
            on_session(live.session.id)
            live.session.subscribers.append(watch)
            try:
                with attending(live) as asker:
                    outcome = await self._outcome(live, prompt, watch=watch, asker=asker)
            finally:
                live.session.subscribers.remove(watch)
            return _result(live.session.id, watch, outcome)
        finally:
            self._cancelled = False
            await self._release(live)

    async def _outcome(self, live: LiveSession, prompt: ChatPrompt, *, watch: TurnWatch, asker: Asker) -> Outcome:
        turns = (await self._host.engine()).turns
        ports = ClientPorts(
            workspace=live.workspace,
            asker=asker,
            client="a chat client",
            ingress="chat",
            on_accepted=watch.begin,
            widest_mode=self._widest_mode(live),
        )
        self._turn = turns.start(live, [TextPart(text=prompt.message)], ports=ports)
        try:
            if self._cancelled:
                self._turn.cancel()
            return await self._turn.outcome()
        finally:
            self._turn.cancel()  # of no effect once it has ended
            self._turn = None

    # ------------------------------------------------------------------ sessions

    async def _session_for(self, prompt: ChatPrompt) -> LiveSession:
        """The session of a prompt, or a new one with what the prompt asks for."""
        sessions = (await self._host.engine()).sessions
        if prompt.session is None:
            live = await sessions.create(SessionSetup(cwd=prompt.cwd or os.getcwd()))  # noqa: PTH109 - a text
        elif (found := sessions.look_at(prompt.session)) is not None:
            live = found
        else:
            record = await sessions.record(prompt.session)
            setup = SessionSetup(cwd=record.cwd, additional=record.additional_directories)
            live = await sessions.open(record.id, setup)
        try:
            self._check_mode(prompt.mode or live.session.mode, live)
            if prompt.session is None:
                await _choose(live, prompt)
        except BaseException:
            await self._release(live)
            raise
        return live

    @property
    def may_store_rules(self) -> bool:
        """True if this client may give answers that hold for later sessions as well."""
        return "control" in self._client.scopes

    def _widest_mode(self, live: LiveSession) -> Mode:
        """The widest mode: nobody gets more rights through a chat than the configuration gives."""
        return MODES[-1] if "control" in self._client.scopes else live.settings.mode

    def _check_mode(self, mode: Mode, live: LiveSession) -> None:
        """Check the mode that a prompt asks for, or that of its session.

        Raises:
            InvalidRequest: It is wider than this client may use.
        """
        if is_wider(mode, widest := self._widest_mode(live)):
            raise InvalidRequest(
                f'the mode "{mode}" needs a token with the scope control; this one has up to "{widest}"'
            )

    async def _release(self, live: LiveSession) -> None:
        """Close a session that nobody else has open."""
        if live.wanted:
            return
        with anyio.CancelScope(shield=True, deadline=anyio.current_time() + CLEANUP_TIMEOUT):
            await (await self._host.engine()).sessions.close(live.session.id)


async def _choose(live: LiveSession, prompt: ChatPrompt) -> None:
    if prompt.model is not None:
        await choose_model(live, prompt.model)
    if prompt.mode is not None:
        await choose_mode(live, prompt.mode, by="a chat client")


def _result(session_id: str, watch: TurnWatch, outcome: Outcome) -> JsonObject:
    result: dict[str, object] = {"text": watch.text, "session": session_id, "stop_reason": outcome.stop}
    if outcome.usage is not None:
        result["usage"] = _tokens(outcome.usage)
    if watch.refused:
        result["refused"] = watch.refused
    return result  # pyright: ignore[reportReturnType] - JSON


def _tokens(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_read_tokens": usage.cached_read_tokens,
        "cached_write_tokens": usage.cached_write_tokens,
        "thought_tokens": usage.thought_tokens,
    }
