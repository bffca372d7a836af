"""The sources of untrusted text that a command brings in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from claw_acp.security.command_paths import PolicyContext
from claw_acp.security.command_reach import FETCH
from claw_acp.security.shell_command import SimpleCommand, names
from claw_acp.security.untrusted_text import sources_of_files

_PRINTS_OTHERS: Final = FETCH | names("gh glab hub ssh lynx w3m elinks links himalaya mutt mail rclone aws gcloud az")


def sources_of_command(command: SimpleCommand, *, reads: Sequence[Path], context: PolicyContext) -> tuple[str, ...]:
    """The sources, for people: what a program fetches and prints, and files that it reads.

    What package managers and git fetch is stored, not printed; it counts when it is read.
    """
    words = [word or "…" for word in command.argv]
    program = words[0].rsplit("/", 1)[-1].casefold() if words else ""
    fetched = [f"`{' '.join(words)}`"] if program in _PRINTS_OTHERS else []
    return (*fetched, *dict.fromkeys(sources_of_files(reads, context=context)))
