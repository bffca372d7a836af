"""What a command left behind that other programs of the person would run: told at once, in auto mode moved aside."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from anyio import to_thread

from claw_acp.contracts.tool import ToolResult
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.events import PartContent
from claw_acp.core.markdown import code_span
from claw_acp.core.messages import TextPart
from claw_acp.core.value import replace
from claw_acp.security.guarded_survey import GuardedChange, Survey, changes, moved_aside, package_folders, survey
from claw_acp.security.shared_packages import shared_changes
from claw_acp.session.session import Session

STATE_KEY: Final = "sandbox.aftermath"
MOST_TOLD: Final = 20

_SHARED: Final = (
    "Since this command, files of packages have changed that are hard links to a store, so they have changed for all "
    "projects that use it. If that was not meant, empty the store and reinstall the packages; UV_LINK_MODE=copy (uv) "
    "and package-import-method=copy (pnpm) keep projects apart:"
)


class Aftermath:
    """The guarded places of a session's project, from command to command.

    Args:
        session: The session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._last: Survey | None = None
        self._left_running = False
        self._since = 0.0

    @classmethod
    def on(cls, session: Session) -> "Aftermath":
        """The one of a session."""
        found = session.tool_state.get(STATE_KEY, partial(cls, session))
        assert isinstance(found, cls)
        return found

    async def begin(self) -> None:
        """Look at the project before a command, unless a program in the background may have changed it since then."""
        if self._last is None or not self._left_running:
            self._since = SYSTEM_CLOCK.now()
            self._last = await to_thread.run_sync(survey, self._session.roots)

    async def told(self, result: ToolResult, *, moves: bool) -> ToolResult:
        """The result of the command with what it left behind; with `moves` that is moved aside."""
        before = self._last or {}
        now = await to_thread.run_sync(partial(survey, self._session.roots, known=before))
        self._last, self._left_running = now, bool(self._session.work.background())
        found = changes(before, now)
        shared = await to_thread.run_sync(partial(_shared, now, since=self._since))
        moved = [await to_thread.run_sync(moved_aside, change) if moves else None for change in found]
        if any(moved):
            self._last = await to_thread.run_sync(survey, self._session.roots)
        words = [*(_words(found, moved) if found else ()), *(_shared_words(shared) if shared else ())]
        if not words:
            return result
        note = TextPart(text="\n".join(words))
        content = result.content if result.content is not None else tuple(PartContent(part=p) for p in result.parts)
        return replace(result, parts=(*result.parts, note), content=(*content, PartContent(part=note)))


def _words(found: Sequence[GuardedChange], moved: Sequence[Path | None]) -> Sequence[str]:
    lines = ["Since this command there is something here that other programs of yours may run:", ""]
    for change, aside in list(zip(found, moved, strict=True))[:MOST_TOLD]:
        what = f"moved aside to {code_span(str(aside))}" if aside else "new" if change.appeared else "changed"
        lines.append(f"- {code_span(str(change.path))} ({what}): {change.reason}")
    return [*lines, *_more(found)]


def _shared(found: Survey, *, since: float) -> Sequence[Path]:
    return list(shared_changes(package_folders(found), since=since))


def _shared_words(shared: Sequence[Path]) -> Sequence[str]:
    return [_SHARED, "", *(f"- {code_span(str(path))}" for path in shared[:MOST_TOLD]), *_more(shared)]


def _more(found: Sequence[object]) -> Sequence[str]:
    return [f"- and {len(found) - MOST_TOLD} more"] if len(found) > MOST_TOLD else []
