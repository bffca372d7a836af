"""Writing the audit log: any number of processes append lines, each on the chain of all before it."""

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

from claw_acp.audit.files import AuditFiles, Tail
from claw_acp.audit.line import Head, bounded, digest_of, encoded
from claw_acp.config.atomic_file import only_writer
from claw_acp.config.locations import Locations, private_directory
from claw_acp.config.model import AuditSection
from claw_acp.core.clock import Clock, iso_time
from claw_acp.core.errors import ConfigError, StoreError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.registry.reference import Ref

log = logging.getLogger(__name__)

CHECKPOINT_LINES: Final = 64
"""The most lines behind the last checkpoint."""

_CHECKPOINT_SECONDS: Final = 600.0  # a line later than that behind a checkpoint has the ones before it signed
_FULL: Final = 8 * 1024 * 1024  # bytes of a file


class _Key(Protocol):
    """Signs."""


SIGNING_KEY: Final = Ref[Callable[[Path], _Key]]("claw_acp.audit.signing:signing_key")
SIGNED: Final = Ref[Callable[..., bytes]]("claw_acp.audit.signing:signed")
"""By name, as cryptography takes some 50 ms and one checkpoint is due for many lines."""


class AuditUnwritable(StoreError):
    """The audit log cannot be written, so what it should have recorded does not happen."""

    code = -31024


