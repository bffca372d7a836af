"""The environment of commands that only read: settings that would make them run something else are disabled."""

from collections.abc import Mapping
from typing import Final

from claw_acp.security.read_only.commands import only_looks
from claw_acp.security.read_only.plain_line import read_line

_GIT_SETTINGS: Final = (
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("diff.autoRefreshIndex", "false"),
    ("status.submoduleSummary", "false"),
    ("log.showSignature", "false"),
)
_FIXED: Final = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GOTOOLCHAIN": "local",
    "BASH_ENV": "",
    "ENV": "",
    "BASHOPTS": "",
    "CDPATH": "",
    "GLOBIGNORE": "",
    "LESSOPEN": "",
    "RIPGREP_CONFIG_PATH": "",
}


def look_environment(line: str, *, inherited: Mapping[str, str]) -> dict[str, str]:
    """Variables to set for a command line that only reads; none for any other, which keeps the person's settings.

    Args:
        line: The command line.
        inherited: The variables that the command would have without these.
    """
    plain = read_line(line)
    if plain is None or not only_looks(plain):
        return {}
    count = inherited.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isascii() and count.isdecimal() and len(count) < 4 else 0
    settings = {"GIT_CONFIG_COUNT": str(first + len(_GIT_SETTINGS))}
    for number, (name, value) in enumerate(_GIT_SETTINGS, start=first):
        settings |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return {**_FIXED, **settings}
