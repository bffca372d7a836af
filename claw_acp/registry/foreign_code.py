"""Code of other packages that runs in our process: any exception is a failure of that package.

`SystemExit`, `KeyboardInterrupt` and `GeneratorExit` of an extension end neither a turn nor the server. A real
cancellation passes; an extension can raise that error, too.
"""

import asyncio
from math import inf
from typing import Final

import anyio

from claw_acp.core.printable import printable

LONGEST_WORDS: Final = 500  # characters of an error's text that are repeated


def is_cancellation(error: BaseException) -> bool:
    """Return whether `error` left the current task because that is being cancelled."""
    if not isinstance(error, anyio.get_cancelled_exc_class()):
        return False
    task = asyncio.current_task()
    return anyio.current_effective_deadline() == -inf or (task is not None and task.cancelling() > 0)


def described(error: BaseException) -> str:
    """The type and text of an exception, on one line; also of one that cannot be turned into text."""
    kind = type(error).__name__
    try:
        words = str(error)
    except BaseException:  # noqa: BLE001 - a wall: the text comes from a stranger's code, too
        return f"{kind} (its text cannot be read)"
    line = printable(" ".join(words.split()))
    shown = line if len(line) <= LONGEST_WORDS else f"{line[: LONGEST_WORDS - 1]}…"
    return f"{kind}: {shown}" if shown else kind


def package_of(value: object) -> str:
    """The top-level package of a value's class; empty when that is this program."""
    package = type(value).__module__.partition(".")[0]
    return "" if package == "claw_acp" else package
