"""Where the program under test runs: in the process of the test, as a forked process, or as a fresh interpreter."""

from collections.abc import Sequence
from typing import Literal, TypeAlias
from zlib import crc32

import pytest

OPTION = "--spawned"

_STARTING = frozenset({"project", "desk", "bench", "environ", "serve", "peer"})
"""Fixtures of the tests that start the program, and of few others."""

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
    """Decide for the test that comes next."""
    global _place  # noqa: PLW0603 - one test runs at a time
    fresh = item.get_closest_marker("spawned") is not None or bool(item.config.getoption(OPTION))
    _place = "spawned" if fresh else "forked" if item.get_closest_marker("forked") else "here"


def here() -> bool:
    """Whether the current test does without a process for its program."""
    return _place == "here"


def spawned() -> bool:
    """Whether the current test wants a fresh interpreter; so does everything outside of pytest."""
    return _place == "spawned"


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--spawned`, leave only tests in which that makes a difference."""
    every = int(config.getoption(OPTION) or 0)
    if not every:
        return
    chosen = [item for item in items if _starts_the_program(item) and crc32(item.nodeid.encode()) % every == 0]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen


def _starts_the_program(item: pytest.Item) -> bool:
    fixtures: Sequence[str] = getattr(item, "fixturenames", ())
    return item.get_closest_marker("spawned") is None and not _STARTING.isdisjoint(fixtures)
