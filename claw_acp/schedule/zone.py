"""Time zones by their names."""

import os
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from claw_acp.core.errors import InvalidRequest

_MACHINE: Final = Path("/etc/localtime")


def zone_named(name: str) -> tzinfo:
    """The time zone with an IANA name such as `Europe/Berlin`; an empty name means the machine's.

    Raises:
        InvalidRequest: There is none.
    """
    if not name:
        return _machine_zone()
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidRequest(f"there is no time zone {name!r}; write a name such as Europe/Berlin, or UTC") from error


def _machine_zone() -> tzinfo:
    """The zone of `TZ`, else of the system, else UTC."""
    try:
        return ZoneInfo(os.environ.get("TZ", "").removeprefix(":"))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    try:
        with _MACHINE.open("rb") as file:
            return ZoneInfo.from_file(file)
    except (ValueError, OSError):
        return UTC
