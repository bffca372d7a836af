"""The variables under which git only looks: settings that would make it run another program are disabled."""

from collections.abc import Mapping
from typing import Final

_SETTINGS: Final = (
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("diff.autoRefreshIndex", "false"),
    ("status.submoduleSummary", "false"),
    ("log.showSignature", "false"),
)
_FIXED: Final = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}


def git_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Variables to add to those that git would have without them (`inherited`), whose own settings stay."""
    count = inherited.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isascii() and count.isdecimal() and len(count) < 4 else 0
    settings = {"GIT_CONFIG_COUNT": str(first + len(_SETTINGS))}
    for number, (name, value) in enumerate(_SETTINGS, start=first):
        settings |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return {**_FIXED, **settings}
