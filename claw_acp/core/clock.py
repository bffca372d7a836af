"""Time and randomness, in one place, so that callers can substitute them."""

import os
import random
import time
from datetime import UTC, datetime, tzinfo
from typing import Protocol


class Clock(Protocol):
    """The source of time and randomness for a component."""

    def now(self) -> float:
        """Seconds since the Unix epoch."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""
        ...

    def random(self) -> float:
        """A number in [0, 1)."""
        ...

    def random_bytes(self, count: int) -> bytes:
        """Unpredictable bytes, for ids."""
        ...


class SystemClock:
    """The machine's own time and randomness."""

    def now(self) -> float:
        """Seconds since the Unix epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""
        return time.monotonic()

    def random(self) -> float:
        """A number in [0, 1)."""
        return random.random()  # noqa: S311 - jitter, not secrets

    def random_bytes(self, count: int) -> bytes:
        """Unpredictable bytes, for ids."""
        return os.urandom(count)


SYSTEM_CLOCK = SystemClock()


def iso_time(seconds: float) -> str:
    """ISO 8601 in UTC with milliseconds, the form of ACP's `updatedAt`: `2026-11-21T08:00:00.000Z`."""
    moment = datetime.fromtimestamp(seconds, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def spoken_time(seconds: float, *, zone: tzinfo | None = None) -> str:
    """A moment for people, as in `Sunday 2026-11-22 18:45 (CET, UTC+01:00)`; by default in the machine's zone."""
    moment = datetime.fromtimestamp(seconds, tz=UTC).astimezone(zone)
    name, offset = moment.tzname(), f"UTC{moment.isoformat()[-6:]}"
    return f"{moment:%A %Y-%m-%d %H:%M} ({offset if not name or name.startswith('UTC') else f'{name}, {offset}'})"


def local_day(seconds: float, *, zone: tzinfo | None = None) -> str:
    """The date at a moment, as in `2026-11-22`, in a time zone; by default the machine's."""
    return datetime.fromtimestamp(seconds, tz=UTC).astimezone(zone).date().isoformat()
