"""HEARTBEAT.md: the tasks that a heartbeat looks after. Without tasks no model is asked."""

import re
from pathlib import Path
from typing import Final

from claw_acp.config.safe_read import read_plain_file
from claw_acp.contracts.schedule import RunResult
from claw_acp.core.errors import ToolError

FILE: Final = "HEARTBEAT.md"
LIMIT: Final = 64 * 1024

_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING: Final = re.compile(r"#{1,6}(?:\s|$)")
_NOTHING: Final = re.compile(r"[-*+_=\s]*|[-*+]\s*\[[ xX]?\]\s*|[-*+]\s*\[[xX]\].*|`{3,}\w*|~{3,}\w*")
"""Rules, empty list items, empty boxes, boxes that are ticked, fences."""

PROMPT: Final = """\
This is a heartbeat: nobody is there, and nobody can answer questions. Look after these tasks from HEARTBEAT.md, as \
far as they are due now, and then say in a few sentences what you found or did. Do not invent other work.

{}"""

VERDICT: Final = (
    "Does what you just reported deserve that a person is told now: something new, broken, finished or due? Answer "
    "with one word, TELL or QUIET."
)


def tasks_in(text: str) -> str:
    """The lines of a HEARTBEAT.md that hold tasks, with the headings above them; empty when there is none."""
    kept: list[str] = []
    has_task = False
    for line in _COMMENT.sub("", text).splitlines():
        words = line.strip()
        if _HEADING.match(words):
            kept.append(words)
        elif words and not _NOTHING.fullmatch(words):
            kept.append(line.rstrip())
            has_task = True
    return "\n".join(kept).strip() if has_task else ""


def read_tasks(directory: str) -> str:
    """The tasks of a project; empty when there is no file, or no task in it.

    Raises:
        ToolError: The file cannot be read.
    """
    file = Path(directory) / FILE
    try:
        real = file.resolve()
        if not real.is_relative_to(file.parent.resolve()):
            raise ToolError(f"{file} leads out of its project, to {real}; it is not read")
        return tasks_in(read_plain_file(real, limit=LIMIT).decode("utf-8-sig", errors="replace"))
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ToolError(f"{file} cannot be read: {error.strerror or error}") from error


def stays_quiet(verdict: RunResult) -> bool:
    """Return whether a verdict keeps a result from people. Anything but a clear QUIET does not."""
    words = re.findall(r"[a-z]+", verdict.text.lower())
    return verdict.status == "succeeded" and words == ["quiet"]
