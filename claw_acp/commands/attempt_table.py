"""The attempts at a prompt as a table, the best first."""

from collections.abc import Sequence
from typing import Final

from claw_acp.core.events import Attempt
from claw_acp.core.markdown import code_span
from claw_acp.core.money import from_dollars, shown

LONGEST: Final = 140  # characters of the words of an attempt

_HEAD: Final = (
    "| Attempt | Model | Checks | Files | Lines | Cost | In its words |",
    "| ---: | --- | --- | ---: | --- | ---: | --- |",
)
_CHOICES: Final = (
    "`/try diff N` shows the changes of attempt N, `/try take N` makes them in the project (`/undo` takes them back), "
    "`/try drop` forgets all."
)


def ranked(attempts: Sequence[Attempt]) -> Sequence[Attempt]:
    """The attempts, the best first: those that ended well, failed the fewest checks and changed the fewest lines.

    One that changed nothing comes behind those that changed something.
    """

    def rank(attempt: Attempt) -> tuple[bool, bool, int, int, int]:
        size = attempt.added + attempt.removed
        return attempt.status != "completed", not attempt.changes, attempt.failed, size, attempt.number

    return sorted(attempts, key=rank)


def attempt_table(attempts: Sequence[Attempt]) -> str:
    """The attempts, and what can be done with them, as Markdown."""
    return "\n".join([*_HEAD, *(_row(attempt) for attempt in ranked(attempts)), "", _CHOICES])


def _row(attempt: Attempt) -> str:
    cost = "" if attempt.cost is None else shown(from_dollars(attempt.cost))
    cells = (
        str(attempt.number),
        code_span(attempt.model).replace("|", "\\|"),
        _checks(attempt),
        str(sum(change.after is None or change.after.kind != "directory" for change in attempt.changes)),
        f"+{attempt.added:,} -{attempt.removed:,}" if attempt.changes else "",
        cost,
        _words(attempt),
    )
    return f"| {' | '.join(cells)} |"


def _checks(attempt: Attempt) -> str:
    if not attempt.passed + attempt.failed:
        return ""
    return f"{attempt.failed} failed, {attempt.passed} passed" if attempt.failed else f"{attempt.passed} passed"


def _words(attempt: Attempt) -> str:
    line = " ".join(attempt.words.split())
    line = line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"
    told = line.replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`")
    return told if attempt.status == "completed" else f"**{attempt.status}** {told}".rstrip()
