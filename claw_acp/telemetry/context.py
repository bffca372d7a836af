"""The ids of the work in progress, carried along with it, so that every log line of a request has them."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_NOTHING: Mapping[str, str] = MappingProxyType({})
_current: ContextVar[Mapping[str, str]] = ContextVar("claw_acp_log_context", default=_NOTHING)


@contextmanager
def log_context(*, request: str | None = None, session: str | None = None) -> Generator[None]:
    """Inside the block, and in the tasks started there, log lines carry these ids; None keeps what is bound already."""
    given = {"request": request, "session": session}
    token = _current.set({**_current.get(), **{name: value for name, value in given.items() if value is not None}})
    try:
        yield
    finally:
        _current.reset(token)


def bound_ids() -> Mapping[str, str]:
    """The ids bound here."""
    return _current.get()
