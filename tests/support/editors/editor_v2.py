"""The editor for tests with protocol 2, whose rules apply to every frame."""

import base64
from collections.abc import Sequence
from typing import Any, ClassVar

from tests.support.editors.editor import Editor
from tests.support.editors.editor_desk import Question
from tests.support.editors.exchange import Call, Json, tool_calls

INFO: Json = {"name": "test-editor", "version": "1"}
START: Json = {"type": "start"}


class EditorV2(Editor):
    """A client of protocol 2 with one agent."""

    version: ClassVar[int] = 2

    # ------------------------------------------------------------------ calls

    async def initialize(self, **params: Any) -> Json:
        """`initialize` for protocol 2."""
        asked: Json = {"protocolVersion": 2, "info": INFO, "capabilities": self.capabilities, **params}
        return await self.request("initialize", asked)

    async def new_session(self, **params: Any) -> Json:
        """`session/new` in the project; `session` is the new one from now on."""
        result = await self.request("session/new", {"cwd": str(self.project), **params})
        self.session = result["sessionId"]
        return result

    async def resume(
        self, session: str | None = None, *, replay: bool = False, **params: Any
    ) -> tuple[Json, list[Json]]:
        """`session/resume`: its result and the updates that came before."""
        resumed = session or self.session
        asked: Json = {"sessionId": resumed, "cwd": str(self.project), **params}
        if replay:
            asked["replayFrom"] = START
        call = await self.start("session/resume", asked)
        result = await call.result()
        self.session = resumed
        return result, call.updates

    async def insert(self, content: str | list[Json], *, session: str | None = None) -> str:
        """Send a prompt and wait until it is part of the conversation; returns the id of its message."""
        return (await (await self.start_prompt(content, session=session)).result())["messageId"]

    async def run(self, content: str | list[Json], *, session: str | None = None) -> "Turn":
        """Send a prompt and wait until the session is idle again."""
        begin = len(self.transcript)
        message = await self.insert(content, session=session)
        return await self.ended(begin, session=session, message=message)

    async def ended(self, begin: int, *, session: str | None = None, message: str = "") -> "Turn":
        """Wait for an idle state after a place in the transcript."""
        session = session or self.session

        def updates() -> list[Json]:
            frames = self.transcript[begin:]
            return [
                frame.update for frame in frames if frame.update and frame.message["params"]["sessionId"] == session
            ]

        def idle() -> bool:
            return any(update.get("state") == "idle" for update in updates())

        await self.wait_for(idle, "an idle session")
        found = updates()
        end = next(index for index, update in enumerate(found) if update.get("state") == "idle")
        return Turn(found[: end + 1], message=message)

    async def cancel(self, session: str | None = None, *, answering: bool = True) -> None:
        """`session/cancel`. Open questions are left to the agent, which withdraws them."""
        await self.notify("session/cancel", {"sessionId": session or self.session})
        if answering:
            await self.answer_withdrawn()

    # ------------------------------------------------------------------ waiting and looking

    @property
    def states(self) -> list[str]:
        """All states so far."""
        return [update["state"] for update in self.updates("state_update")]

    async def wait_for_state(self, state: str) -> None:
        """Wait until the last state of the session is this one."""
        await self.wait_for(lambda: self.states[-1:] == [state], f"the state {state}")

    async def wait_for_call(self, status: str) -> Json:
        """Wait until some tool call has this status; returns it."""

        def found() -> list[Json]:
            return [call for call in tool_calls(self.updates()).values() if call.get("status") == status]

        await self.wait_for(found, f"a tool call that is {status}")
        return found()[0]

    def withdrawn(self) -> list[object]:
        """Ids of our questions that the agent withdrew."""
        return [frame["params"]["requestId"] for frame in self.received("$/cancel_request")]

    async def answer_withdrawn(self) -> None:
        """Answer withdrawn questions, as a client must; waits for them while questions are open."""
        for question in tuple(self.questions):
            await self.wait_for(lambda question=question: question.id in self.withdrawn(), "a question taken back")
            await self.answer(question, "cancelled")


class Turn:
    """The updates from a prompt to the idle state after it."""

    def __init__(self, updates: Sequence[Json], *, message: str) -> None:
        self.updates = list(updates)
        self.message = message
        self.end = self.updates[-1]

    @property
    def stop_reason(self) -> str:
        """Its stop reason."""
        return self.end["stopReason"]

    @property
    def kinds(self) -> list[str]:
        """The kinds of its updates, states by name."""
        return [update.get("state", update["sessionUpdate"]) for update in self.updates]

    @property
    def text(self) -> str:
        """The agent's text."""
        return said(self.updates, "agent_message")

    @property
    def thoughts(self) -> str:
        """The agent's thinking."""
        return said(self.updates, "agent_thought")

    @property
    def calls(self) -> list[Json]:
        """Its tool calls, folded."""
        return list(tool_calls(self.updates).values())


def said(updates: Sequence[Json], kind: str) -> str:
    """The text of all messages of one kind, folded: whole messages replace, chunks append."""
    messages: dict[str, str] = {}
    for update in updates:
        if update["sessionUpdate"] == kind:
            messages[update["messageId"]] = "".join(block.get("text", "") for block in update.get("content") or ())
        elif update["sessionUpdate"] == f"{kind}_chunk":
            messages[update["messageId"]] = messages.get(update["messageId"], "") + update["content"].get("text", "")
    return "".join(messages.values())


def printed(updates: Sequence[Json], terminal: str) -> str:
    """The final content of a terminal, as text."""
    return printed_bytes(updates, terminal).decode()


def printed_bytes(updates: Sequence[Json], terminal: str) -> bytes:
    """The final content of a terminal."""
    output = b""
    for update in updates:
        if update.get("terminalId") == terminal:
            if update.get("output"):
                output = base64.b64decode(update["output"]["data"])
            output += base64.b64decode(update.get("data", ""))
    return output


__all__ = ["INFO", "START", "Call", "EditorV2", "Question", "Turn", "printed", "printed_bytes", "said"]
