"""A check: a rule, its preconditions, and the trial."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from claw_acp.core.json_value import JsonValue
from claw_acp.core.value import Value
from claw_acp.verify.agent_pool import AgentPool
from claw_acp.verify.check_run import CheckRun
from claw_acp.verify.frames import Frame
from claw_acp.verify.rule import Failed, Level, NotJudged, NotTried, Rule, Skipped

Need: TypeAlias = Callable[[AgentPool], NotJudged | None]
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

# ------------------------------------------------------------------ what must be there


def greeted(pool: AgentPool) -> NotJudged | None:
    """The agent answers `initialize`."""
    return None if pool.facts.hello is not None else NotTried("the agent does not answer initialize")


def session(pool: AgentPool) -> NotJudged | None:
    """The agent opens sessions."""
    return greeted(pool) or (NotTried(pool.facts.no_session) if pool.facts.no_session else None)


def turn(pool: AgentPool) -> NotJudged | None:
    """The agent answers prompts."""
    return session(pool) or (NotTried(pool.facts.no_turn) if pool.facts.no_turn else None)


def slow(pool: AgentPool) -> NotJudged | None:
    """A slow prompt is known."""
    if pool.options.slow_prompt is None:
        return Skipped("give --slow-prompt TEXT, a prompt that keeps the agent busy")
    return session(pool)


def tool(pool: AgentPool) -> NotJudged | None:
    """A prompt is known that makes the agent ask for permission."""
    if pool.options.tool_prompt is None:
        return Skipped("give --tool-prompt TEXT, a prompt that makes the agent ask for permission")
    return session(pool)


def offers(path: str) -> Need:
    """The agent has this capability."""

    def need(pool: AgentPool) -> NotJudged | None:
        return greeted(pool) or (None if pool.facts.offers(path) else Skipped(f"{path} is not offered"))

    return need


def offers_not(path: str) -> Need:
    """The agent lacks this capability."""

    def need(pool: AgentPool) -> NotJudged | None:
        return greeted(pool) or (Skipped(f"{path} is offered") if pool.facts.offers(path) else None)

    return need


# ------------------------------------------------------------------ verdicts on answers


def must_succeed(answer: Frame, what: str) -> None:
    """Check that a request was answered with a result.

    Raises:
        Failed: It was answered with an error.
    """
    if answer.error is not None:
        code, message = answer.code, answer.error.get("message")
        raise Failed(f"{what} was answered with error {code}: {message}", exchange(answer))


def must_fail(answer: Frame, what: str, codes: Sequence[JsonValue] = ()) -> None:
    """Check that a request was answered with an error, of one of these codes if any are named.

    Raises:
        Failed: It was not.
    """
    if answer.error is None:
        raise Failed(f"{what} was answered with a result", exchange(answer))
    if codes and answer.code not in codes:
        wanted = " or ".join(str(code) for code in codes)
        raise Failed(f"{what} was answered with error {answer.code}, not {wanted}", exchange(answer))


def exchange(answer: Frame) -> list[Frame]:
    """An answer and its request."""
    return [answer.call.frame, answer] if answer.call else [answer]
