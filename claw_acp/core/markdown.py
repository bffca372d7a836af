"""Untrusted text inside Markdown: it cannot close the block or the span that it stands in, nor be a link."""

import re

from claw_acp.core.printable import printable

_BACKTICKS = re.compile("`+")
_MARKS = r"([\\`*\[\]<])"


def code_block(text: str, *, language: str = "") -> str:
    """`text` as a code block."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def code_span(text: str) -> str:
    """`text` as code within a line, on one line, with invisible characters escaped."""
    line = printable(text)
    marks = "`" * (_longest_run(line) + 1)
    gap = " " if line.startswith("`") or line.endswith("`") or not line.strip() else ""
    return f"{marks}{gap}{line}{gap}{marks}"


def plain_text(text: str) -> str:
    """`text` on one line as it stands: no link, picture, HTML or emphasis, with invisible characters escaped."""
    return re.sub(_MARKS, r"\\\1", printable(" ".join(text.split())))


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)
