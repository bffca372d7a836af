"""What this machine has to confine commands with."""

import ctypes
import platform
import shutil
import sys

from claw_acp.cli.check import Check

_LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture Linux calls modern
_LANDLOCK_VERSION = 1  # the flag that asks for the version instead of making a ruleset


def sandbox_checks() -> list[Check]:
    """One line a tool that is there, and a warning when there is none at all."""
    found = [
        Check(level="ok", subject="sandbox", detail=f"{name}: {path}")
        for name in ("bwrap", "sandbox-exec", "docker", "podman")
        if (path := shutil.which(name)) is not None
    ]
    if version := landlock_version():
        found.append(Check(level="ok", subject="sandbox", detail=f"Landlock, version {version}"))
    missing = Check(
        level="warn",
        subject="sandbox",
        detail="there is nothing on this machine to confine commands with",
        advice="install bubblewrap (the program bwrap)" if sys.platform == "linux" else "install Docker or Podman",
    )
    return found or [missing]


def landlock_version() -> int:
    """The kernel's Landlock version; 0 when there is none or it is switched off."""
    if sys.platform != "linux" or platform.machine() == "alpha":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    answer = libc.syscall(
        ctypes.c_long(_LANDLOCK_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint32(_LANDLOCK_VERSION)
    )
    return max(0, int(answer))
