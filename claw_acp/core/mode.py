"""The modes of a session: how much it may do without asking."""

from typing import Literal, get_args

Mode = Literal["plan", "ask", "edit", "auto"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""All modes, the strictest first."""


def is_wider(mode: str, widest: Mode) -> bool:
    """Return whether `mode` lets a session do more unasked than `widest`."""
    return mode in MODES[MODES.index(widest) + 1 :]


def narrower(mode: Mode, other: Mode) -> Mode:
    """The stricter of two modes."""
    return other if is_wider(mode, other) else mode
