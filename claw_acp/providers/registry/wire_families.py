"""The wire families of providers: ours by name, others from installed packages."""

from collections.abc import Mapping
from typing import Any, Final

from claw_acp.config.diagnostic import did_you_mean
from claw_acp.registry.entry_points import discover
from claw_acp.registry.reference import Ref

OURS: Final = frozenset(
    {
        "anthropic",
        "azure",
        "bedrock",
        "binary",
        "gemini",
        "offline",
        "ollama",
        "openai",
        "responses",
        "scripted",
    }
)
"""Known without reading the installed packages, which takes 20 ms."""


def families() -> Mapping[str, Ref[Any]]:
    """Every wire family that can be loaded."""
    return discover("providers")


def is_known(kind: str) -> bool:
    """True if there is a wire family of this name."""
    return kind in OURS or kind in families()


def nearest(kind: str) -> str:
    """A suggestion for an unknown kind."""
    known = families()
    return did_you_mean(kind, known) or f"there are {', '.join(known) or 'none'}"
