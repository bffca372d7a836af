"""Assignments before a command that only change how programs print."""

import re

# No value that is expanded by a program that reads it (`$` by make), and none that is a file, time zones aside.
_HARMLESS = re.compile(
    r"(?:CI|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|TERM|COLUMNS|LINES|LANG|LANGUAGE|LC_[A-Z]+|RUST_BACKTRACE"
    r"|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONHASHSEED|PYTHONUTF8)=[\w.,:+-]*"
    r"|TZ=(?:[A-Z]\w*(?:/[A-Z][\w+-]*)*)?|(?:GIT_|MAN)?PAGER=cat",
    re.ASCII,
)


def harmless_assignment(assignment: str | None) -> bool:
    """Return whether `NAME=value` before a command cannot change what it does; None is an unknown value."""
    return assignment is not None and _HARMLESS.fullmatch(assignment) is not None
