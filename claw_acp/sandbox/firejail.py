"""Firejail as a sandbox of this machine: a program with the rights of the superuser, so it comes after the others."""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Final

from claw_acp.contracts.launch import Launch, StartedBy
from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.core.value import replace
from claw_acp.process.outer_path import system_program
from claw_acp.sandbox.backend import Guarantee, SandboxBackend
from claw_acp.sandbox.files import SandboxFiles
from claw_acp.sandbox.interpreter import bare_python
from claw_acp.sandbox.limits import limited
from claw_acp.sandbox.mount_check import with_checked_mounts
from claw_acp.sandbox.mounts import Kind, mounts_of, resolved
from claw_acp.sandbox.placeholders import Held
from claw_acp.sandbox.unix_sockets import VARIABLES, path_sockets

ENFORCED: Final[frozenset[Guarantee]] = frozenset(
    ("writable", "metadata", "unreadable", "network", "processes", "memory_limit", "file_size_limit")
)
"""A guarded file holds, but not its folder: that can be renamed with what is guarded in it."""

_CALLS: Final = (
    "!chroot,@clock,@cpu-emulation,@debug,@keyring,@module,@mount,@obsolete,@raw-io,@reboot,@swap,bpf,io_uring_enter,"
    "io_uring_register,io_uring_setup,perf_event_open,ptrace,setns,unshare,userfaultfd"
)
_OPTIONS: Final = (
    "--quiet", "--noprofile", "--deterministic-exit-code", "--deterministic-shutdown", "--caps.drop=all",
    "--nonewprivs", "--private-dev", "--dbus-user=none", "--dbus-system=none", f"--seccomp={_CALLS}",
    "--protocol=unix,inet,inet6,netlink", "--keep-var-tmp", "--read-only=/",
)  # fmt: skip
_VISIBLE: Final = "/var/tmp"  # noqa: S108 - mkstemp makes the name; our own directories may be hidden
_KINDS: Final = {"writable": "read-write", "entry": "read-write", "read_only": "read-only", "unreadable": "blacklist"}

_MOUNTED: Final[frozenset[Kind]] = frozenset(("read_only",))
"""What it mounts onto itself inside directories that can be written; the others are as it wants them there already."""


class Firejail:
    """Runs programs in Firejail.

    Args:
        program: The path of Firejail.
        files: The files that it needs.
    """

    name = "firejail"
    python = staticmethod(bare_python)
    enforces = ENFORCED

    def __init__(self, program: str, *, files: SandboxFiles) -> None:
        self._program = program
        self._files = files

    def confine(self, profile: SandboxProfile, *, started_by: StartedBy = "us") -> "FirejailConfinement":  # noqa: ARG002 - it needs no other form
        """A sandbox for one command.

        Raises:
            OSError: Files that it needs cannot be written, or a path is one that Firejail does not take.
        """
        profile = resolved(profile)
        for path in (*profile.writable, *profile.read_only, *profile.unreadable):
            if not re.fullmatch(r"[\w./+@ -]+", str(path)):
                raise OSError(0, f"Firejail takes no path like {path}")
        head = [self._program, *_OPTIONS, *(() if profile.network == "open" else ("--net=none",))]
        head += () if os.geteuid() == 0 else ("--noroot",)
        descriptor, script = mkstemp(prefix="claw-acp-", dir=_VISIBLE)
        os.close(descriptor)
        held = self._files.placeholders.hold(profile.read_only, roots=profile.writable)
        return FirejailConfinement(head, profile, held=held, script=Path(script))


class FirejailConfinement:
    """The sandbox of one command."""

    def __init__(self, head: list[str], profile: SandboxProfile, *, held: Held, script: Path) -> None:
        self._head = head
        self._profile = profile
        self._held = held
        self._script = script

    def __call__(self, launch: Launch) -> Launch:
        """The launch of the program in the sandbox: a command line that anybody can start.

        Firejail takes no long arguments, so the command line is in a file.
        """
        mounts = mounts_of(self._profile, sockets=path_sockets(launch.env))
        argv = with_checked_mounts(limited(launch.argv, self._profile.limits), mounts=mounts, kinds=_MOUNTED)
        self._script.write_text(f"exec {shlex.join(argv)}\n", encoding="utf-8", errors="surrogateescape")
        options = [f"--{_KINDS[kind]}={path}" for path, kind in mounts if kind in _KINDS]
        if not any(path.is_relative_to("/tmp") for path in self._profile.writable):  # noqa: S108 - it is replaced
            options.append("--private-tmp")
        if self._profile.temporary is not None:
            options += [f"--read-write={self._profile.temporary}", f"--env=TMPDIR={self._profile.temporary}"]
        options += [f"--rmenv={name}" for name in VARIABLES]
        return replace(launch, argv=(*self._head, *options, "--", "/bin/sh", str(self._script)))

    def release(self) -> None:
        """Remove the placeholders and the file that were made for it. Idempotent."""
        self._held.release()
        self._script.unlink(missing_ok=True)


def candidates(files: SandboxFiles) -> Iterator[Firejail]:
    """What may work here."""
    program = system_program("firejail")
    if program is not None:
        yield Firejail(program, files=files)


if TYPE_CHECKING:
    _conforms: type[SandboxBackend] = Firejail
