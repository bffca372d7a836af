"""What `doctor` finds out, as values."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the report. `advice` says what to do; it is empty when nothing needs doing."""

    level: Level
    subject: str
    detail: str
    advice: str = ""
