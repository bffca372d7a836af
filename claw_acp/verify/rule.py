"""The rules that are judged, and the verdicts on them."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from claw_acp.core.errors import ClawError
from claw_acp.core.value import Value

if TYPE_CHECKING:
    from claw_acp.verify.frames import Frame

Level = Literal["MUST", "SHOULD", "advice"]
Outcome = Literal["pass", "fail", "skipped", "not tried"]


class Rule(Value):
    """One rule of the protocol.

    Attributes:
        id: `area.what-holds`, as reports and `--only` name it.
        level: How binding it is. `advice` helps clients although no text demands it.
        text: The rule, in one sentence.
        source: Its source: a page of the protocol's documentation, JSON-RPC 2.0, or an id of the official TCK.
        cases: Numbers in this project's list of tricky cases.
    """

    id: str
    level: Level
    text: str
    source: str
    cases: tuple[int, ...] = ()


def must(rule_id: str, *, source: str, text: str, cases: tuple[int, ...] = (), level: Level = "MUST") -> Rule:
    """A binding rule."""
    return Rule(id=rule_id, level=level, text=text, source=source, cases=cases)


should = partial(must, level="SHOULD")
"""Makes a rule that allows exceptions."""
advice = partial(must, level="advice")
"""Makes a rule of behaviour that helps clients."""


class Verdict(Value):
    """The verdict on a rule.

    Attributes:
        rule: The rule.
        outcome: `skipped`: it does not apply to this agent, or needs an option that was not given; `not tried`: a
            precondition failed, or nothing happened that shows it.
        reason: The reason, unless it passed.
        frames: The frames that show a failure, in order.
        story: All frames of the failed check.
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
    """A check is not tried because a precondition failed, which another check covers."""


class Failed(Exception):
    """The agent broke the rule that is being checked."""

    def __init__(self, reason: str, frames: "Sequence[Frame]" = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.frames = tuple(frames)


class Dead(Failed):
    """The agent does not answer any more."""
