"""The environment of commands that only read: settings that would make them run something else are disabled."""

from collections.abc import Mapping
from typing import Final

from claw_acp.security.read_only.commands import only_looks
from claw_acp.security.read_only.git_environment import git_environment
from claw_acp.security.read_only.plain_line import read_line

_FIXED: Final = {
    "GOTOOLCHAIN": "local",
    "BASH_ENV": "",
    "ENV": "",
    "BASHOPTS": "",
    "CDPATH": "",
    "GLOBIGNORE": "",
    "LESSOPEN": "",
    "RIPGREP_CONFIG_PATH": "",
}


def line_only_looks(line: str) -> bool:
    """Return whether a command line only reads, judging by its text."""
    plain = read_line(line)
    return plain is not None and only_looks(plain)


def look_environment(line: str, *, inherited: Mapping[str, str]) -> dict[str, str]:
    """Variables to set for a command line that only reads; none for any other, which keeps the person's settings.

    Args:
        line: The command line.
        inherited: The variables that the command would have without these.
    """
    if not line_only_looks(line):
        return {}
    return {**_FIXED, **git_environment(inherited)}
