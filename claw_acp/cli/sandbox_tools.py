"""What this machine has to confine commands with."""

import ctypes
import os
import platform
import shutil
import sys

from claw_acp.cli.check import Check

_LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture Linux calls modern
_LANDLOCK_VERSION = 1  # the flag that asks for the version instead of making a ruleset


def sandbox_checks() -> list[Check]:
    """One line a tool, and a warning when there is none at all."""
    checks = [_program(name) for name in _programs()]
    if sys.platform == "linux":
        checks.append(_landlock())
    if not any(check.level == "ok" for check in checks):
        checks.append(
            Check(
                level="warn",
                subject="sandbox",
                detail="there is nothing to confine commands with",
                advice="install bubblewrap (the program bwrap)" if sys.platform == "linux" else "install Docker",
            )
        )
    return checks


def landlock_version() -> int:
    """The kernel's Landlock version; 0 when there is none or it is switched off."""
    if sys.platform != "linux" or platform.machine() == "alpha":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    answer = libc.syscall(
        ctypes.c_long(_LANDLOCK_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint32(_LANDLOCK_VERSION)
    )
    return max(0, int(answer))


def _programs() -> tuple[str, ...]:
    return ("sandbox-exec", "docker", "podman") if sys.platform == "darwin" else ("bwrap", "docker", "podman")


def _program(name: str) -> Check:
    path = shutil.which(name, path=os.environ.get("PATH"))
    if path is None:
        return Check(level="warn", subject=name, detail="not found", advice="optional; one sandbox tool is enough")
    return Check(level="ok", subject=name, detail=path)


def _landlock() -> Check:
    version = landlock_version()
    if version:
        return Check(level="ok", subject="landlock", detail=f"version {version}")
    return Check(level="warn", subject="landlock", detail="not offered by this kernel", advice="optional, Linux 5.13")
