"""The W3C trace context of the work in progress, carried along with it to the programs that work on its behalf."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final

from claw_acp.core.json_value import JsonObject

LONGEST_STATE: Final = 512  # characters that everybody has to pass on

_HEX: Final = frozenset("0123456789abcdef")
_NOTHING: Mapping[str, str] = MappingProxyType({})
_current: ContextVar[Mapping[str, str]] = ContextVar("claw_acp_trace", default=_NOTHING)


@contextmanager
def trace_from(meta: JsonObject | None) -> Generator[None]:
    """Inside the block, and in the tasks started there, the trace is the one in a client's `_meta`, if it has one."""
    token = _current.set(trace_in(meta) if meta else _NOTHING)
    try:
        yield
    finally:
        _current.reset(token)


def carry_trace(fields: Mapping[str, str]) -> None:
    """Carry other fields from here on, in this task and those it starts."""
    _current.set(fields)


def current_trace() -> Mapping[str, str]:
    """`traceparent`, and perhaps `tracestate`, of the work in progress; empty without a trace."""
    return _current.get()


def trace_meta() -> JsonObject:
    """The member `_meta` of a message to another program; without a trace there is none."""
    fields = _current.get()
    return {"_meta": dict(fields)} if fields else {}


def trace_in(meta: JsonObject) -> Mapping[str, str]:
    """The valid fields of a `_meta`. Baggage is not among them: it is meant for the one who gets it."""
    parent, state = meta.get("traceparent"), meta.get("tracestate")
    if not isinstance(parent, str) or not _is_traceparent(parent):
        return _NOTHING
    if (
        not isinstance(state, str)
        or not 0 < len(state) <= LONGEST_STATE
        or not (state.isascii() and state.isprintable())
    ):
        return {"traceparent": parent}
    return {"traceparent": parent, "tracestate": state}


def _is_traceparent(text: str) -> bool:
    """Return whether it is one by version 00; later versions may append fields."""
    parts = text.split("-", 4)
    if len(text) > LONGEST_STATE or [len(part) for part in parts[:4]] != [2, 32, 16, 2]:
        return False
    version, trace, parent, flags = parts[:4]
    if not frozenset(version + trace + parent + flags) <= _HEX or version == "ff":
        return False
    return set(trace) != {"0"} != set(parent) and (len(parts) == 4 or version != "00")
