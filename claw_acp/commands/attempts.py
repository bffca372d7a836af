"""`/try`: several attempts at a prompt side by side, of which one is taken."""

import re
from collections.abc import Sequence
from typing import Final

from claw_acp.commands.attempt_table import attempt_table
from claw_acp.contracts.checkpoints import FileComparison, OnEdited
from claw_acp.contracts.command import CommandContext, CommandResult, Said, TakesAttempt, Tries
from claw_acp.core.errors import ClawError
from claw_acp.core.events import Attempt, DiffContent
from claw_acp.core.markdown import code_span

FEWEST: Final = 2
MOST: Final = 5
LONGEST_TEXT: Final = 400_000  # characters of one side of a difference
MOST_TEXT: Final = 4_000_000  # characters of all differences that are shown at once

_COUNTED: Final = re.compile(r"(\d{1,9})\s+(\S.*)", re.DOTALL)
_ABOUT_ONE: Final = re.compile(r"(diff|take)\s+(\d{1,9})(?:\s+(skip|overwrite))?")
_EDITED: Final[dict[str | None, OnEdited]] = {None: "ask", "skip": "skip", "overwrite": "overwrite"}
_USAGE: Final = (
    f"`/try N prompt` makes N attempts at a prompt side by side ({FEWEST} to {MOST}), each in a git worktree of its "
    "own that starts from your files as they are now. You compare them and take one; nothing stays of the others. "
    "`try_models` in config.toml gives them different models."
)


class Try:
    """Makes attempts, shows them, takes one of them, or drops all."""

    name = "try"
    description = "Make several attempts at a prompt side by side, compare them and take one"
    hint = "N prompt | diff N | take N | drop"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        try:
            if argument.strip() == "drop":
                await context.attempts.drop()
                return Said(text="All attempts are forgotten; the project is as it was.")
            if found := _ABOUT_ONE.fullmatch(argument.strip()):
                attempt = context.attempts.find(int(found[2]))
                if found[1] == "take":
                    return TakesAttempt(number=attempt.number, edited=_EDITED[found[3]])
                return _shown(attempt, await context.attempts.compare(attempt.number))
        except ClawError as error:
            return Said(text=f"Nothing was done: {error.message.rstrip('.')}.")
        counted = _COUNTED.fullmatch(argument.strip())
        if counted is None:
            return Said(text=attempt_table(context.attempts.current) if context.attempts.current else _USAGE)
        count = int(counted[1])
        if not FEWEST <= count <= MOST:
            return Said(text=f"{FEWEST} to {MOST} attempts can be made side by side, not {count:,}.")
        name = counted[2].split()[0]
        own = next((group.commands for group in context.groups if any(each is self for each in group.commands)), ())
        if name.removeprefix("/") in {command.name for command in own} and name.startswith("/"):
            return Said(text=f"Attempts are made at a prompt; {code_span(name)} is a command.")
        return Tries(count=count, prompt=counted[2])


def _is_text(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _shown(attempt: Attempt, compared: Sequence[FileComparison]) -> Said:
    diffs: list[DiffContent] = []
    lines: list[str] = []
    room = MOST_TEXT
    for change, file in zip(attempt.changes, compared, strict=False):
        sizes = [len(text) for text in (file.old, file.new) if text is not None]
        shown = bool(sizes) and _is_text(change.path) and max(sizes) <= LONGEST_TEXT and sum(sizes) <= room
        if shown:
            room -= sum(sizes)
            diffs.append(DiffContent(path=change.path, old_text=file.old, new_text=file.new))
        note = file.note or (
            "" if shown or not sizes else "not shown, because there is too much, or its name is no text"
        )
        if note or not shown:
            lines.append(f"- {code_span(file.path)}{note and f': {note}'}")
    files = len(attempt.changes)
    if files > len(compared):
        lines.append(f"- and {files - len(compared):,} more")
    said = f"Attempt {attempt.number} changed {files:,} file{'' if files == 1 else 's'}."
    notes = "\n".join(lines)
    text = "\n\n".join(part for part in (said, notes, attempt.words) if part)
    return Said(text=text, diffs=tuple(diffs), diffs_title=f"Changes of attempt {attempt.number}")
