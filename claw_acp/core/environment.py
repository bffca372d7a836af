"""The environment that work is done in: that of the process, except in a hub, where each editor brings its own."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

VOLATILE: Final = frozenset({
    "_", "CLAW_ACP_ADDED", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "TERM_SESSION_ID", "TMUX", "TMUX_PANE",
    "WINDOWID", "WT_SESSION", "XDG_SESSION_ID", "ZED_TERM",
})  # fmt: skip
"""Variables that differ from one start to the next and mean nothing to us or to a command."""

_BROUGHT: Final[ContextVar[Mapping[str, str] | None]] = ContextVar("environment", default=None)


def current_environment(own: Mapping[str, str] = os.environ) -> Mapping[str, str]:
    """The variables that programs started now inherit: those that were brought, else our `own`."""
    brought = _BROUGHT.get()
    return own if brought is None else brought


@contextmanager
def working_in(environ: Mapping[str, str]) -> Generator[None]:
    """Work in another environment for the block; tasks and threads that are started in it do so to their end."""
    token = _BROUGHT.set(environ)
    try:
        yield
    finally:
        _BROUGHT.reset(token)


def environment_identity(environ: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """The variables that make two environments different ones."""
    return frozenset((name, value) for name, value in environ.items() if name not in VOLATILE)
