"""The output of a program as text on a screen."""

import re

_TERMINAL_CODE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # window titles, links, commands to the terminal
    r"|\x1b[ -/]*[0-~]"  # the two-letter ones
    r"|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
)


def readable(output: str) -> str:
    """Output as a terminal would show it: codes removed, and only the last state of a line drawn several times."""
    lines = _TERMINAL_CODE.sub("", output).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] if "\r" in line else line for line in lines)


def appearances(raw: bytes) -> tuple[str, ...]:
    """The texts in which to look for a word of the output, whatever codes or invalid bytes split it."""
    whole = raw.decode("utf-8", "replace")
    bare = _TERMINAL_CODE.sub("", raw.decode("utf-8", "ignore"))
    return tuple(dict.fromkeys((whole, bare, readable(whole))))
