"""The environment of commands: the user's own without our keys, with settings for non-interactive use."""

import os
from collections.abc import Mapping
from typing import Final

from claw_acp.core.child_environment import without_keys

_PLAIN: Final = {"PAGER": "cat", "GIT_PAGER": "cat", "TERM": "dumb", "NO_COLOR": "1", "GIT_TERMINAL_PROMPT": "0"}
"""Settings that keep programs from waiting for a key press, and from drawing."""

SHELL: Final = next((file for place in os.get_exec_path() if os.access(file := f"{place}/bash", os.X_OK)), "/bin/sh")
"""The shell for command lines: models write bash, whatever shell the user types into."""

_DROPPED: Final = frozenset({"CI"})  # it makes tools skip or fail work that a developer expects

_ADDED: Final = "CLAW_ACP_ADDED"
"""The name of the one variable that we, not the user, set for our own process at its start."""


def command_environment(base: Mapping[str, str], *, extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command, from `base` (see `without_keys`) with the variables of `extra` unchanged."""
    dropped = _DROPPED | {base.get(_ADDED)}
    kept = {name: value for name, value in without_keys(base).items() if name not in dropped}
    return {**kept, **_PLAIN, **extra}
