"""A check: a rule, its preconditions, and the trial."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeAlias

from claw_acp.core.value import Value
from claw_acp.verify.check_run import CheckRun
from claw_acp.verify.needs import Need
from claw_acp.verify.rule import Level, Rule

Trial: TypeAlias = Callable[[CheckRun], Awaitable[None]]


class Check(Value):
    """A check of one rule.

    Attributes:
        rule: The rule.
        trial: Returns if the rule was kept, and raises `Failed` or `NotJudged` otherwise.
        needs: Its preconditions.
        alone: Whether it disturbs other checks, and so runs after them.
        versions: Versions of the protocol.
    """

    rule: Rule
    trial: Trial
    needs: tuple[Need, ...] = ()
    alone: bool = False
    versions: tuple[int, ...] = (1, 2)


def must(
    rule_id: str,
    *needs: Need,
    source: str,
    cases: tuple[int, ...] = (),
    level: Level = "MUST",
    alone: bool = False,
    versions: tuple[int, ...] = (1, 2),
) -> Callable[[Trial], Check]:
    """Make a check of a binding rule: the rule is the trial's docstring."""

    def make(trial: Trial) -> Check:
        text = " ".join((trial.__doc__ or "").split())
        rule = Rule(id=rule_id, level=level, text=text, source=source, cases=cases)
        return Check(rule=rule, trial=trial, needs=needs, alone=alone, versions=versions)

    return make


should = partial(must, level="SHOULD")
"""Makes a check of a rule that allows exceptions."""
advice = partial(must, level="advice")
"""Makes a check of behaviour that helps clients."""


def checks_in(module: Mapping[str, object]) -> tuple[Check, ...]:
    """The checks a module defines, in order."""
    return tuple(value for value in module.values() if isinstance(value, Check))


ONLY_1 = (1,)
"""The versions of a check that does not apply to protocol 2, or applies differently."""
