"""`/ws/chat`: a conversation of a plain web client, in frames of JSON."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial

import anyio
from anyio.abc import TaskGroup

from claw_acp.acp.permission import SharedAsker
from claw_acp.acp.view import ANSWER_TIMEOUT
from claw_acp.contracts.questions import Asker, Choice, Form, FormAnswer, PermissionQuestion
from claw_acp.core.errors import ClawError
from claw_acp.core.events import DiffContent
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import replace
from claw_acp.gateway.access.client import Client
from claw_acp.gateway.acp.close_code import OVER, TOKEN_ENDED
from claw_acp.gateway.acp.websocket_transport import WebSocketTransport
from claw_acp.gateway.chat.conversation import Conversation
from claw_acp.gateway.chat.turn_watch import TurnWatch
from claw_acp.gateway.chat.wire import CancelFrame, ChatPrompt, PermissionFrame, frame_in
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.token_check import chosen_subprotocol
from claw_acp.gateway.http.websocket import WebSocket
from claw_acp.runtime.engine_host import EngineHost
from claw_acp.runtime.live_session import LiveSession
from claw_acp.telemetry.trace_context import trace_from


async def serve_chat(websocket: WebSocket, host: EngineHost, client: Client, limits: Limits) -> None:
    """Accept a WebSocket and serve it until it closes or the token ends; a prompt that runs then is cancelled.

    Raises:
        HttpError: 400 or 426, before the WebSocket is accepted.
        ClientGone: The client hung up.
    """
    transport = WebSocketTransport(websocket, limits=limits)
    await websocket.accept({}, subprotocol=chosen_subprotocol(websocket.head.subprotocols))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transport.write, name="chat writer")
        with client.visit(partial(transport.end, TOKEN_ENDED)):
            await ChatSocket(transport, Conversation(host, client)).run()
        transport.end(OVER)


class ChatSocket:
    """One client and its conversation; asks that client, too."""

    def __init__(self, transport: WebSocketTransport, conversation: Conversation) -> None:
        self._transport = transport
        self._conversation = conversation
        self._running = False
        self._questions: dict[str, _Question] = {}

    async def run(self) -> None:
        """Handle frames until the client leaves."""
        async with anyio.create_task_group() as tasks:
            while (data := await self._transport.receive()) is not None:
                try:
                    self._handle(frame_in(data), tasks)
                except ClawError as error:
                    self._fail(error)
                await self._transport.drained()  # who does not read the answers is not listened to
            self._conversation.cancel()

    def _handle(self, frame: ChatPrompt | CancelFrame | PermissionFrame, tasks: TaskGroup) -> None:
        match frame:
            case ChatPrompt() if self._running:
                self._send({"type": "error", "message": "a prompt is running; wait for `done`, or send `cancel`"})
            case ChatPrompt():
                self._running = True
                tasks.start_soon(self._prompt, frame, name="chat prompt")
            case CancelFrame():
                if self._running:
                    self._conversation.cancel()
            case PermissionFrame(id=question_id, option=option):
                question = self._questions.get(question_id)
                if question is None or not question.answer(option):
                    self._send({"type": "error", "message": "no such question waits, or it has no such option"})

    async def _prompt(self, prompt: ChatPrompt) -> None:
        try:
            with trace_from(prompt.meta):
                result = await self._conversation.run(
                    prompt,
                    watch=TurnWatch(self._send, self._transport),
                    attending=self._attending,
                    on_session=lambda session_id: self._send({"type": "session", "session": session_id}),
                )
            self._send({"type": "done", **result})
        except ClawError as error:
            self._fail(error)
        finally:
            self._running = False

    @contextmanager
    def _attending(self, live: LiveSession) -> Generator[Asker]:
        """Be asked like everybody who has the session open, as long as the prompt waits or runs."""
        live.enter(self)
        try:
            yield SharedAsker(live)
        finally:
            live.leave(self)

    # ------------------------------------------------------------------ see `Place`

    @property
    def name(self) -> str:
        """See `Place`."""
        return "a web client"

    @property
    def connected(self) -> bool:
        """See `Place`."""
        return self._running

    @property
    def asker(self) -> Asker:
        """See `Place`."""
        return self

    @property
    def workspace(self) -> None:
        """See `Place`: a web client has no files."""

    async def permission(self, question: PermissionQuestion) -> Choice | None:
        """See `Asker`. Without the scope control an answer holds for this call only: a stored rule outlasts chats."""
        if not self._conversation.may_store_rules:
            once = [choice for choice in question.choices if choice.kind in {"allow_once", "reject_once"}]
            question = replace(question, choices=tuple(once))
        waiting, question_id = _Question(question), new_id("prm")
        self._questions[question_id] = waiting
        self._send(_permission_frame(question_id, question))
        try:
            with anyio.move_on_after(ANSWER_TIMEOUT):
                return await waiting.choice()
            return None
        finally:
            del self._questions[question_id]
            if waiting.chosen is None:
                self._send({"type": "permission_withdrawn", "id": question_id})

    async def form(self, form: Form) -> FormAnswer | None:
        """See `Asker`. Chat clients have no forms."""

    def _fail(self, error: ClawError) -> None:
        self._send({"type": "error", "code": error.code, "message": error.message})

    def _send(self, frame: JsonObject) -> None:
        self._transport.send(json.dumps(frame, ensure_ascii=False).encode("utf-8", "replace"))


class _Question:
    """A question that the client has been shown."""

    def __init__(self, question: PermissionQuestion) -> None:
        self._question = question
        self._answered = anyio.Event()
        self.chosen: Choice | None = None

    def answer(self, option: str) -> bool:
        """Answer it; False: it has no such option."""
        self.chosen = next((choice for choice in self._question.choices if choice.id == option), None)
        if self.chosen is not None:
            self._answered.set()
        return self.chosen is not None

    async def choice(self) -> Choice | None:
        """Wait for the answer."""
        await self._answered.wait()
        return self.chosen


def _permission_frame(question_id: str, question: PermissionQuestion) -> JsonObject:
    diffs: list[JsonValue] = [
        {"path": each.path, "old": each.old_text, "new": each.new_text}
        for each in question.content
        if isinstance(each, DiffContent)
    ]
    frame: JsonObject = {
        "type": "permission",
        "id": question_id,
        "title": question.title,
        "reason": question.reason,
        "diffs": diffs,
        "options": [{"id": each.id, "label": each.label, "kind": each.kind} for each in question.choices],
    }
    return frame if question.command is None else {**frame, "command": question.command.line}
