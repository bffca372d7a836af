"""Durations as people write them: `90s`, `2h`, `1h30m`, `7d`."""

import re
from typing import Final

from claw_acp.core.errors import InvalidRequest

_UNITS: Final = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
_PART: Final = r"([0-9]{1,9})\s*([dhms])"
_WHOLE: Final = rf"(?:{_PART}\s*)+"
_LONGEST: Final = 10 * 366 * 86_400


def seconds_in(text: str) -> int:
    """The seconds of a duration.

    Raises:
        InvalidRequest: It is none, or longer than ten years.
    """
    if not re.fullmatch(_WHOLE, written := text.strip().lower(), re.ASCII):
        raise InvalidRequest(f"{text!r} is no duration; write 30m, 2h, 1h30m or 7d")
    seconds = sum(int(number) * _UNITS[unit] for number, unit in re.findall(_PART, written, re.ASCII))
    if seconds > _LONGEST:
        raise InvalidRequest(f"{text!r} is too long; ten years are the most")
    return seconds


def duration_text(seconds: int) -> str:
    """The shortest way to write a duration: `90m` is `1h30m`."""
    parts: list[str] = []
    for unit, size in _UNITS.items():
        number, seconds = divmod(seconds, size)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or "0s"
