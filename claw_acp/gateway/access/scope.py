"""Scopes of tokens: the parts of the server that a client may use."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

Scope = Literal["read", "chat", "control", "attach"]

SCOPES: Final[Mapping[Scope, str]] = MappingProxyType(
    {
        "read": "see sessions, schedules, questions and metrics",
        "chat": "prompt by /api/chat and /ws/chat",
        "control": "see and change everything that the control interface offers",
        "attach": "connect as an editor, by /acp, or as a program, by /attach",
    }
)
EVERYTHING: Final = frozenset(SCOPES)


def covers(granted: frozenset[Scope], needed: Scope) -> bool:
    """Return whether a token with the scopes `granted` may do what asks for `needed`."""
    return needed in granted or (needed == "read" and "control" in granted)
