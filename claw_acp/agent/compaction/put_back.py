"""The part of a summary that no model writes: the user's messages verbatim, the plan, the files."""

from collections.abc import Container, Iterable, Sequence
from typing import Final

from claw_acp.agent.context import Room
from claw_acp.core.events import PlanChanged, PlanStatus
from claw_acp.core.messages import Message
from claw_acp.session.entries import FileUse
from claw_acp.session.history import History

MARK: Final = "# Kept by the program, word for word"
MESSAGES_SHARE: Final = 0.05  # of the room, for messages of the user besides the current one
MOST_FILES: Final = 30  # of each kind
OUTDATED: Final = " (has another content now: read it again before you rely on it)"
_BOXES: Final[dict[PlanStatus, str]] = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}


def put_back(history: History, *, room: Room, kept: int, current: bool, outdated: Container[str] = frozenset()) -> str:
    """The user's last messages, the plan and the files, below a mark; empty if there are none.

    Args:
        history: The conversation.
        room: The available room.
        kept: The number of the user's newest messages that stay in the conversation itself.
        current: The newest message is being answered and does not stay, so it is kept whole, however long it is.
        outdated: The files that have changed since they were read.
    """
    parts = (
        _prompts(history, room=room, kept=kept, current=current),
        _plan(history.plan),
        _files(history.used_files(), outdated=outdated),
    )
    told = "\n\n".join(part for part in parts if part)
    return f"\n\n{MARK}\n\n{told}" if told else ""


def _prompts(history: History, *, room: Room, kept: int, current: bool) -> str:
    left = int(room.size * MESSAGES_SHARE)
    texts: list[str] = []
    for number, message in enumerate(history.prompts()):
        if number < kept:
            continue
        left -= room.tokens([Message.user(message.text)])
        if left < 0 and not (current and not texts):
            break
        if message.text.strip():
            texts.append(f"<message>\n{message.text}\n</message>")
    told = "\n".join(reversed(texts))
    end = "; the last one is what you are working on" if current and not kept else ""
    return f"## The user's last messages, the oldest first{end}\n{told}" if told else ""


def _plan(plan: PlanChanged | None) -> str:
    steps = () if plan is None else plan.entries
    return "\n".join(("## The plan", *(f"- {_BOXES[step.status]} {step.content}" for step in steps))) if steps else ""


def listed_paths(history: History) -> frozenset[str]:
    """The files that are put back."""
    return frozenset(use.path for uses in _latest(history.used_files()) for use in uses)


def _files(uses: Iterable[FileUse], *, outdated: Container[str]) -> str:
    """The files, the latest first, each once."""
    changed, read = _latest(uses)
    return "\n".join(
        _listed("## Files changed", changed, outdated=outdated) + _listed("## Files read", read, outdated=outdated)
    )


def _latest(uses: Iterable[FileUse]) -> tuple[Sequence[FileUse], Sequence[FileUse]]:
    """The files that were changed, and those that were only read, the latest first."""
    changed: dict[str, FileUse] = {}
    read: dict[str, FileUse] = {}
    for use in uses:
        found = changed if use.changed else read
        if len(found) < MOST_FILES:
            found.setdefault(use.path, use)
        elif len(changed) >= MOST_FILES <= len(read):
            break
    return list(changed.values()), [use for path, use in read.items() if path not in changed]


def _listed(title: str, uses: Sequence[FileUse], *, outdated: Container[str]) -> list[str]:
    lines = [_line(use, outdated=use.path in outdated) for use in uses]
    return [title, *lines] if lines else []


def _line(use: FileUse, *, outdated: bool) -> str:
    place = f" from line {use.line}" if use.line and not use.changed else ""
    return f"- {use.path}{place}{OUTDATED if outdated else ''}"
