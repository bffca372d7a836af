"""What a row yields: samples with a name, a unit and a goal, and the statistics shown of them."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tests.benchmarks.lab import Lab

Unit = Literal["ms", "µs", "MB", "KB", "tokens", "times"]

P95_FROM = 20  # samples from which on a 95th percentile says something; below, the extremes are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the table."""

    what: str
    unit: Unit
    samples: Sequence[float]
    goal: float | None = None
    """At most this; None for a figure that is there to compare with."""

    @property
    def median(self) -> float:
        """The median."""
        return statistics.median(self.samples)

    @property
    def reached(self) -> bool | None:
        """Whether the median is within the goal; None without one."""
        return None if self.goal is None else round(self.median, 2) <= self.goal

    def spread(self) -> str:
        """Of many samples the 95th percentile, of few the extremes."""
        if len(self.samples) >= P95_FROM:
            return f"p95 {shown(statistics.quantiles(self.samples, n=20, method='inclusive')[-1])}"
        return f"{shown(min(self.samples))} - {shown(max(self.samples))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing to measure. `runs` is how often by default; what one run is, `about` says."""

    name: str
    about: str
    runs: int
    measure: Callable[[Lab, int], Sequence[Figure]]


def shown(value: float) -> str:
    """A figure with about three digits."""
    for places in (2, 1):
        if abs(round(value, places)) < 10 ** (3 - places):
            return f"{value:.{places}f}"
    return f"{value:.0f}"


def milliseconds(nanoseconds: float) -> float:
    """Nanoseconds as milliseconds."""
    return nanoseconds / 1e6


def microseconds(nanoseconds: float) -> float:
    """Nanoseconds as microseconds."""
    return nanoseconds / 1e3


def megabytes(size: int) -> float:
    """Bytes as megabytes of 1,048,576 bytes, as `ps` and `top` count."""
    return size / 1024**2


def kilobytes(size: float) -> float:
    """Bytes as kilobytes of 1,024 bytes."""
    return size / 1024
