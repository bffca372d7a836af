"""The environment that commands run in: the user's own, without our keys, and made for a machine to read."""

import shutil
from collections.abc import Mapping
from typing import Final

from claw_acp.core.child_environment import without_keys

_PLAIN: Final = {"PAGER": "cat", "GIT_PAGER": "cat", "TERM": "dumb", "NO_COLOR": "1", "GIT_TERMINAL_PROMPT": "0"}
"""Nothing waits for a key press, nothing draws."""

SHELL: Final = shutil.which("bash") or "/bin/sh"
"""The shell for command lines: what models write is bash, whatever shell the user types into."""

_DROPPED: Final = frozenset({"CI"})  # it makes tools skip or fail work that a developer expects

_ADDED: Final = "CLAW_ACP_ADDED"
"""Names one variable that was set for our own process at its start, by us and not by the user."""


def command_environment(base: Mapping[str, str], *, extra: Mapping[str, str]) -> dict[str, str]:
    """Return what a command sees of `base` (see `without_keys`); variables in `extra` are given as they are."""
    dropped = _DROPPED | {base.get(_ADDED)}
    kept = {name: value for name, value in without_keys(base).items() if name not in dropped}
    return {**kept, **_PLAIN, **extra}
