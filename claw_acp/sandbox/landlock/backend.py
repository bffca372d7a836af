"""Landlock as a sandbox of this machine."""

import os
import platform
import resource
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from socket import AddressFamily
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Final

from claw_acp.contracts.launch import Launch, StartedBy
from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.core.value import replace
from claw_acp.sandbox.backend import Guarantee, SandboxBackend
from claw_acp.sandbox.files import SandboxFiles
from claw_acp.sandbox.interpreter import bare_python, compiled
from claw_acp.sandbox.landlock import launcher
from claw_acp.sandbox.system_calls import ARCHITECTURES
from claw_acp.sandbox.unix_sockets import VARIABLES

ENFORCED: Final[frozenset[Guarantee]] = frozenset(
    ("writable", "unreadable", "network", "sockets", "system_calls", "memory_limit", "file_size_limit")
)
OPEN: Final = (AddressFamily.AF_INET, AddressFamily.AF_INET6, AddressFamily.AF_NETLINK)
"""The sockets of a program with the network: without a namespace, Unix sockets are those of all other programs."""

_OLDEST: Final = 3  # versions before it do not see that a file is cut off
_TEMPORARY_VARIABLES: Final = ("TMPDIR", "TMP", "TEMP")


class Landlock:
    """Runs programs that gave up their rights to files. It cannot guard single files of writable directories.

    Args:
        files: The files that it needs.
    """

    name = "landlock"
    python = staticmethod(bare_python)
    enforces = ENFORCED

    def __init__(self, *, files: SandboxFiles) -> None:
        self._files = files
        self._compiled: Path | None = None

    def confine(self, profile: SandboxProfile, *, started_by: StartedBy = "us") -> "LandlockConfinement":  # noqa: ARG002 - it needs no other form
        """A sandbox for one command.

        Raises:
            OSError: Files that it needs cannot be written.
        """
        filtered = self._files.filter(OPEN if profile.network == "open" else ())
        own = None if profile.temporary else Path(mkdtemp(prefix="temporary-", dir=self._files.directory))
        return LandlockConfinement(profile, program=self._launcher(), filtered=filtered, own=own)

    def _launcher(self) -> str:
        """The file for our Python to run; another one may not know the compiled form."""
        if bare_python() != os.path.realpath(sys.executable):
            return launcher.__file__
        if self._compiled is None:
            self._compiled = self._files.stored("launcher", compiled(Path(launcher.__file__)), suffix=".pyc")
        return str(self._compiled)


class LandlockConfinement:
    """The sandbox of one command."""

    def __init__(self, profile: SandboxProfile, *, program: str, filtered: Path, own: Path | None) -> None:
        self._profile = profile
        self._program = program
        self._filter = filtered
        self._own = own

    def __call__(self, launch: Launch) -> Launch:
        """The launch of the program in the sandbox: a command line that anybody can start."""
        options = tuple(text for name, value in self._options() for text in (f"--{name}", value))
        python = (bare_python(), "-I", "-S", self._program)
        env = {name: value for name, value in launch.env.items() if name not in VARIABLES}
        return replace(launch, argv=(*python, *options, "--", *launch.argv), env=env)

    def _options(self) -> Iterator[tuple[str, str]]:
        temporary = str(self._profile.temporary or self._own)
        for path in (*self._profile.writable, temporary):
            yield "writable", os.path.realpath(path)
        for path in self._profile.unreadable:
            yield "unreadable", os.path.realpath(path)
        yield "filter", str(self._filter)
        for name in _TEMPORARY_VARIABLES:
            yield "variable", f"{name}={temporary}"
        if self._profile.limits.memory:
            yield "limit", f"{resource.RLIMIT_DATA}={self._profile.limits.memory}"
        if self._profile.limits.file_size:
            yield "limit", f"{resource.RLIMIT_FSIZE}={self._profile.limits.file_size}"

    def release(self) -> None:
        """Remove the temporary directory that was made for it. Idempotent."""
        own, self._own = self._own, None
        if own is not None:
            with suppress(OSError):
                shutil.rmtree(own)


def candidates(files: SandboxFiles) -> Iterator[Landlock]:
    """What may work here."""
    if platform.machine() in ARCHITECTURES and launcher.version() >= _OLDEST:
        yield Landlock(files=files)


if TYPE_CHECKING:
    _conforms: type[SandboxBackend] = Landlock
