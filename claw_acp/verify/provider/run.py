"""A whole run of the vectors against a provider program."""

from collections.abc import Sequence
from functools import partial

from claw_acp.core.value import replace
from claw_acp.verify.provider.player import Settings, play
from claw_acp.verify.provider.vector import MODES, Mode, Vector
from claw_acp.verify.provider.vectors import BY_ID, VECTORS
from claw_acp.verify.rule import CannotStart, Failed, Rule, Verdict
from claw_acp.verify.run import Report, Told, judge_all, wanted

AT_ONCE = 4  # programs running at a time
INTRODUCTION = 3.0  # seconds for the answer to `initialize`, after which a program is taken to be one-shot
UNASKED = "only for programs with the reference model: --reference"
GREETING = "session.initialize"
SOURCE = "protocol-schemas/provider"


def rules() -> tuple[Rule, ...]:
    """Every rule, in the order of the report."""
    return tuple(map(_rule, VECTORS))


async def examine(
    settings: Settings,
    *,
    modes: Sequence[Mode] | None = None,
    reference: bool = False,
    only: Sequence[str] = (),
    told: Told | None = None,
) -> Report:
    """Play every selected vector.

    Args:
        settings: The program, its environment and timeout.
        modes: The modes to check; None: one-shot, and sessions if it answers `initialize`.
        reference: Whether the program has the reference model of the specification.
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

    name, silence = await _meet(settings if modes else replace(settings, timeout=min(settings.timeout, INTRODUCTION)))
    tried = modes or (("oneshot",) if silence else ("session", "oneshot"))
    asked = [vector for vector in VECTORS if vector.mode in tried and wanted(vector.id, only)]
    if not asked:
        raise CannotStart(_nothing(only, tried, silence))
    waiting: list[Vector] = []
    for vector in asked:
        if vector.model == "reference" and not reference:
            tell(Verdict(rule=_rule(vector), outcome="skipped", reason=UNASKED))
        else:
            waiting.append(vector)
    await judge_all(waiting, partial(_judge, settings), at_once=AT_ONCE, tell=tell)
    ordered = tuple(verdicts[vector.id] for vector in asked)
    how = " and ".join(tried) if modes or not silence else f"oneshot, as it did not introduce itself: {silence}"
    return Report(verdicts=ordered, agent=f"{name} ({how})", protocol=1)


def _nothing(only: Sequence[str], tried: Sequence[Mode], silence: str) -> str:
    """The reason there is nothing to check."""
    if len(tried) == len(MODES):
        return f"no rule is called {' or '.join(only)}; --list shows them all"
    return (
        f"no rule of the mode {tried[0]} is called {' or '.join(only)}. The program did not introduce itself "
        f"({silence}), so it is taken to be one-shot; --mode session checks it as a session plugin"
    )


async def _meet(settings: Settings) -> tuple[str, str]:
    """The program's name, and the reason it is no session plugin; empty if it is."""
    try:
        frames = await play(BY_ID[GREETING], settings)
    except Failed as failed:
        return "a program", failed.reason
    name = next((frame.result.get("pluginInfo") for frame in frames if frame.is_answer), None)
    return str(name["name"]) if isinstance(name, dict) else "a program", ""


async def _judge(settings: Settings, vector: Vector) -> Verdict:
    try:
        await play(vector, settings)
    except Failed as failed:
        return Verdict(rule=_rule(vector), outcome="fail", reason=failed.reason, frames=failed.frames)
    return Verdict(rule=_rule(vector), outcome="pass")


def _rule(vector: Vector) -> Rule:
    return Rule(id=vector.id, level=vector.level, text=vector.text, source=SOURCE)
