"""The observations of monitors: a rule was kept in one place, or broken."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from claw_acp.core.value import Value
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.frames import Frame
from claw_acp.verify.rule import Rule, Verdict


class Observation(Value):
    """One place where a rule applied.

    Attributes:
        rule: Its id.
        reason: How it was broken, or empty.
        frames: The evidence.
    """

    rule: str
    reason: str = ""
    frames: tuple[Frame, ...] = ()


Monitor: TypeAlias = Callable[[Sequence[AgentConnection]], Iterator[Observation]]


def kept(rule: Rule) -> Observation:
    """The rule applied and was kept."""
    return Observation(rule=rule.id)


def broken(rule: Rule, reason: str, *frames: Frame) -> Observation:
    """The rule was broken."""
    return Observation(rule=rule.id, reason=reason, frames=frames)


def observed(rule: Rule, reason: str, *frames: Frame, fine: bool) -> Observation:
    """The rule applied, and was broken for this reason unless all is fine."""
    return kept(rule) if fine else broken(rule, reason, *frames)


def judged(rule: Rule, observations: Sequence[Observation]) -> Verdict:
    """The verdict on a rule from all its observations."""
    faults = [observation for observation in observations if observation.reason]
    if faults:
        more = f" (and {len(faults) - 1} more times)" if len(faults) > 1 else ""
        return Verdict(rule=rule, outcome="fail", reason=faults[0].reason + more, frames=faults[0].frames)
    if not observations:
        return Verdict(rule=rule, outcome="not tried", reason="nothing of the kind was seen")
    return Verdict(rule=rule, outcome="pass")
