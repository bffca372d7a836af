"""A service of the user's that starts the hub with the session: a systemd user unit, or a launchd agent."""

import os
import plistlib
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from claw_acp.config.locations import private_directory

UNIT: Final = "claw-acp.service"
LABEL: Final = "org.claw-acp.hub"

_SYSTEMD: Final = """\
[Unit]
Description=claw-acp, the agent server of this user

[Service]
ExecStart={command}
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
        content = plistlib.dumps({
            "Label": LABEL, "ProgramArguments": command, "RunAtLoad": True, "KeepAlive": {"SuccessfulExit": False},
        })  # fmt: skip
        start = f"launchctl bootstrap gui/{os.getuid()} {shlex.quote(str(file))}"
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        file = base / "systemd/user" / UNIT
        content = _SYSTEMD.format(command=" ".join(map(_unit_word, command))).encode()
        start = f"systemctl --user enable --now {UNIT}"
    private_directory(file.parent)
    file.write_bytes(content)
    print(f"Written: {file}\nTo start it now and with every session:\n\n    {start}")
    return 0


def _unit_word(word: str) -> str:
    """An argument as systemd reads it (systemd.service(5), "Command lines")."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if set(escaped) & set(" \t'\";") else escaped
