"""Reading the file of a `FrameTrace`: frames, their direction, and the request of each answer."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Literal, TypeAlias, cast

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value

Kind = Literal["request", "notification", "result", "error", "other"]
_Place: TypeAlias = tuple[str, str, str]


class Entry(Value):
    """One recorded frame.

    Attributes:
        time: Seconds since the epoch; None when it is missing.
        recording: Its connection.
        direction: `in` is from the client to the agent.
        kind: Its kind; `other` is no JSON-RPC, and then `text` may hold it.
        method: The method; that of the request for an answer, empty when the request was not recorded.
        session: Its session, or empty.
        took: For an answer the seconds since its request.
        frame: The frame.
        text: A frame that was no JSON object.
    """

    time: float | None
    recording: str
    direction: str
    kind: Kind
    method: str = ""
    session: str = ""
    took: float | None = None
    frame: JsonObject
    text: str = ""

    @property
    def params(self) -> JsonObject:
        """The parameters; empty for an answer."""
        return _object(self.frame.get("params"))

    @property
    def update(self) -> JsonObject:
        """The update in a `session/update`; empty for other methods."""
        return _object(self.params.get("update")) if self.method == "session/update" else {}


class Damaged(Value):
    """A line that is no recorded frame: cut short by a crash, or from another program."""

    line: int


def read(lines: Iterable[str]) -> Iterator[Entry | Damaged]:
    """The entries of a recording, in order. Both sides may use the same ids, and several connections one file."""
    asked: dict[_Place, tuple[str, str, float | None]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        entry = _entry(line, asked)
        yield entry or Damaged(line=number)


def _entry(line: str, asked: dict[_Place, tuple[str, str, float | None]]) -> Entry | None:
    try:
        found: JsonValue = json.loads(line)
    except (ValueError, RecursionError):
        return None
    written = _object(found)
    direction = _text(written.get("direction"))
    if direction not in {"in", "out"} or "frame" not in written:
        return None
    frame, recording, time = written["frame"], _text(written.get("recording")), _seconds(written.get("time"))
    if not isinstance(frame, Mapping):
        return Entry(time=time, recording=recording, direction=direction, kind="other", frame={}, text=_text(frame))
    kind = _kind(frame)
    method, session, took = _text(frame.get("method")), _session(frame), None
    identity = json.dumps(frame.get("id"))
    if kind == "request":
        asked[recording, direction, identity] = (method, session, time)
    elif kind in {"result", "error"}:
        method, about, since = asked.pop((recording, _other(direction), identity), ("", "", None))
        session = session or about
        took = None if time is None or since is None else max(0.0, time - since)
    return Entry(
        time=time, recording=recording, direction=direction, kind=kind, method=method, session=session, took=took,
        frame=frame,
    )  # fmt: skip


def _kind(frame: JsonObject) -> Kind:
    if "method" in frame:
        return "request" if "id" in frame else "notification"
    if "error" in frame:
        return "error"
    return "result" if "result" in frame else "other"


def _session(frame: JsonObject) -> str:
    for place in ("params", "result"):
        if session := _text(_object(frame.get(place)).get("sessionId")):
            return session
    return ""


def _seconds(value: JsonValue) -> float | None:
    try:
        return datetime.fromisoformat(_text(value)).timestamp()
    except (ValueError, OverflowError):
        return None


def _other(direction: str) -> str:
    return "out" if direction == "in" else "in"


def _object(value: JsonValue) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
