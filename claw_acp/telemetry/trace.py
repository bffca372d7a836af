"""`--trace`, `CLAW_ACP_TRACE`: every JSON-RPC frame in a file, in order, with its direction."""

import json
import logging
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, TextIO

from claw_acp.core.clock import SYSTEM_CLOCK, Clock, iso_time
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonValue
from claw_acp.core.private_directory import make_private
from claw_acp.core.redaction import redact
from claw_acp.telemetry.masking import masked

log = logging.getLogger(__name__)

Direction = Literal["in", "out"]


class FrameTrace:
    """One JSON line a frame: `{"time": ..., "recording": ..., "direction": "in", "frame": {...}}`.

    `recording` names the connection, since several may share a file. A frame that is not JSON stays text. Secrets are
    redacted, and values of environments, headers and forms are left out whatever they look like. The file is created at
    the first frame, private to the user, and appended to; each line is written when `record` returns, so that the last
    frames before a crash can be read. A file that cannot be written ends the recording with one log line and nothing
    else.
    """

    def __init__(self, path: Path, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._path = path
        self._clock = clock
        self._file: TextIO | None = None
        self._given_up = False
        self._recording = new_id("con", clock=clock)

    def of_connection(self, connection: str) -> Callable[[Direction, bytes], None]:
        """`record` for one of several connections."""
        return partial(self.record, recording=connection)

    def record(self, direction: Direction, frame: bytes, *, recording: str | None = None) -> None:
        """Record one frame; `in` is from the peer to us. Never raises."""
        if self._given_up:
            return
        entry = {
            "time": iso_time(self._clock.now()),
            "recording": recording or self._recording,
            "direction": direction,
            "frame": _readable(frame),
        }
        try:
            if self._file is None:
                self._file = _open(self._path)
            self._file.write(json.dumps(entry, ensure_ascii=True) + "\n")
            self._file.flush()
        except OSError as error:
            self._given_up = True
            log.warning("frames are not recorded", extra={"file": str(self._path), "reason": error.strerror})

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._given_up = True
        if self._file is not None:
            self._file.close()


def _readable(frame: bytes) -> JsonValue:
    text = redact(frame.decode("utf-8", "replace").strip())
    try:
        value: JsonValue = json.loads(text)
        return masked(value)
    except ValueError:
        return text
    except RecursionError:
        return "(nested too deeply to be looked through)"


def _open(path: Path) -> TextIO:
    make_private(path.parent)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "a", encoding="utf-8")
