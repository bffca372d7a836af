"""The findings of `doctor`, as values."""

from typing import Literal

from claw_acp.core.value import Value

Level = Literal["ok", "warn", "fail"]


class Check(Value):
    """One line of the report. `advice` says what to do; it is empty when nothing needs doing."""

    level: Level
    subject: str
    detail: str
    advice: str = ""
