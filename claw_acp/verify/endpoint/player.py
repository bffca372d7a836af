"""Plays one vector against a program that attaches, in the part of the hub, and judges what it says."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from pydantic import ValidationError

from claw_acp.contracts.endpoint import TOOL_PREFIX
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.kit.endpoint_wire import FireParams, LogParams, Message, Nothing, RegisterParams, UnregisterParams
from claw_acp.verify.endpoint.vector import Vector
from claw_acp.verify.frames import Frame
from claw_acp.verify.line_conversation import Settings, played
from claw_acp.verify.pattern import mismatch
from claw_acp.verify.process import AgentProcess
from claw_acp.verify.rule import Failed
from claw_acp.verify.vector_player import VectorPlayer

REQUESTS: Final[Mapping[str, type[Message]]] = {
    "ping": Nothing,
    "tools/register": RegisterParams,
    "tools/unregister": UnregisterParams,
    "schedule/fire": FireParams,
}
"""The requests that a program may send, with their parameters."""


class Player(VectorPlayer):
    """One run of the program in the part of the hub."""

    def __init__(self, vector: Vector, settings: Settings, process: AgentProcess) -> None:
        super().__init__(vector.steps, settings, process)
        self._refuse: JsonValue = None
        self._said: list[Frame] = []  # its requests and notifications that no step was about
        self.doing |= {"refuse": self._refuse_from_now, "receive": self._receive}

    async def _refuse_from_now(self, step: JsonObject) -> None:
        self._refuse = step["refuse"]

    async def _receive(self, step: JsonObject) -> None:
        method = cast("str", step["receive"])
        while (frame := next((one for one in self._said if one.method == method), None)) is None:
            await self.hear(f"its `{method}`")
        self._said.remove(frame)
        if trouble := mismatch(step.get("params", "$any"), cast("JsonValue", frame.params), place="params"):
            raise Failed(trouble, [frame])

    async def take_call(self, frame: Frame) -> None:
        """See `VectorPlayer`: requests are answered as a hub does."""
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
        await self.write_message(reply, unread=True)  # it may have been told to leave already

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
