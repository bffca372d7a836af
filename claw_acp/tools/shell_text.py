"""What a program printed, made fit to read: no terminal codes, no more than fits."""

import re
from typing import Final

from claw_acp.contracts.workspace import ExitStatus
from claw_acp.tools.display import amount

_OVERLAP: Final = 4096
"""Characters of earlier output that are looked for to see where later output continues it."""

_TERMINAL_CODE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # window titles, links
    r"|\x1b[ -/]*[0-~]"  # the two-letter ones
    r"|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
)


def readable(output: str) -> str:
    """Output as it would stand on a screen: codes gone, and of a line that was drawn over and over the last state."""
    lines = _TERMINAL_CODE.sub("", output).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] if "\r" in line else line for line in lines)


def clip(text: str, *, limit: int, tail_only: bool = False) -> str:
    """At most about `limit` characters: the first third and the last two thirds, with a line that says what is missing.

    Args:
        text: What to shorten.
        limit: Characters to keep.
        tail_only: Keep the end alone, because the beginning is not the true one.
    """
    if len(text) <= limit:
        return text
    head = "" if tail_only else text[: limit // 3]
    if "\n" in head:
        head = head[: head.rindex("\n") + 1]
    start = len(text) - (limit - len(head))
    if (line_end := text.find("\n", start - 1, len(text) - 1)) >= 0:
        start = line_end + 1
    tail = text[start:]
    gap = text[len(head) : len(text) - len(tail)]
    left_out = f"[… {amount(len(gap), 'character')} ({amount(gap.count(chr(10)), 'line break')}) left out …]\n"
    return f"{head}{'' if head.endswith(chr(10)) or not head else chr(10)}{left_out}{tail}"


def unseen(now: str, *, before: str) -> str:
    """The part of the output `now` that came after it was `before`, when the beginning may have been dropped since.

    Found by comparing text, as that is all an editor's terminal gives. In doubt more is given rather than less; only
    output that repeats itself exactly while its beginning is dropped looks like no news.
    """
    if now.startswith(before):
        return now[len(before) :]
    overlap = before[-_OVERLAP:]
    found = now.find(overlap) if len(overlap) == _OVERLAP else -1  # a few characters occur everywhere
    return now if found < 0 else now[found + len(overlap) :]


def ending(status: ExitStatus) -> str:
    """`exit code 1` or `killed by SIGKILL`."""
    return f"killed by {status.signal}" if status.signal is not None else f"exit code {status.code}"
