"""A conversation that follows the steps of a vector: what is sent, and what has to be answered."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

from claw_acp.core.json_value import JsonObject
from claw_acp.verify.frames import Frame, Key
from claw_acp.verify.line_conversation import LineConversation, Settings
from claw_acp.verify.pattern import mismatch
from claw_acp.verify.process import AgentProcess
from claw_acp.verify.rule import Failed


class VectorPlayer(LineConversation):
    """One run of a program with the steps that every protocol has; its own are added to `doing`.

    Args:
        steps: The steps.
        settings: The program.
        process: The program as it runs.
        unread: It may stop reading, as it answers one request only.

    Attributes:
        doing: Carries out a member of a step, by its name.
        open: The requests without an answer.
    """

    def __init__(
        self, steps: Sequence[JsonObject], settings: Settings, process: AgentProcess, *, unread: bool = False
    ) -> None:
        super().__init__(process, timeout=settings.timeout)
        self._steps = steps
        self._unread = unread
        self._answers: dict[Key, Frame] = {}
        self._garbage = 0  # lines that may be answered with a null id
        self.open: set[Key] = set()
        self.doing: dict[str, Callable[[JsonObject], Awaitable[object]]] = {
            "send": self.send,
            "sendText": self._send_text,
            "answer": self.answer,
            "closeInput": self._close_input,
            "exit": self._exit,
        }

    async def play(self) -> None:
        """Carry out the steps.

        Raises:
            Failed: The program behaved differently.
        """
        for step in self._steps:
            for name in step:
                if name in self.doing:
                    await self.doing[name](step)

    async def send(self, step: JsonObject) -> None:
        """Send a message."""
        message = cast("JsonObject", step["send"])
        if "id" in message and "method" in message:
            self.open.add(Key.of(message["id"]))
        await self.write_message(message, unread=self._unread)

    async def answer(self, step: JsonObject) -> Frame:
        """Read until a request is answered, and check the answer."""
        key = Key.of(step["answer"])
        while key not in self._answers:
            await self.hear(f"the answer to {step['answer']!r}")
        frame = self._answers[key]
        if "result" in step and "error" in frame.object:
            raise Failed(f"the request failed: {(frame.error or {}).get('message')}", [frame])
        if "error" in step and "error" not in frame.object:
            raise Failed("it was answered with a result, and an error was due", [frame])
        for part in ("result", "error"):
            if part in step and (trouble := mismatch(step[part], frame.object.get(part), place=part)):
                raise Failed(trouble, [frame])
        return frame

    async def hear(self, what: str) -> None:
        """Read a message and take it; `what` is waited for."""
        frame = await self.next()
        if frame is None:
            await self._process.fall_silent()
            raise Failed(f"the output ended before {what}{self.words()}", self.frames[-3:])
        if frame.method:
            await self.take_call(frame)
        elif frame.is_answer:
            self._take_answer(frame)
        else:
            raise Failed("it wrote something that is neither an answer nor a notification", [frame])

    async def take_call(self, frame: Frame) -> None:
        """Take a request or a notification of the program; by default it may send neither."""
        raise Failed(f"it called {frame.method}; a program may only answer", [frame])

    async def write_message(self, message: JsonObject, *, unread: bool = False) -> None:
        """Send a message as a line; with `unread` the program may have stopped reading."""
        line = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        await self.write(line, unread=unread)

    # ------------------------------------------------------------------ steps

    async def _send_text(self, step: JsonObject) -> None:
        text = cast("str", step["sendText"])
        self._garbage += sum(1 for line in text.splitlines() if line.strip())
        await self.write(text.encode(), unread=self._unread)

    async def _close_input(self, _: JsonObject) -> None:
        await self._process.close_input()

    async def _exit(self, step: JsonObject) -> None:
        await self.leave(cast("float", step["exit"]))

    def _take_answer(self, frame: Frame) -> None:
        if frame.object.get("jsonrpc") != "2.0":
            raise Failed('an answer lacks "jsonrpc": "2.0"', [frame])
        if frame.object.get("id") is None and "error" in frame.object and self._garbage:
            self._garbage -= 1
            return
        key = Key.of(frame.object.get("id"))
        if key not in self.open:
            raise Failed("it answered a request that was not sent, or a second time", [frame])
        if ("result" in frame.object) == ("error" in frame.object):
            raise Failed("an answer has either a result or an error", [frame])
        self.open.remove(key)
        self._answers[key] = frame
