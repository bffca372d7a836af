"""Where the program under test runs: in the process of the test, as a forked process, or as a fresh interpreter."""

from collections.abc import Sequence
from typing import Literal, TypeAlias
from zlib import crc32

import pytest

OPTION = "--spawned"

_STARTING = frozenset({"project", "desk", "bench", "environ", "serve", "peer"})
"""Fixtures that start the program, mostly."""

Place: TypeAlias = Literal["here", "forked", "spawned"]

_place: Place = "spawned"


def add_option(parser: pytest.Parser) -> None:
    """`--spawned`: the whole matrix, or a part of it."""
    parser.addoption(
        OPTION,
        nargs="?",
        type=int,
        const=1,
        default=0,
        metavar="N",
        help="start the program as a process in every test that starts it (or in every Nth), and run only those",
    )


def place(item: pytest.Item) -> None:
    """Decide for the next test."""
    global _place  # noqa: PLW0603 - one test runs at a time
    fresh = item.get_closest_marker("spawned") is not None or bool(item.config.getoption(OPTION))
    _place = "spawned" if fresh else "forked" if item.get_closest_marker("forked") else "here"


def here() -> bool:
    """Return whether the program of the current test runs without a process."""
    return _place == "here"


def spawned() -> bool:
    """Return whether the current test needs a fresh interpreter, as does everything outside pytest."""
    return _place == "spawned"


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--spawned`, keep only tests for which that makes a difference."""
    every = int(config.getoption(OPTION) or 0)
    if not every:
        return
    chosen = [item for item in items if _starts_the_program(item) and crc32(item.nodeid.encode()) % every == 0]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen


def _starts_the_program(item: pytest.Item) -> bool:
    fixtures: Sequence[str] = getattr(item, "fixturenames", ())
    return item.get_closest_marker("spawned") is None and not _STARTING.isdisjoint(fixtures)
