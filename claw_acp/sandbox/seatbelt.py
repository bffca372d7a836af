"""Seatbelt, the sandbox of macOS: rules in a small language, of which the last one that matches decides."""

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Final

from claw_acp.contracts.launch import Launch, StartedBy
from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.core.value import replace
from claw_acp.sandbox.backend import Guarantee, SandboxBackend
from claw_acp.sandbox.files import SandboxFiles
from claw_acp.sandbox.interpreter import bare_python
from claw_acp.sandbox.limits import limited
from claw_acp.sandbox.mounts import resolved
from claw_acp.sandbox.unix_sockets import VARIABLES

ENFORCED: Final[frozenset[Guarantee]] = frozenset(
    ("writable", "metadata", "read_only", "unreadable", "network", "sockets", "file_size_limit")
)
PROGRAM: Final = "/usr/bin/sandbox-exec"

_SERVICES: Final = (
    "com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership", "com.apple.trustd.agent",
    "com.apple.trustd", "com.apple.logd", "com.apple.system.notification_center", "com.apple.SecurityServer",
)  # fmt: skip
_BASE: Final = """(version 1)
(deny default)
(import "system.sb")
(allow process-exec process-fork process-info* sysctl-read)
(allow signal (target same-sandbox))
(allow ipc-posix-sem ipc-posix-shm pseudo-tty)
(allow file-read* file-test-existence)
(allow file-ioctl (regex #"^/dev/tty"))
(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (regex #"^/dev/tty") (literal "/dev/ptmx"))
"""


def seatbelt_rules(profile: SandboxProfile, *, temporary: Path) -> str:
    """The rules for a resolved profile."""
    parents = {
        parent
        for path in profile.read_only
        for parent in path.parents
        if any(parent.is_relative_to(root) for root in profile.writable)
    }
    lines = [
        f"(allow mach-lookup {' '.join(f'(global-name {_text(name)})' for name in _SERVICES)})",
        *_rule("allow file-write*", "subpath", (*profile.writable, temporary)),
        *_rule("deny file-write*", "subpath", profile.read_only),
        *_rule("deny file-write-unlink", "literal", sorted(parents)),  # else their folders could be renamed
        *_rule("deny file-read* file-write*", "subpath", profile.unreadable),
        *(["(allow network-outbound (remote ip))", "(allow network-bind network-inbound (local ip))"]
          if profile.network == "open" else ()),
    ]  # fmt: skip
    return _BASE + "\n".join(lines) + "\n"


class Seatbelt:
    """Runs programs under rules of the kernel of macOS.

    Args:
        files: The files that it needs.
    """

    name = "seatbelt"
    python = staticmethod(bare_python)
    enforces = ENFORCED

    def __init__(self, *, files: SandboxFiles) -> None:
        self._files = files

    def confine(self, profile: SandboxProfile, *, started_by: StartedBy = "us") -> "SeatbeltConfinement":  # noqa: ARG002 - it needs no other form
        """A sandbox for one command.

        Raises:
            OSError: The temporary directory cannot be created.
        """
        own = None if profile.temporary else Path(mkdtemp(prefix="temporary-", dir=self._files.directory))
        return SeatbeltConfinement(resolved(profile), own=own)


class SeatbeltConfinement:
    """The sandbox of one command."""

    def __init__(self, profile: SandboxProfile, *, own: Path | None) -> None:
        self._profile = profile
        self._own = own

    def __call__(self, launch: Launch) -> Launch:
        """The launch of the program in the sandbox: a command line that anybody can start."""
        temporary = os.path.realpath(self._profile.temporary or self._own or "")
        rules = seatbelt_rules(self._profile, temporary=Path(temporary))
        env = {name: value for name, value in launch.env.items() if name not in VARIABLES}
        variables = ("/usr/bin/env", f"TMPDIR={temporary}")
        limits = replace(self._profile.limits, memory=0)  # macOS sets none
        argv = (PROGRAM, "-p", rules, *variables, *limited(launch.argv, limits))
        return replace(launch, argv=argv, env=env)

    def release(self) -> None:
        """Remove the temporary directory that was made for it. Idempotent."""
        own, self._own = self._own, None
        if own is not None:
            with suppress(OSError):
                shutil.rmtree(own)


def candidates(files: SandboxFiles) -> Iterator[Seatbelt]:
    """What may work here."""
    if sys.platform == "darwin" and Path(PROGRAM).exists():
        yield Seatbelt(files=files)


def _rule(what: str, kind: str, paths: Iterable[Path]) -> Iterator[str]:
    places = " ".join(f"({kind} {_text(str(path))})" for path in paths)
    if places:
        yield f"({what} {places})"


def _text(text: str) -> str:
    """A string of the language, which escapes as JSON does."""
    return json.dumps(text, ensure_ascii=False)


if TYPE_CHECKING:
    _conforms: type[SandboxBackend] = Seatbelt
