"""Logging: readable lines on stderr, JSON lines in a file. Never stdout."""

import json
import logging
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from itertools import pairwise
from pathlib import Path
from typing import TextIO

from claw_acp.core.clock import iso_time
from claw_acp.core.private_directory import make_private
from claw_acp.core.redaction import redact
from claw_acp.telemetry.context import bound_ids

LOG_FILE = "claw-acp.log"
FILE_LIMIT = 2 * 1024 * 1024  # bytes before the file is set aside
FILES_KEPT = 3  # older files beside the current one
FILE_LEVEL = logging.INFO

_ROOT = "claw_acp"
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def facts(record: logging.LogRecord) -> dict[str, object]:
    """The facts of a log line: the ids bound where it was written, then its own `extra`."""
    own = {name: value for name, value in vars(record).items() if name not in _STANDARD}
    return {**bound_ids(), **own}


class ReadableLines(logging.Formatter):
    """`WARNING agent.loop: request failed (session=ses_1, status=429)`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the traceback if there is one."""
        about = ", ".join(f"{name}={value}" for name, value in facts(record).items())
        line = f"{record.levelname} {record.name.removeprefix('claw_acp.')}: {record.getMessage()}"
        trouble = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return redact(f"{line} ({about}){trouble}" if about else line + trouble)


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, event, pid, then the facts."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one JSON line."""
        entry: dict[str, object] = {
            "time": iso_time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": redact(record.getMessage()),
            "pid": record.process,
        }
        entry |= {name: _plain(value) for name, value in facts(record).items()}
        if record.exc_info:
            entry["exception"] = redact(self.formatException(record.exc_info))
        return json.dumps(entry, ensure_ascii=True)


def _plain(value: object) -> object:
    """A value that JSON can hold, without secrets."""
    return value if value is None or isinstance(value, bool | int | float) else redact(str(value))


class LogFile(logging.FileHandler):
    """A rotating file that several processes share. It is opened at the first line, private to the user.

    When it cannot be written, one line on `complaints` says so and the handler is silent from then on: a full disk must
    not stop the work. (`logging.handlers` has such a file too, and imports `pickle` and sockets with it, which every
    start would pay for.)
    """

    def __init__(self, path: Path, *, complaints: TextIO | None = None) -> None:
        super().__init__(path, encoding="utf-8", delay=True)
        self._complaints = complaints

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line, to a new file if this one is full or another process has rotated it."""
        try:
            if self.stream is None or not self._goes_on(self.stream):
                self.stream = self._open()
        except OSError:
            self.handleError(record)
        else:
            super().emit(record)

    def _goes_on(self, stream: TextIOWrapper) -> bool:
        """Return whether the open file has room; otherwise it has been closed and rotated."""
        set_aside = self._set_aside(stream)
        if not set_aside and os.fstat(stream.fileno()).st_size < FILE_LIMIT:
            return True
        stream.close()
        if not set_aside:
            file = self.baseFilename
            files = [file, *(f"{file}.{number}" for number in range(1, FILES_KEPT + 1))]
            for newer, older in reversed([*pairwise(files)]):
                with suppress(FileNotFoundError):
                    os.replace(newer, older)  # noqa: PTH105 - names, as the handler has them
        return False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802, ARG002 - the library's name
        """Give up on the file, once, with one line."""
        self.setLevel(logging.CRITICAL + 1)
        reason = sys.exc_info()[1]
        with suppress(OSError, ValueError):
            print(
                f"claw-acp: the log file {self.baseFilename} cannot be written ({reason}); logging goes on without it",
                file=self._complaints or sys.stderr,
            )

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        make_private(path.parent)
        return os.fdopen(
            os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600), "a", encoding="utf-8"
        )

    def _set_aside(self, stream: TextIOWrapper) -> bool:
        try:
            here, there = os.fstat(stream.fileno()), Path(self.baseFilename).stat()
        except OSError:
            return True
        return (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino)


@contextmanager
def logging_to(directory: Path | None, *, level: str = "warning", stream: TextIO | None = None) -> Generator[None]:
    """Send our log lines to `stream` (None: stderr) and a file in `directory` (None: no file) while the block runs.

    `level` is the least severe level for the stream; the file takes INFO and above. The loggers of other libraries are
    left alone.
    """
    root = logging.getLogger(_ROOT)
    console = logging.StreamHandler(stream)
    console.setFormatter(ReadableLines())
    console.setLevel(level.upper())
    handlers: list[logging.Handler] = [console]
    if directory is not None:
        file = LogFile(directory / LOG_FILE, complaints=stream)
        file.setFormatter(JsonLines())
        file.setLevel(FILE_LEVEL)
        handlers.append(file)
    before = root.level, root.propagate
    root.setLevel(min(handler.level for handler in handlers))
    root.propagate = False
    for handler in handlers:
        root.addHandler(handler)
    try:
        yield
    finally:
        root.level, root.propagate = before
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
