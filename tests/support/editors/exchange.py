"""The exchange between an editor and an agent: frames, pending calls, finished turns."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

Json: TypeAlias = dict[str, Any]
Wait: TypeAlias = Callable[[Callable[[], object], str], Awaitable[None]]
"""Waits until the condition holds; the text describes it."""


class RpcFailure(Exception):
    """An error response, in either direction."""

    def __init__(self, code: int, message: str = "refused by the test", data: Any = None) -> None:
        super().__init__(f"{code}: {message}" + ("" if data is None else f" {data}"))
        self.code = code
        self.message = message
        self.data = data


class Frame(NamedTuple):
    """One frame of a transcript, from the client (`->`) or from the agent (`<-`)."""

    way: Literal["->", "<-"]
    message: Json

    @property
    def update(self) -> Json:
        """The update of a `session/update`, else an empty object."""
        return self.message["params"]["update"] if self.message.get("method") == "session/update" else {}


def tool_calls(updates: Sequence[Json]) -> dict[str, Json]:
    """The final state of tool calls by id, in the order they were announced."""
    calls: dict[str, Json] = {}
    for update in updates:
        if update["sessionUpdate"] in {"tool_call", "tool_call_update"}:
            calls.setdefault(update["toolCallId"], {}).update(update)
    return calls


def spoken(updates: Sequence[Json], kind: str) -> str:
    """The whole text of one kind of chunk."""
    return "".join(update["content"].get("text", "") for update in updates if update["sessionUpdate"] == kind)


def shown_text(call: Json) -> str:
    """The whole text that a tool call shows."""
    return "\n".join(item["content"].get("text", "") for item in call.get("content") or () if item["type"] == "content")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The end of a prompt, and the updates of its session meanwhile."""

    result: Json
    updates: list[Json]

    @property
    def stop_reason(self) -> str:
        """Its stop reason."""
        return self.result["stopReason"]

    @property
    def text(self) -> str:
        """The agent's text."""
        return spoken(self.updates, "agent_message_chunk")

    @property
    def thoughts(self) -> str:
        """The agent's thinking."""
        return spoken(self.updates, "agent_thought_chunk")

    @property
    def calls(self) -> list[Json]:
        """Its tool calls, folded."""
        return list(tool_calls(self.updates).values())


@dataclass(eq=False, slots=True, kw_only=True)
class Call:
    """A request of the client; `begin` and `end` are places in the transcript."""

    id: object
    method: str
    params: Json
    begin: int
    transcript: list[Frame] = field(repr=False)
    wait: Wait = field(repr=False)
    end: int | None = None
    answer: Json | None = None

    @property
    def answered(self) -> bool:
        """True if there is an answer."""
        return self.answer is not None

    async def result(self) -> Any:
        """The result.

        Raises:
            RpcFailure: It was answered with an error.
        """
        await self.wait(lambda: self.answered, f"the answer to {self.method}")
        assert self.answer is not None
        if "error" in self.answer:
            error = self.answer["error"]
            raise RpcFailure(error["code"], error["message"], error.get("data"))
        return self.answer["result"]

    async def failure(self) -> RpcFailure:
        """The error it must end with; fails without one."""
        try:
            result = await self.result()
        except RpcFailure as failure:
            return failure
        raise AssertionError(f"{self.method} should have failed, and was answered with {result}")

    async def outcome(self) -> Outcome:
        """The result of a `session/prompt`."""
        result = await self.result()
        return Outcome(result=result, updates=self.updates)

    @property
    def updates(self) -> list[Json]:
        """The updates of its session from its sending to its answer, or until now."""
        session = self.params.get("sessionId")
        frames = self.transcript[self.begin : self.end]
        return [frame.update for frame in frames if frame.update and frame.message["params"]["sessionId"] == session]
