"""A whole run of the vectors of one role against a program that attaches."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from claw_acp.verify.endpoint.player import Settings, play
from claw_acp.verify.endpoint.vector import CheckedRole, Vector
from claw_acp.verify.endpoint.vectors import VECTORS
from claw_acp.verify.rule import CannotStart, Failed, Rule, Verdict
from claw_acp.verify.run import Report, Told, judge_all, wanted

AT_ONCE: Final = 4  # programs running at a time
UNASKED: Final = "only for the reference program: --reference"
SOURCE: Final = "protocol-schemas/endpoints"


def rules(role: CheckedRole) -> tuple[Rule, ...]:
    """Every rule of a role, in the order of the report."""
    return tuple(_rule(vector) for vector in VECTORS if vector.role == role)


async def examine(
    settings: Settings,
    *,
    role: CheckedRole,
    reference: bool = False,
    only: Sequence[str] = (),
    told: Told | None = None,
) -> Report:
    """Play every selected vector.

    Args:
        settings: The program, its environment and timeout.
        role: The role to check.
        reference: Whether it is a reference program of the specification.
        only: Patterns of rule ids; all when empty.
        told: Called with each verdict.

    Raises:
        CannotStart: The program cannot be started, or there is nothing to check.
    """
    verdicts: dict[str, Verdict] = {}

    def tell(verdict: Verdict) -> None:
        verdicts[verdict.rule.id] = verdict
        if told is not None:
            told(verdict)

    asked = [vector for vector in VECTORS if vector.role == role and wanted(vector.id, only)]
    if not asked:
        raise CannotStart(f"no rule is called {' or '.join(only)}; --list shows them all")
    name = await _meet(settings, asked[0].role)
    waiting: list[Vector] = []
    for vector in asked:
        if vector.reference and not reference:
            tell(Verdict(rule=_rule(vector), outcome="skipped", reason=UNASKED))
        else:
            waiting.append(vector)
    await judge_all(waiting, partial(_judge, settings), at_once=AT_ONCE, tell=tell)
    return Report(verdicts=tuple(verdicts[vector.id] for vector in asked), agent=f"{name} ({role})", protocol=1)


async def _meet(settings: Settings, role: CheckedRole) -> str:
    """The program's name."""
    greeting = next(vector for vector in VECTORS if vector.role == role)
    try:
        frames = await play(greeting, settings)
    except Failed:
        return "a program"
    info = next((frame.result.get("endpointInfo") for frame in frames if frame.is_answer), None)
    return str(info["name"]) if isinstance(info, dict) else "a program"


async def _judge(settings: Settings, vector: Vector) -> Verdict:
    try:
        await play(vector, settings)
    except Failed as failed:
        return Verdict(rule=_rule(vector), outcome="fail", reason=failed.reason, frames=failed.frames)
    return Verdict(rule=_rule(vector), outcome="pass")


def _rule(vector: Vector) -> Rule:
    return Rule(id=vector.id, level=vector.level, text=vector.text, source=SOURCE)
