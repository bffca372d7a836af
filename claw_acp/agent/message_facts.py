"""The facts sent to a model with each user message, which it cannot know: the time, and the mode of the session.

They stay on that message and are not in the instructions: those are the beginning of every request, and any change
there would cost the vendor's prompt cache of the whole conversation. For the same reason the tools on offer are those
of all modes. A model in plan mode is told here, before it plans, that calls which change something are refused; taking
the tools away instead would make the cache anew at each change of the mode, and leave calls in the conversation of
tools that do not exist.
"""

from collections.abc import Mapping
from typing import Final

from claw_acp.core.clock import Clock, spoken_time
from claw_acp.core.events import FilesRestored
from claw_acp.core.mode import Mode
from claw_acp.session.session import Session

_MOST_PATHS: Final = 20

_MODES: Final[Mapping[Mode, str]] = {
    "plan": "plan: look and plan; every call that would change something is refused",
    "ask": "ask: the user is asked before files are changed or commands run",
    "edit": "edit: files in the project may be changed; the user is asked before commands run",
    "auto": "auto: work by yourself; the user is asked only before something dangerous",
}


def facts_now(session: Session, *, clock: Clock, place: str = "") -> str:
    """The current facts, as a line for the model; `place` is what is new of the working folder."""
    news = "".join(f" {_taken_back(restored)}" for restored in session.history.pending_files.restored)
    return f"<facts>It is {spoken_time(clock.now())}. Mode {_MODES[session.mode]}.{news}{place and f' {place}'}</facts>"


def _taken_back(restored: FilesRestored) -> str:
    """The outcome of an undo, a redo or the taking of an attempt, as a sentence."""
    paths = [change.path for change in restored.changes]
    if not paths:
        return "The user took back a part of the conversation; the files stayed as they are."
    deed = "took back the undoing of changes of yours" if restored.redoes else "took back changes of yours"
    if restored.takes:
        deed = "took the changes of that attempt over into the project"
    more = f" and {len(paths) - _MOST_PATHS} more" if len(paths) > _MOST_PATHS else ""
    return (
        f"The user {deed}, so read these files again before you rely on them: {', '.join(paths[:_MOST_PATHS])}{more}."
    )
