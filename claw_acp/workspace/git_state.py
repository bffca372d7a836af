"""The state of a folder in git, in a few words: the branch, and the files that differ from the last commit."""

import os
import re
from pathlib import Path
from typing import Final

from claw_acp.core.child_environment import without_keys
from claw_acp.core.environment import current_environment
from claw_acp.process.blocking import BlockingChild
from claw_acp.process.outer_path import outer_program
from claw_acp.security.read_only.git_environment import git_environment
from claw_acp.security.read_only.repository import repository_doubt

WITHIN: Final = 2.0  # seconds for git
MOST_NAMES: Final = 8

_ROW: Final = re.compile(r"(?:1 (..) (?:\S+ ){6}|2 (..) (?:\S+ ){7}|(u) (?:\S+ ){9}|(\?) )(.*)", re.DOTALL)


def is_in_repository(folder: Path) -> bool:
    """Return whether git may know this folder. Cheap."""
    return any(os.path.lexists(place / ".git") for place in (folder, *folder.parents))


def git_state(folder: Path) -> str | None:
    """The state in words; None where there is none to tell, or git might run other programs to find out. Blocks."""
    git = outer_program("git", roots=[folder])
    if git is None or repository_doubt(folder):
        return None
    base = without_keys(current_environment())
    line = [git, "-C", str(folder), "status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=all", "--", "."]
    try:
        ended = BlockingChild(line, env={**base, **git_environment(base)}).finish(within=WITHIN)
    except (OSError, ValueError, TimeoutError):
        return None
    return None if ended.code else _in_words(ended.stdout.decode("utf-8", "replace"))


def _in_words(status: str) -> str:
    branch, changed = "", list[str]()
    rows = iter(status.split("\0"))
    for row in rows:
        if row.startswith("# branch.head "):
            branch = row.removeprefix("# branch.head ")
        elif (found := _ROW.fullmatch(row)) is not None:
            if row.startswith("2"):
                next(rows, None)  # the name before
            deed = "new" if found[4] else "conflict" if found[3] else ""
            changed.append(f"{plain_name(found[5])} ({deed})" if deed else plain_name(found[5]))
    names = ", ".join(changed[:MOST_NAMES])
    more = f" and {len(changed) - MOST_NAMES:,} more" if len(changed) > MOST_NAMES else ""
    on = "no branch" if branch == "(detached)" else f"branch {plain_name(branch)}"
    return f"Git: {on}; " + (f"changed since the last commit: {names}{more}." if changed else "nothing is uncommitted.")


def plain_name(name: str) -> str:
    """A name that cannot be mistaken for words of ours: repositories come from anywhere."""
    shown = re.sub(r"[^\w./@+=,~#-]", "?", name)
    return shown if len(shown) <= 80 else f"...{shown[-77:]}"
