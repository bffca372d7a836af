"""The rounds of one turn in which a model is shown new problems."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from claw_acp.codeintel.problem import Problem, listed
from claw_acp.contracts.tool import ToolResult
from claw_acp.core.events import Location, PartContent
from claw_acp.core.markdown import code_block
from claw_acp.core.messages import TextPart

MOST_ROUNDS: Final = 3
"""Times in a turn that a model is shown problems."""


class Rounds:
    """The count of rounds, and what was shown in the last one.

    Attributes:
        shown: The problems that the model was shown since it changed something.
        root: The directory from which paths are shown.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.shown: tuple[Problem, ...] = ()
        self.count = 0
        self._fresh = False

    @property
    def used_up(self) -> bool:
        """True when the model is not shown any more."""
        return self.count >= MOST_ROUNDS

    def begin(self) -> None:
        """Forget what was shown to a model that asked by itself."""
        self._fresh = False

    def take_news(self) -> bool:
        """Return whether problems were shown since the last call, which makes a round."""
        fresh, self._fresh = self._fresh, False
        self.count += fresh
        return fresh

    def result(self, problems: Sequence[Problem], *, clean: str) -> ToolResult:
        """Show new problems, as the result of a call; without any it says `clean`."""
        if not problems:
            return ToolResult(parts=(TextPart(text=clean),))
        self._fresh = True
        self.shown = (*self.shown, *problems)
        lines = listed(problems, root=self.root)
        last = " They will not be checked again in this turn." if self.count + 1 >= MOST_ROUNDS else ""
        told = f"Your changes in this turn brought new problems:\n\n{lines}\n\nMend them, or say why they stay.{last}"
        content = (PartContent(part=TextPart(text=code_block(lines))),)
        return ToolResult(parts=(TextPart(text=told),), content=content, failed=True)


def places(problems: Sequence[Problem]) -> tuple[Location, ...]:
    """The first problem of each file, as a place to go to."""
    lines = {problem.path: problem.line for problem in reversed(problems)}
    return tuple(Location(path=str(path), line=line or None) for path, line in lines.items())
