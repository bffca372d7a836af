"""Plays one vector against a program that attaches, in the part of the hub, and judges what it says."""

import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

from pydantic import ValidationError

from claw_acp.contracts.endpoint import TOOL_PREFIX
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.kit.endpoint_wire import FireParams, LogParams, Message, Nothing, RegisterParams, UnregisterParams
from claw_acp.verify.endpoint.vector import Vector
from claw_acp.verify.frames import Frame, Key
from claw_acp.verify.line_conversation import LineConversation, Settings, played
from claw_acp.verify.process import AgentProcess
from claw_acp.verify.provider.vector import mismatch
from claw_acp.verify.rule import Failed

REQUESTS: Final[Mapping[str, type[Message]]] = {
    "ping": Nothing,
    "tools/register": RegisterParams,
    "tools/unregister": UnregisterParams,
    "schedule/fire": FireParams,
}
"""The requests that a program may send, with their parameters."""


class Player(LineConversation):
    """One run of the program in the part of the hub."""

    def __init__(self, vector: Vector, settings: Settings, process: AgentProcess) -> None:
        super().__init__(process, timeout=settings.timeout)
        self._vector = vector
        self._refuse: JsonValue = None
        self._open: set[Key] = set()
        self._answers: dict[Key, Frame] = {}
        self._said: list[Frame] = []  # its requests and notifications that no step was about
        self._garbage = 0  # lines that may be answered with a null id

    async def play(self) -> None:
        """Carry out the steps.

        Raises:
            Failed: The program behaved differently.
        """
        for step in self._vector.steps:
            self._refuse = step.get("refuse", self._refuse)
            for name, todo in (
                ("send", self._send),
                ("sendText", self._send_text),
                ("answer", self._answer),
                ("receive", self._receive),
            ):
                if name in step:
                    await todo(step)
            if "closeInput" in step:
                await self._process.close_input()
            if "exit" in step:
                await self.leave(cast("float", step["exit"]))

    # ------------------------------------------------------------------ steps

    async def _send(self, step: JsonObject) -> None:
        message = cast("JsonObject", step["send"])
        if "id" in message:
            self._open.add(Key.of(message["id"]))
        await self._write(message)

    async def _send_text(self, step: JsonObject) -> None:
        text = cast("str", step["sendText"])
        self._garbage += sum(1 for line in text.splitlines() if line.strip())
        await self.write(text.encode())

    async def _answer(self, step: JsonObject) -> None:
        key = Key.of(step["answer"])
        while key not in self._answers:
            await self._hear(f"the answer to {step['answer']!r}")
        frame = self._answers[key]
        if "result" in step and "error" in frame.object:
            raise Failed(f"the request failed: {(frame.error or {}).get('message')}", [frame])
        if "error" in step and "error" not in frame.object:
            raise Failed("it was answered with a result, and an error was due", [frame])
        for part in ("result", "error"):
            if part in step and (trouble := mismatch(step[part], frame.object.get(part), place=part)):
                raise Failed(trouble, [frame])

    async def _receive(self, step: JsonObject) -> None:
        method = cast("str", step["receive"])
        while (frame := next((one for one in self._said if one.method == method), None)) is None:
            await self._hear(f"its `{method}`")
        self._said.remove(frame)
        if trouble := mismatch(step.get("params", "$any"), cast("JsonValue", frame.params), place="params"):
            raise Failed(trouble, [frame])

    # ------------------------------------------------------------------ what comes in

    async def _hear(self, what: str) -> None:
        frame = await self.next()
        if frame is None:
            await self._process.fall_silent()
            raise Failed(f"the output ended before {what}{self.words()}", self.frames[-3:])
        if frame.method:
            await self._take_call(frame)
        elif frame.is_answer:
            self._take_answer(frame)
        else:
            raise Failed("it wrote something that is neither an answer nor a notification", [frame])

    async def _take_call(self, frame: Frame) -> None:
        method = frame.method
        self._said.append(frame)
        if not frame.is_request:
            if method == "log":
                _validate(LogParams, frame)
            return
        if method not in REQUESTS:
            raise Failed(f"it called {method}, which no hub has", [frame])
        _validate(REQUESTS[method], frame)
        reply = {"jsonrpc": "2.0", "id": frame.object["id"], **self._reply(method, frame.params)}
        await self._write(reply, unread=True)  # it may have been told to leave already

    def _reply(self, method: str, params: JsonObject) -> JsonObject:
        if method in {"tools/register", "schedule/fire"} and self._refuse == "request":
            return {"error": {"code": -32602, "message": "refused by the check"}}
        if method != "tools/register":
            return {"result": {"known": False} if method == "schedule/fire" else {}}
        names = [tool.name for tool in RegisterParams.model_validate(params).tools]
        if self._refuse == "tools":
            refused: list[JsonValue] = [{"name": name, "reason": "refused by the check"} for name in names]
            return {"result": {"registered": [], "refused": refused}}
        registered: list[JsonValue] = [{"name": name, "knownAs": f"{TOOL_PREFIX}{name}"} for name in names]
        return {"result": {"registered": registered, "refused": []}}

    def _take_answer(self, frame: Frame) -> None:
        if frame.object.get("jsonrpc") != "2.0":
            raise Failed('an answer lacks "jsonrpc": "2.0"', [frame])
        if frame.object.get("id") is None and "error" in frame.object and self._garbage:
            self._garbage -= 1
            return
        key = Key.of(frame.object.get("id"))
        if key not in self._open:
            raise Failed("it answered a request that was not sent, or a second time", [frame])
        if ("result" in frame.object) == ("error" in frame.object):
            raise Failed("an answer has either a result or an error", [frame])
        self._open.remove(key)
        self._answers[key] = frame

    async def _write(self, message: JsonObject, *, unread: bool = False) -> None:
        line = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        await self.write(line, unread=unread)


def _validate(kind: type[Message], frame: Frame) -> None:
    try:
        kind.model_validate(frame.params)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise Failed(f"{frame.method}: {place}: {problem['msg']}", [frame]) from error


async def play(vector: Vector, settings: Settings) -> Sequence[Frame]:
    """Start the program, play a vector, and end the program.

    Returns:
        All frames.

    Raises:
        CannotStart: The program cannot be started.
        Failed: It broke the rule.
    """
    return await played(settings, lambda process: Player(vector, settings, process))
