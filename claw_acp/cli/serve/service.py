"""A service of the user's that starts the hub with the session: a systemd user unit, or a launchd agent."""

import os
import plistlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.config.hub_socket import STORE
from claw_acp.config.locations import private_directory

UNIT: Final = "claw-acp.service"
LABEL: Final = "org.claw-acp.hub"
KEPT: Final = (*STORE, "PATH", "TZ")
"""Variables that a service manager would not pass on: where sessions are kept, what programs are found, which zone."""

_SYSTEMD: Final = """\
[Unit]
Description=claw-acp, the agent server of this user

[Service]
ExecStart=:/usr/bin/env {command}
{environment}UMask={umask:04o}
Restart=on-failure
RestartSec=2

[Install]
WantedBy=default.target
"""


def install_service(arguments: Sequence[str]) -> int:
    """Write the file and print how to start it; an existing one is replaced. Returns the exit code.

    Args:
        arguments: Of `claw-acp serve`, when the service starts it.
    """
    command = [sys.executable, "-m", "claw_acp", "serve", *arguments]
    if sys.platform == "darwin":
        file = Path.home() / "Library/LaunchAgents" / f"{LABEL}.plist"
        content = launchd_agent(command, environ=os.environ, umask=_umask())
        start = f"launchctl bootstrap gui/{os.getuid()} {shlex.quote(str(file))}"
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        file = base / "systemd/user" / UNIT
        content = systemd_unit(command, environ=os.environ, umask=_umask())
        start = f"systemctl --user enable --now {UNIT}"
    private_directory(file.parent)
    file.write_bytes(content)
    print(f"Written: {file}\nTo start it now and with every session:\n\n    {start}")
    return 0


def systemd_unit(command: Sequence[str], *, environ: Mapping[str, str], umask: int) -> bytes:
    """A unit that runs a command as this process would.

    The mode of new files counts as well: a hub with another one does not serve editors.
    """
    lines = [f"Environment={_unit_word(f'{name}={value}')}\n" for name, value in _kept(environ).items()]
    # By `env`, because systemd allows neither quotes nor backslashes in the path of a program; `:` leaves `$` alone.
    words = " ".join(map(_unit_word, command))
    return os.fsencode(_SYSTEMD.format(command=words, environment="".join(lines), umask=umask))


def launchd_agent(command: Sequence[str], *, environ: Mapping[str, str], umask: int) -> bytes:
    """An agent that runs a command as this process would."""
    return plistlib.dumps({
        "Label": LABEL, "ProgramArguments": [*command], "RunAtLoad": True, "KeepAlive": {"SuccessfulExit": False},
        "EnvironmentVariables": _kept(environ), "Umask": umask,
    })  # fmt: skip


def _kept(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in KEPT if name != "HOME" and environ.get(name)}


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _unit_word(word: str) -> str:
    """A word in quotes, as systemd reads it (systemd.service(5), "Command lines")."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return '"' + "".join(each if each >= " " else f"\\x{ord(each):02x}" for each in escaped) + '"'