class AuditLog:
    """The audit log of one user. All methods block: for worker threads and the command line.

    Args:
        locations: The directory of the log, and the key that signs checkpoints.
        section: The settings; whoever learns of newer ones sets them.
        clock: Time.
        full: The size in bytes from which on a new file is begun.
    """

    def __init__(self, locations: Locations, *, section: AuditSection, clock: Clock, full: int = _FULL) -> None:
        self.section = section
        self.files = AuditFiles(locations.audit_dir, checkpoints=locations.audit_checkpoints_file)
        self._key_file = locations.audit_key_file
        self._clock = clock
        self._full = full
        self._known: tuple[tuple[int, int], Head] | None = None
        self._signed: tuple[tuple[int, int], int] | None = None
        self._signed_at = clock.monotonic()

    def record(self, kind: str, facts: Mapping[str, JsonValue], *, durable: bool = True) -> int | None:
        """Append a line as the settings want it; returns its number, or None if there is none.

        Args:
            kind: The event: `call`, `outcome`, `permission`, ...
            facts: What is known of it, without secrets; long values are cut.
            durable: The line must survive a loss of power, as those before an action do.

        Raises:
            AuditUnwritable: It cannot be written, and the settings require it.
        """
        if self.section.use == "off":
            return None
        try:
            return self._appended(kind, facts, durable=durable)
        except AuditUnwritable as error:
            if self.section.use == "required":
                raise
            log.warning("not in the audit log", extra={"kind": kind, "reason": error.message})
            return None

    def record_at_once(self, kind: str, facts: Mapping[str, JsonValue]) -> bool:
        """Append a line that need not survive a loss of power, if nothing has to be waited for.

        This takes as long as a line of any log, so it needs no worker thread. False: `record` has to do it.
        """
        if self.section.use == "off":
            return True
        try:
            with only_writer(self.files.current, wait=False):
                head = self._known_head()
                if head is None or self._is_due(head) or self._size() >= self._full:
                    return False
                self._write(head, kind, facts, durable=False)
        except OSError:
            return False
        return True

    def _appended(self, kind: str, facts: Mapping[str, JsonValue], *, durable: bool) -> int:
        try:
            private_directory(self.files.directory)
            with only_writer(self.files.current):
                return self._append(kind, facts, durable=durable)
        except (OSError, ConfigError) as error:
            reason = error.message if isinstance(error, ConfigError) else (error.strerror or str(error))
            where = getattr(error, "filename", None) or self.files.current
            raise AuditUnwritable(
                f"the audit log cannot be written, so nothing is done that it would have to record: {where}: {reason}. "
                'Free some space or mend the file; `use = "tolerant"` in `[audit]` works without'
            ) from error

    def checkpoint(self) -> None:
        """Sign the last line, if it is not yet.

        Raises:
            AuditUnwritable: The checkpoint cannot be written.
        """
        try:
            private_directory(self.files.directory)
            with only_writer(self.files.current):
                head = self.files.tail().head
                if head.seq > self._last_checkpoint():
                    self._sign(head)
        except (OSError, ConfigError) as error:
            raise AuditUnwritable(f"the checkpoint cannot be written: {error}") from error

    # ------------------------------------------------------------------ under the lock

    def _append(self, kind: str, facts: Mapping[str, JsonValue], *, durable: bool) -> int:
        tail = self._tail()
        if tail.unended:
            _written(self.files.current, b"\n", durable=False)
        if tail.torn:
            tail = self._close(tail)
        if self._is_due(tail.head):
            self._sign(tail.head)
        if self._size() >= self._full:
            tail = self._rotate(tail.head, keep=self.section.keep)
        return self._write(tail.head, kind, facts, durable=durable).seq

    def _close(self, tail: Tail) -> Tail:
        """End a line that was not written to its end, and say so in the next one."""
        facts: JsonObject = {"bytes": len(tail.torn.rstrip(b"\n")), "sha256": digest_of(tail.torn.rstrip(b"\n"))}
        end = b"" if tail.torn.endswith(b"\n") else b"\n"
        log.warning("the audit log ends in the middle of a line; it goes on behind it", extra={"bytes": len(tail.torn)})
        return Tail(head=self._write(tail.head, "recovered", facts, durable=False, before=end))

    def _rotate(self, head: Head, *, keep: int) -> Tail:
        full = self.files.set_aside(head.seq)
        self._known = None
        facts: JsonObject = {"continues": full.name}
        head = self._write(head, "file", facts, durable=False)
        for old in self.files.full()[:-keep]:
            last = self.files.last_of(old)
            head = self._write(head, "removed", {"file": old.name, "last": last}, durable=True)
            old.unlink()
        return Tail(head=head)

    def _write(
        self, head: Head, kind: str, facts: Mapping[str, JsonValue], *, durable: bool, before: bytes = b""
    ) -> Head:
        kept = {name: bounded(value) for name, value in facts.items()}
        line = encoded({
            **kept, "at": iso_time(self._clock.now()), "kind": kind, "pid": os.getpid(), "prev": head.digest,
            "seq": head.seq + 1,
        })  # fmt: skip
        stamp = _written(self.files.current, before + line + b"\n", durable=durable)
        new = Head(seq=head.seq + 1, digest=digest_of(line))
        self._known = stamp, new
        return new

    def _is_due(self, head: Head) -> bool:
        behind = head.seq - self._last_checkpoint()
        late = self._clock.monotonic() - self._signed_at > _CHECKPOINT_SECONDS
        return behind >= CHECKPOINT_LINES or (late and behind > 0)

    def _sign(self, head: Head) -> None:
        private_directory(self._key_file.parent)
        key = SIGNING_KEY.load()(self._key_file)
        line = SIGNED.load()(head, at=iso_time(self._clock.now()), key=key) + b"\n"
        for path in (self.files.checkpoints, *([] if self.section.copy is None else [Path(self.section.copy)])):
            _written(path, line if _ends_well(path) else b"\n" + line, durable=True)
        self._signed_at = self._clock.monotonic()

    # ------------------------------------------------------------------ what is known

    def _tail(self) -> Tail:
        known = self._known_head()
        return self.files.tail() if known is None else Tail(head=known)

    def _known_head(self) -> Head | None:
        """The last line, if nobody else has written since."""
        known = self._known
        return None if known is None or known[0] != _stamp(self.files.current) else known[1]

    def _last_checkpoint(self) -> int:
        stamp = _stamp(self.files.checkpoints)
        if stamp is None:
            return 0
        if self._signed is None or self._signed[0] != stamp:
            self._signed = stamp, self.files.last_checkpoint()
        return self._signed[1]

    def _size(self) -> int:
        return (_stamp(self.files.current) or (0, 0))[1]


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts.st_ino, facts.st_size


def _ends_well(path: Path) -> bool:
    """Return whether a file is missing, empty, or ends with a whole line."""
    size = (_stamp(path) or (0, 0))[1]
    if not size:
        return True
    with path.open("rb") as file:
        file.seek(size - 1)
        return file.read(1) == b"\n"


def _written(path: Path, data: bytes, *, durable: bool) -> tuple[int, int]:
    """Append to a file all of `data` or nothing. Returns the file's number and its size.

    Raises:
        OSError: Nothing was appended.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        before = os.fstat(descriptor)
        try:
            done = 0
            while done < len(data):  # a disk that fills up takes a part first, and says why the next time
                done += os.write(descriptor, data[done:])
            if durable:
                _sync(descriptor)
                if before.st_size == 0:
                    _sync_name(path)
        except OSError:
            os.ftruncate(descriptor, before.st_size)
            raise
    finally:
        os.close(descriptor)
    return before.st_ino, before.st_size + len(data)


def _sync_name(path: Path) -> None:
    """Have the directory remember a new file."""
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_sync: Final = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync
