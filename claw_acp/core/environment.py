"""The environment that work is done in: that of the process, except in a hub, where each editor brings its own."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

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
