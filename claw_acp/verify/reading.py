"""Parsing an agent's output, strictly but without stopping at faults.

Any fault of a line is noted on its frame, and the message in it is used all the same: a fault should be found by the
rule it breaks, and not hide everything else.
"""

import json
from collections.abc import Iterator
from typing import cast

from claw_acp.core.json_value import JsonValue
from claw_acp.rpc.framing import Frame as Line
from claw_acp.rpc.framing import LineSplitter, Oversized
from claw_acp.verify.frames import Frame

SPREAD = 2000  # lines over which one message may be spread and still be recognized
LINE_LIMIT = 32 * 1024 * 1024  # bytes; what the smallest of the official clients takes


class Reader:
    """Makes frames from the output of one agent."""

    def __init__(self) -> None:
        self._splitter = LineSplitter(limit=LINE_LIMIT)
        self._begun: list[bytes] = []  # lines that may together be one message

    def feed(self, data: bytes, *, at: float) -> list[Frame]:
        """The frames that these bytes complete."""
        return [frame for line in self._splitter.feed(data) for frame in self._take(line, at)]

    def finish(self, *, at: float) -> list[Frame]:
        """The frames that are left at the end of the output."""
        frames = [frame for line in self._splitter.finish() for frame in self._take(line, at)]
        for frame in frames:
            frame.fault = frame.fault or "the output ends without a line feed after this line"
        return [*self._given_up(at), *frames]

    def _take(self, line: Line, at: float) -> Iterator[Frame]:
        if isinstance(line, Oversized):
            fault = f"the line has {line.size} bytes; clients take at most {LINE_LIMIT}"
            yield Frame(way="<-", data=b"", at=at, fault=fault)
            return
        frame = _read(line, at)
        if not frame.fault:
            if self._begun and not isinstance(frame.message, dict):
                self._begun.append(line)  # `"x",` of a spread array is no JSON, but its last `"x"` is
                return
            yield from self._given_up(at)
            yield frame
            return
        yield from self._spread(line, frame, at)

    def _spread(self, line: bytes, frame: Frame, at: float) -> Iterator[Frame]:
        """The frames of a line that is no message: perhaps it is a piece of one."""
        if not self._begun and not line.lstrip().startswith((b"{", b"[")):
            yield frame
            return
        self._begun.append(line)
        whole = _read(b"\n".join(self._begun), at)
        if not whole.fault:
            whole.pieces = len(self._begun)
            self._begun.clear()
            yield whole
        elif len(self._begun) > SPREAD:
            yield from self._given_up(at)

    def _given_up(self, at: float) -> Iterator[Frame]:
        begun, self._begun = self._begun, []
        for line in begun:
            yield _read(line, at)


def _read(data: bytes, at: float) -> Frame:
    frame = Frame(way="<-", data=data, at=at)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        frame.fault = f"not UTF-8 ({error.reason} at byte {error.start})"
        text = data.decode("utf-8", "replace")
    odd: list[str] = []
    try:
        frame.message = cast("JsonValue", json.loads(text, parse_constant=odd.append))
    except (ValueError, RecursionError) as error:
        frame.fault = frame.fault or f"not JSON ({error})"
        return frame
    if odd:
        frame.fault = frame.fault or f"not JSON ({odd[0]} is no value)"
    elif not isinstance(frame.message, dict | list):
        frame.fault = frame.fault or "JSON, but no message"
    return frame
