"""`CLAW_ACP_TRACE`: every JSON-RPC frame in a file, in the order it passed, to see who said what to whom."""

import json
import logging
import os
from pathlib import Path
from typing import Literal, TextIO

from claw_acp.core.clock import SYSTEM_CLOCK, Clock, iso_time
from claw_acp.core.json_value import JsonValue
from claw_acp.core.redaction import redact

log = logging.getLogger(__name__)

Direction = Literal["in", "out"]


class FrameTrace:
    """One JSON line a frame: `{"time": ..., "direction": "in", "frame": {...}}`; a frame that is not JSON stays text.

    Secrets are redacted. The file is made at the first frame, private to the user, and grows at its end; each line
    is there when `record` returns, so that the last words of a crash can be read. A file that cannot be written ends
    the recording with one log line and nothing else.
    """

    def __init__(self, path: Path, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._path = path
        self._clock = clock
        self._file: TextIO | None = None
        self._given_up = False

    def record(self, direction: Direction, frame: bytes) -> None:
        """Write one frame down; `in` is from the peer to us. Never raises."""
        if self._given_up:
            return
        entry = {"time": iso_time(self._clock.now()), "direction": direction, "frame": _readable(frame)}
        try:
            if self._file is None:
                self._file = _open(self._path)
            self._file.write(json.dumps(entry, ensure_ascii=True) + "\n")
            self._file.flush()
        except OSError as error:
            self._given_up = True
            log.warning("frames are not recorded", extra={"file": str(self._path), "reason": error.strerror})

    def close(self) -> None:
        """Let go of the file. Idempotent."""
        self._given_up = True
        if self._file is not None:
            self._file.close()


def _readable(frame: bytes) -> JsonValue:
    text = redact(frame.decode("utf-8", "replace").strip())
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _open(path: Path) -> TextIO:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "a", encoding="utf-8")
