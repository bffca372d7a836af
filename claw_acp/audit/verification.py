"""Checking the audit log: each line against the one before it, and the whole against its checkpoints."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from claw_acp.audit.files import AuditFiles, OpenedFile
from claw_acp.audit.line import NO_LINE, Head, digest_of, parsed
from claw_acp.audit.log import CHECKPOINT_LINES
from claw_acp.audit.signing import checked
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value

_MOST_PROBLEMS: Final = 20
_MOST_NOTES: Final = 1_000


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
    signed = 0
    with files.opened(files.checkpoints, *copies) as opened:
        first_checkpoints = len(opened) - 1 - len(copies)
        vouched = [found for each in opened[first_checkpoints:] for found in _vouched(each, key=key)]
        chain = _Chain(wanted={head.seq for _, head in vouched if isinstance(head, Head)})
        for each in opened[:first_checkpoints]:
            chain.follow(each)
        chain.finish()
        for where, head in vouched:
            signed = max(signed, _check_checkpoint(where, head, chain))
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
    """Follows the lines of all files. It keeps the digests of the `wanted` ones alone: a log may be large."""

    def __init__(self, *, wanted: Collection[int]) -> None:
        self.head = Head()
        self.lines = 0
        self.begins = 0  # the number of the first line
        self.digests: dict[int, str] = {}
        self._wanted = wanted
        self.problems: list[str] = []
        self.notes: list[str] = []
        self._removed = 0  # the last line of files that were removed for good
        self._begins: Head | None = None  # what the first line says of the one before it
        self._odd = 0  # lines in a row that are not lines of the log
        self._first_odd = self._last_odd = b""
        self._at = ""
        self._where = ""

    def problem(self, where: str, what: str) -> None:
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(f"{where}: {what}")

    def _note(self, what: str) -> None:
        if len(self.notes) < _MOST_NOTES:
            self.notes.append(what)

    def follow(self, file: OpenedFile) -> None:
        """Take the lines of a file."""
        for number, line in enumerate(file, start=1):
            self._where = f"{file.name}, line {number}"
            facts = parsed(line.removesuffix(b"\n")) if line.endswith(b"\n") else None
            if facts is None:
                self._first_odd = line if not self._odd else self._first_odd
                self._last_odd = line
                self._odd += 1
            else:
                self._take(facts, line.removesuffix(b"\n"))

    def finish(self) -> None:
        """Judge the beginning and the end."""
        if self._odd:
            self._tell_odd("it is the last, so the next writer will say more", torn=not self._last_odd.endswith(b"\n"))
        first = self._begins
        if first is not None and first.seq and first.seq != self._removed:
            self.problem("the beginning", f"the lines up to {first.seq} are missing")

    def _take(self, facts: JsonObject, line: bytes) -> None:
        seq, prev, at = facts["seq"], facts.get("prev"), str(facts.get("at"))
        assert isinstance(seq, int)
        if self._odd:
            self._take_odd(facts)
        if self._begins is None:
            self._begins, self.begins = Head(seq=seq - 1, digest=str(prev)), seq
            if seq == 1 and prev != NO_LINE:
                self.problem(self._where, "it is the first line, but names one before it")
        elif seq != self.head.seq + 1:
            self.problem(self._where, f"it is number {seq}, but follows number {self.head.seq}")
        elif prev != self.head.digest:
            self.problem(self._where, f"number {self.head.seq}, the line before it, is not what was written")
        if at < self._at:
            self._note(f"{self._where}: the clock was set back, from {self._at} to {at}")
        if facts.get("kind") == "removed" and isinstance(last := facts.get("last"), int):
            self._removed = max(self._removed, last)
        self._at, self.lines = at, self.lines + 1
        self.head = Head(seq=seq, digest=digest_of(line))
        if seq in self._wanted:
            self.digests[seq] = self.head.digest

    def _take_odd(self, facts: JsonObject) -> None:
        """Judge what is no line by the line behind it, which explains it if a writer was killed there."""
        torn = self._first_odd.rstrip(b"\n")
        explained = facts.get("kind") == "recovered" and facts.get("sha256") == digest_of(torn)
        self._tell_odd("the next line says so", torn=explained)
        self._odd = 0

    def _tell_odd(self, why: str, *, torn: bool) -> None:
        if torn and self._odd == 1:
            self._note(f"{self._where}: a line of {len(self._first_odd)} bytes was not written to its end; {why}")
        else:
            self.problem(self._where, f"{self._odd} lines up to here are not lines of the log")


def _vouched(file: OpenedFile, *, key: str | None) -> Iterator[tuple[str, Head | str]]:
    """The lines of the log for which the checkpoints of a file vouch, each with its place; or what is wrong with it."""
    for number, line in enumerate(file, start=1):
        if line.endswith(b"\n") and line.strip():  # otherwise a writer was killed here; the next one signs again
            found = "there is no key to check it with" if key is None else checked(line.removesuffix(b"\n"), key=key)
            yield f"{file.name}, line {number}", found


def _check_checkpoint(where: str, vouched: Head | str, chain: _Chain) -> int:
    """The number of the last line for which a checkpoint vouches; 0: it is none."""
    if isinstance(vouched, str):
        chain.problem(where, vouched)
        return 0
    if vouched.seq > chain.head.seq:
        chain.problem(where, f"the log had {vouched.seq} lines then; its end is missing from {chain.head.seq + 1} on")
    elif vouched.seq >= chain.begins and chain.digests.get(vouched.seq) != vouched.digest:
        chain.problem(where, f"line {vouched.seq} of the log was another one when it was signed")
    return min(vouched.seq, chain.head.seq)
