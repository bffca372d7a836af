"""A log in a folder of its own, with whatever an attacker or a crash does to its files."""

import json
from collections.abc import Callable
from pathlib import Path

from claw_acp.audit.line import encoded
from claw_acp.audit.log import AuditLog
from claw_acp.audit.signing import public_key
from claw_acp.audit.verification import Verification, verify
from claw_acp.config.locations import find_locations
from claw_acp.config.model import AuditSection
from claw_acp.core.json_value import JsonValue
from tests.support.fixed_clock import FixedClock


class AuditBench:
    """The log below `home`; `full` is the size of a file."""

    def __init__(self, home: Path, *, full: int = 1 << 20, section: AuditSection | None = None) -> None:
        self.locations = find_locations({"CLAW_ACP_HOME": str(home)})
        self.section = section or AuditSection()
        self.clock = FixedClock()
        self._full = full
        self.log = self.writer()
        self.files = self.log.files

    def writer(self) -> AuditLog:
        """One more writer, as another process has it."""
        return AuditLog(self.locations, section=self.section, clock=self.clock, full=self._full)

    def write(self, count: int, *, writer: AuditLog | None = None) -> None:
        """Record calls."""
        for number in range(count):
            (writer or self.log).record("call", {"number": number, "tool": "shell"}, durable=False)

    def verify(self, *copies: Path) -> Verification:
        """The verdict on the files."""
        return verify(self.files, key=public_key(self.locations.audit_key_file), copies=copies)

    def lines(self) -> list[bytes]:
        """The lines of the current file, without their ends."""
        return self.files.current.read_bytes().splitlines()

    def rewrite(self, change: Callable[[list[bytes]], list[bytes]]) -> None:
        """Replace the lines of the current file by changed ones."""
        self.files.current.write_bytes(b"".join(line + b"\n" for line in change(self.lines())))


def with_field(line: bytes, **fields: JsonValue) -> bytes:
    """A line with other facts, in the form of the log."""
    return encoded({**json.loads(line), **fields})
