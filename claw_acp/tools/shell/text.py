"""The output of a program, cut to fit."""

from typing import Final

from claw_acp.tools.display import amount

_OVERLAP: Final = 4096
"""Characters of earlier output to look for, to find where later output continues it."""


def clip(text: str, *, limit: int, tail_only: bool = False) -> str:
    """At most about `limit` characters: the first third and the last two thirds, with a line about the omission.

    Args:
        text: What to shorten.
        limit: Characters to keep.
        tail_only: Keep only the end, because the beginning was cut off before.
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
    """The part of the output `now` that came after `before`, when the beginning may have been dropped since.

    Found by comparing text, as an editor's terminal gives nothing else. In doubt it returns more rather than less; only
    output that repeats itself exactly while its beginning is dropped seems to be nothing new.
    """
    if now.startswith(before):
        return now[len(before) :]
    overlap = before[-_OVERLAP:]
    found = now.find(overlap) if len(overlap) == _OVERLAP else -1  # a few characters occur everywhere
    return now if found < 0 else now[found + len(overlap) :]
