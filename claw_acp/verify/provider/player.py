"""Plays one vector against a provider program, and judges the answers."""

import json
from collections.abc import Sequence
from typing import cast

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.verify.frames import Frame, Key
from claw_acp.verify.line_conversation import LineConversation, Settings, played
from claw_acp.verify.process import AgentProcess
from claw_acp.verify.provider.deltas import Deltas
from claw_acp.verify.provider.vector import Vector, mismatch
from claw_acp.verify.rule import Failed


class Player(LineConversation):
    """One run of the program: the frames, and the open requests."""

    def __init__(self, vector: Vector, settings: Settings, process: AgentProcess) -> None:
        super().__init__(process, timeout=settings.timeout)
        self._vector = vector
        self._open: dict[Key, Deltas] = {}  # requests without an answer
        self._answers: dict[Key, tuple[Frame, Deltas]] = {}
        self._garbage = 0  # lines that may be answered with a null id

    async def play(self) -> None:
        """Carry out the steps.

        Raises:
            Failed: The program behaved differently.
        """
        for step in self._vector.steps:
            for name, todo in (("send", self._send), ("sendText", self._send_text), ("answer", self._answer)):
                if name in step:
                    await todo(step)
            if "closeInput" in step:
                await self._process.close_input()
            if "line" in step:
                await self._last_line(step["line"])
            if "exit" in step:
                await self.leave(cast("float", step["exit"]))

    # ------------------------------------------------------------------ steps

    async def _send(self, step: JsonObject) -> None:
        message = cast("JsonObject", step["send"])
        pad = step.get("pad")
        if isinstance(pad, int):
            message = _padded(message, pad)
        if "id" in message and "method" in message:
            self._open[Key.of(message["id"])] = Deltas(message["id"])
        await self._send_line(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")

    async def _send_text(self, step: JsonObject) -> None:
        text = cast("str", step["sendText"])
        self._garbage += sum(1 for line in text.splitlines() if line.strip())
        await self._send_line(text.encode())

    async def _send_line(self, data: bytes) -> None:
        await self.write(data, unread=self._vector.mode == "oneshot")  # one request may be answered unread

    async def _answer(self, step: JsonObject) -> None:
        key = Key.of(step["answer"])
        while key not in self._answers:
            frame = await self.next()
            if frame is None:
                await self._process.fall_silent()
                raise Failed(
                    f"the output ended before the answer to {step['answer']!r}{self.words()}", self.frames[-3:]
                )
            self._take(frame)
        frame, deltas = self._answers[key]
        if "result" in step and "error" in frame.object:
            raise Failed(f"the request failed: {(frame.error or {}).get('message')}", [frame])
        for part in ("result", "error"):
            if part in step and (trouble := mismatch(step[part], frame.object.get(part), place=part)):
                raise Failed(trouble, [frame])
        if "result" in frame.object and (trouble := deltas.contradiction(frame.result)):
            raise Failed(trouble, [frame])
        if "deltas" in step and (trouble := deltas.mismatch(step["deltas"])):
            raise Failed(trouble, [frame])

    async def _last_line(self, pattern: JsonValue) -> None:
        last: Frame | None = None
        while (frame := await self.next(strict=False)) is not None:
            last = frame
        if last is None:
            await self._process.fall_silent()
            raise Failed(f"it wrote nothing{self.words()}")
        if not isinstance(last.message, dict):
            await self._process.fall_silent()
            raise Failed(f"its last line is no JSON object{self.words()}", [last])
        if ("result" in last.message) == ("error" in last.message):
            raise Failed("its last line has neither a result nor an error, or both", [last])
        if trouble := mismatch(pattern, last.message):
            raise Failed(trouble, [last])

    # ------------------------------------------------------------------ what comes in

    def _take(self, frame: Frame) -> None:
        """Store a message of a session."""
        if frame.method == "chat/delta":
            self._take_delta(frame)
        elif frame.method:
            if frame.is_request:
                raise Failed(f"it called {frame.method}; a program may only answer and notify", [frame])
        elif frame.is_answer:
            self._take_answer(frame)
        else:
            raise Failed("it wrote something that is neither an answer nor a notification", [frame])

    def _take_delta(self, frame: Frame) -> None:
        deltas = self._open.get(Key.of(frame.params.get("requestId")))
        if deltas is None:
            raise Failed("a chat/delta belongs to no chat that is under way", [frame])
        if trouble := deltas.add(frame.params):
            raise Failed(trouble, [frame])

    def _take_answer(self, frame: Frame) -> None:
        if frame.object.get("jsonrpc") != "2.0":
            raise Failed('an answer lacks "jsonrpc": "2.0"', [frame])
        if frame.object.get("id") is None and "error" in frame.object and self._garbage:
            self._garbage -= 1
            return
        key = Key.of(frame.object.get("id"))
        deltas = self._open.pop(key, None)
        if deltas is None:
            raise Failed("it answered a request that was not sent, or a second time", [frame])
        if ("result" in frame.object) == ("error" in frame.object):
            raise Failed("an answer has either a result or an error", [frame])
        self._answers[key] = frame, deltas


def _padded(message: JsonObject, count: int) -> JsonObject:
    copy = cast("dict[str, dict[str, list[dict[str, str]]]]", json.loads(json.dumps(message)))
    copy["params"]["messages"][-1]["content"] += "x" * count
    return cast("JsonObject", copy)


async def play(vector: Vector, settings: Settings) -> Sequence[Frame]:
    """Start the program, play a vector, and end the program.

    Returns:
        All frames.

    Raises:
        CannotStart: The program cannot be started.
        Failed: It broke the rule.
    """
    return await played(settings, lambda process: Player(vector, settings, process))
