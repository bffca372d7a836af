"""The frames between the checker and an agent: every line, with answers matched to their requests."""

import json
import math
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from claw_acp.core.json_value import JsonObject, JsonValue

Way = Literal["->", "<-"]
SHOWN = 1000  # characters of a frame in a report


@dataclass(slots=True, eq=False, kw_only=True)
class Frame:
    """One line, to the agent (`->`) or from it (`<-`).

    Attributes:
        data: The bytes, without the line end.
        at: Seconds since the agent was started.
        message: The JSON value, if valid.
        fault: The reason the line itself is not allowed, or empty.
        pieces: The number of lines over which a single message was spread.
        call: The request itself, or the answered one.
        inexact: Whether the answer's id is not the JSON value that was sent, only similar.
    """

    way: Way
    data: bytes
    at: float
    message: JsonValue = None
    fault: str = ""
    pieces: int = 1
    call: "Call | None" = None
    inexact: bool = False

    @property
    def object(self) -> JsonObject:
        """The message if it is an object, else an empty one."""
        return self.message if isinstance(self.message, dict) else {}

    @property
    def method(self) -> str:
        """The method that is called; empty for an answer."""
        method = self.object.get("method")
        return method if isinstance(method, str) else ""

    @property
    def params(self) -> JsonObject:
        """The parameters of a call."""
        return as_object(self.object.get("params"))

    @property
    def is_answer(self) -> bool:
        """True if the frame answers a request."""
        return "method" not in self.object and ("result" in self.object or "error" in self.object)

    @property
    def is_request(self) -> bool:
        """True if the frame needs an answer."""
        return "method" in self.object and "id" in self.object

    @property
    def result(self) -> JsonObject:
        """The result of an answer, if it is an object."""
        return as_object(self.object.get("result"))

    @property
    def error(self) -> JsonObject | None:
        """The error of an answer; None when it has none."""
        return as_object(self.object["error"]) if "error" in self.object else None

    @property
    def code(self) -> JsonValue:
        """The code of an error."""
        return (self.error or {}).get("code")

    @property
    def update(self) -> JsonObject:
        """The update of a `session/update`; empty elsewhere."""
        return as_object(self.params.get("update"))

    @property
    def kind(self) -> str:
        """The kind of the update; empty elsewhere."""
        return text_of(self.update, "sessionUpdate")

    def text(self, *, limit: int = SHOWN) -> str:
        """The line shortened for people."""
        line = self.data.decode("utf-8", "backslashreplace")
        shown = line if len(line) <= limit else f"{line[:limit]}… ({len(self.data)} bytes)"
        return f"{self.way} {shown}"


@dataclass(slots=True, eq=False, kw_only=True)
class Call:
    """A request of ours with all its answers: one, normally."""

    frame: Frame
    id: JsonValue
    method: str
    params: JsonObject
    answers: list[Frame] = field(default_factory=list[Frame])

    @property
    def session(self) -> str:
        """Its session, or empty."""
        return text_of(self.params, "sessionId")


class Key(NamedTuple):
    """An id by JSON identity: 1, 1.0, true and "1" are four."""

    kind: type
    value: str | float | None

    @classmethod
    def of(cls, value: JsonValue) -> "Key":
        """The key of an id, also of an invalid one."""
        if value is None or isinstance(value, str | int | float):
            return cls(type(value), value)
        return cls(type(value), json.dumps(value, sort_keys=True))


def alike(value: JsonValue) -> list[Key]:
    """Similar ids that a sloppy agent may return: `"1"` and `1.0` for 1, or 1 for `"1"`."""
    found: list[JsonValue] = []
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = [str(value), float(value), int(value) if math.isfinite(value) else None]
    elif isinstance(value, str) and value.removeprefix("-").isdecimal():
        found = [int(value), float(value)]
    return [Key.of(other) for other in found if type(other) is not type(value)]


def as_object(value: JsonValue) -> JsonObject:
    """A JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: JsonValue) -> list[JsonValue]:
    """A JSON array; an empty one for anything else."""
    return value if isinstance(value, list) else []


def text_of(holder: JsonObject, key: str) -> str:
    """A string in an object; empty when it is none."""
    value = holder.get(key)
    return value if isinstance(value, str) else ""
