"""Plays one vector against a provider program, and judges the answers."""

import json
from collections.abc import Sequence
from typing import cast

from claw_acp.core.json_value import JsonObject
from claw_acp.verify.frames import Frame, Key
from claw_acp.verify.line_conversation import Settings, played
from claw_acp.verify.pattern import mismatch
from claw_acp.verify.process import AgentProcess
from claw_acp.verify.provider.deltas import Deltas
from claw_acp.verify.provider.vector import Vector
from claw_acp.verify.rule import Failed
from claw_acp.verify.vector_player import VectorPlayer


class Player(VectorPlayer):
    """One run of the program, with the deltas of its chats."""

    def __init__(self, vector: Vector, settings: Settings, process: AgentProcess) -> None:
        # One request may be answered before all of it was read.
        super().__init__(vector.steps, settings, process, unread=vector.mode == "oneshot")
        self._deltas: dict[Key, Deltas] = {}
        self.doing["line"] = self._last_line

    async def send(self, step: JsonObject) -> None:
        """See `VectorPlayer`."""
        message, pad = cast("JsonObject", step["send"]), step.get("pad")
        if "id" in message:
            self._deltas[Key.of(message["id"])] = Deltas(message["id"])
        await super().send({"send": _padded(message, pad)} if isinstance(pad, int) else step)

    async def answer(self, step: JsonObject) -> Frame:
        """See `VectorPlayer`."""
        frame = await super().answer(step)
        deltas = self._deltas[Key.of(step["answer"])]
        if "result" in frame.object and (trouble := deltas.contradiction(frame.result)):
            raise Failed(trouble, [frame])
        if "deltas" in step and (trouble := deltas.mismatch(step["deltas"])):
            raise Failed(trouble, [frame])
        return frame

    async def take_call(self, frame: Frame) -> None:
        """See `VectorPlayer`: only deltas of chats under way may come."""
        if frame.is_request:
            raise Failed(f"it called {frame.method}; a program may only answer and notify", [frame])
        if frame.method != "chat/delta":
            return
        key = Key.of(frame.params.get("requestId"))
        if key not in self.open:
            raise Failed("a chat/delta belongs to no chat that is under way", [frame])
        if trouble := self._deltas[key].add(frame.params):
            raise Failed(trouble, [frame])

    async def _last_line(self, step: JsonObject) -> None:
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
        if trouble := mismatch(step["line"], last.message):
            raise Failed(trouble, [last])


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
