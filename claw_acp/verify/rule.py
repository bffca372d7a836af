"""The rules that are judged, and the verdicts on them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from claw_acp.core.errors import ClawError
from claw_acp.core.value import Value

if TYPE_CHECKING:
    from claw_acp.verify.frames import Frame

Level = Literal["MUST", "SHOULD", "advice"]
Outcome = Literal["pass", "fail", "skipped", "not tried"]


class Rule(Value):
    """One thing an agent has to do.

    Attributes:
        id: `area.what-holds`, as reports and `--only` name it.
        level: How binding it is. `advice` is what clients profit from although no text demands it.
        text: The rule, in one sentence.
        source: Where it stands: a page of the protocol's documentation, JSON-RPC 2.0, or an id of the official TCK.
        cases: Numbers in this project's list of tricky cases.
    """

    id: str
    level: Level
    text: str
    source: str
    cases: tuple[int, ...] = ()


class Verdict(Value):
    """The verdict on a rule.

    Attributes:
        rule: Which.
        outcome: `skipped`: it does not apply to this agent, or needs an option that was not given; `not tried`: what it
            builds on did not work, or nothing happened that it could be judged by.
        reason: Why, unless it passed.
        frames: The frames that show a failure, in order.
        story: Everything that was said when it failed.
    """

    rule: Rule
    outcome: Outcome
    reason: str = ""
    frames: "tuple[Frame, ...]" = ()
    story: "tuple[Frame, ...]" = ()


class CannotStart(ClawError):
    """The program that should be checked cannot be started."""

    code = -31210


class NotJudged(Exception):
    """A check ends without a verdict on the agent."""

    outcome: Outcome = "not tried"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Skipped(NotJudged):
    """The rule does not apply here."""

    outcome: Outcome = "skipped"


class NotTried(NotJudged):
    """A check is not tried because what it builds on did not work; that is the business of another check."""


class Failed(Exception):
    """The agent broke the rule that is being checked."""

    def __init__(self, reason: str, frames: "Sequence[Frame]" = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.frames = tuple(frames)


class Dead(Failed):
    """The agent does not answer any more."""
