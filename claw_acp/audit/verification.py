"""Checking the audit log: each line against the one before it, and the whole against its checkpoints."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from claw_acp.audit.files import AuditFiles, OpenedFile
from claw_acp.audit.line import NO_LINE, Head, digest_of, parsed
from claw_acp.audit.log import CHECKPOINT_LINES
from claw_acp.audit.signing import checked
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value

_MOST_PROBLEMS: Final = 20


class Verification(Value):
    """The result.

    Attributes:
        lines: The number of whole lines.
        last: The number of the last one.
        signed: The last line that a checkpoint vouches for.
        problems: What is wrong, the first place first; empty: the log is what was written.
        notes: What is odd and explained: a crash in the middle of a line, a clock that was set back.
    """

    lines: int
    last: int
    signed: int
    problems: Sequence[str]
    notes: Sequence[str]


def verify(files: AuditFiles, *, key: str | None, copies: Sequence[Path] = ()) -> Verification:
    """Check all lines and checkpoints.

    Args:
        files: The log.
        key: The public key of its checkpoints; None: there never was one.
        copies: Further files of checkpoints, which were kept elsewhere.

    Raises:
        OSError: A file cannot be read.
    """
    chain, signed = _Chain(), 0
    with files.opened(files.checkpoints, *copies) as opened:
        checkpoints = opened[-1 - len(copies) :]
        for each in opened[: -len(checkpoints)]:
            chain.follow(each)
        chain.finish()
        for each in checkpoints:
            signed = max(signed, _check_checkpoints(each, chain, key=key))
    if chain.head.seq - signed > CHECKPOINT_LINES:
        chain.problem(
            f"line {signed + 1}", f"no checkpoint vouches for the {chain.head.seq - signed} lines from here on"
        )
    if key is not None and not chain.lines:
        chain.problem(str(files.directory), "there is a key, but no log: it was removed")
    return Verification(
        lines=chain.lines, last=chain.head.seq, signed=signed, problems=chain.problems, notes=chain.notes
    )


class _Chain:
    """Follows the lines of all files."""

    def __init__(self) -> None:
        self.head = Head()
        self.lines = 0
        self.digests: dict[int, str] = {}
        self.problems: list[str] = []
        self.notes: list[str] = []
        self._removed = 0  # the last line of files that were removed for good
        self._begins: Head | None = None  # what the first line says of the one before it
        self._odd: list[bytes] = []
        self._at = ""
        self._where = ""

    def problem(self, where: str, what: str) -> None:
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(f"{where}: {what}")

    def follow(self, file: OpenedFile) -> None:
        """Take the lines of a file."""
        for number, line in enumerate(file, start=1):
            self._where = f"{file.name}, line {number}"
            facts = parsed(line.removesuffix(b"\n")) if line.endswith(b"\n") else None
            if facts is None:
                self._odd.append(line)
            else:
                self._take(facts, line.removesuffix(b"\n"))

    def finish(self) -> None:
        """Judge the beginning and the end."""
        if self._odd:
            self._tell_odd("it is the last, so the next writer will say more", torn=not self._odd[-1].endswith(b"\n"))
        first = self._begins
        if first is not None and first.seq and first.seq != self._removed:
            self.problem("the beginning", f"the lines up to {first.seq} are missing")

    def _take(self, facts: JsonObject, line: bytes) -> None:
        seq, prev, at = facts["seq"], facts.get("prev"), str(facts.get("at"))
        assert isinstance(seq, int)
        if self._odd:
            self._take_odd(facts)
        if self._begins is None:
            self._begins = Head(seq=seq - 1, digest=str(prev))
            if seq == 1 and prev != NO_LINE:
                self.problem(self._where, "it is the first line, but names one before it")
        elif seq != self.head.seq + 1:
            self.problem(self._where, f"it is number {seq}, but follows number {self.head.seq}")
        elif prev != self.head.digest:
            self.problem(self._where, f"number {self.head.seq}, the line before it, is not what was written")
        if at < self._at:
            self.notes.append(f"{self._where}: the clock was set back, from {self._at} to {at}")
        if facts.get("kind") == "removed" and isinstance(last := facts.get("last"), int):
            self._removed = max(self._removed, last)
        self._at, self.lines = at, self.lines + 1
        self.head = Head(seq=seq, digest=digest_of(line))
        self.digests[seq] = self.head.digest

    def _take_odd(self, facts: JsonObject) -> None:
        """Judge what is no line by the line behind it, which explains it if a writer was killed there."""
        torn = self._odd[0].rstrip(b"\n")
        explained = facts.get("kind") == "recovered" and facts.get("sha256") == digest_of(torn)
        self._tell_odd("the next line says so", torn=explained)
        self._odd = []

    def _tell_odd(self, why: str, *, torn: bool) -> None:
        if torn and len(self._odd) == 1:
            self.notes.append(f"{self._where}: a line of {len(self._odd[0])} bytes was not written to its end; {why}")
        else:
            self.problem(self._where, f"{len(self._odd)} lines up to here are not lines of the log")


def _check_checkpoints(file: OpenedFile, chain: _Chain, *, key: str | None) -> int:
    """The number of the last line for which a checkpoint of the file vouches."""
    signed, begins = 0, min(chain.digests, default=0)
    for number, line in enumerate(file, start=1):
        where = f"{file.name}, line {number}"
        if not line.endswith(b"\n") or not line.strip():
            continue  # a writer was killed here; the next one signs again
        vouched = "there is no key to check it with" if key is None else checked(line.removesuffix(b"\n"), key=key)
        if isinstance(vouched, str):
            chain.problem(where, vouched)
            continue
        if vouched.seq > chain.head.seq:
            chain.problem(
                where, f"the log had {vouched.seq} lines then; its end is missing from {chain.head.seq + 1} on"
            )
        elif vouched.seq >= begins and chain.digests.get(vouched.seq) != vouched.digest:
            chain.problem(where, f"line {vouched.seq} of the log was another one when it was signed")
        signed = max(signed, min(vouched.seq, chain.head.seq))
    return signed
