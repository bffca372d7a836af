"""A whole run: collect facts, run every check, judge all frames."""

import os
from collections.abc import Awaitable, Callable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio

from claw_acp.core.value import Value
from claw_acp.verify.agent_pool import AgentPool, Options
from claw_acp.verify.check import Check
from claw_acp.verify.check_run import CheckRun
from claw_acp.verify.checks.table import CHECKS
from claw_acp.verify.discovery import meet
from claw_acp.verify.monitors.observation import Observation, judged
from claw_acp.verify.monitors.table import MONITORS, RULES
from claw_acp.verify.rule import CannotStart, Failed, NotJudged, Rule, Verdict

AT_ONCE = 2 + min(os.cpu_count() or 1, 6)  # checks under way at a time, each with an agent of its own
MOST_TIMEOUTS = 12  # timeouts that one check may take altogether

Told = Callable[[Verdict], None]
_Judged = TypeVar("_Judged")


class Report(Value):
    """The result of a run: a verdict on every rule, in the order of the tables."""

    verdicts: tuple[Verdict, ...]
    agent: str
    protocol: int


def rules(protocol: int = 1) -> tuple[Rule, ...]:
    """Every rule, in the order of the report."""
    return (*RULES[protocol], *(check.rule for check in CHECKS[protocol]))


async def examine(options: Options, *, scratch: Path, only: Sequence[str] = (), told: Told | None = None) -> Report:
    """Check an agent.

    Args:
        options: The options.
        scratch: A directory for files of our own.
        only: Patterns of rule ids; all rules when empty.
        told: Called with each verdict.

    Raises:
        CannotStart: The agent cannot be started.
    """
    verdicts: dict[str, Verdict] = {}

    def tell(verdict: Verdict) -> None:
        verdicts[verdict.rule.id] = verdict
        if told is not None:
            told(verdict)

    pool = AgentPool(options, scratch=scratch, mark=f"verify-{os.getpid()}-{id(verdicts):x}")
    checks = [check for check in CHECKS[options.protocol] if wanted(check.rule.id, only)]
    trouble = await _drive(pool, checks, tell=tell)
    if trouble is not None:
        raise trouble
    for verdict in _look_back(pool, [rule for rule in RULES[options.protocol] if wanted(rule.id, only)]):
        tell(verdict)
    ordered = tuple(verdicts[rule.id] for rule in rules(options.protocol) if rule.id in verdicts)
    return Report(verdicts=ordered, agent=pool.facts.name, protocol=options.protocol)


async def _drive(pool: AgentPool, checks: Sequence[Check], *, tell: Told) -> CannotStart | None:
    """Run the checks and end every agent; returns the error if none could be started."""
    trouble = None
    async with anyio.create_task_group() as tasks:
        pool.tasks = tasks
        try:
            await meet(pool)
            await _try_all(pool, checks, tell=tell)
            await pool.close()
        except CannotStart as error:
            trouble = error
        finally:
            with anyio.CancelScope(shield=True):
                await pool.kill()
        tasks.cancel_scope.cancel()
    return trouble


def wanted(rule_id: str, only: Sequence[str]) -> bool:
    """Return whether a rule has one of these patterns; every rule does if there are none."""
    return not only or any(fnmatchcase(rule_id, pattern) for pattern in only)


async def judge_all(
    waiting: list[_Judged], judge: Callable[[_Judged], Awaitable[Verdict]], *, at_once: int, tell: Told
) -> None:
    """Judge each, so many at a time."""

    async def work() -> None:
        while waiting:
            tell(await judge(waiting.pop(0)))

    async with anyio.create_task_group() as tasks:
        for _ in range(at_once):
            tasks.start_soon(work)


# ------------------------------------------------------------------ checks


async def _try_all(pool: AgentPool, checks: Sequence[Check], *, tell: Told) -> None:
    judge = partial(_judge, pool)
    await judge_all([check for check in checks if not check.alone], judge, at_once=AT_ONCE, tell=tell)
    await judge_all([check for check in checks if check.alone], judge, at_once=1, tell=tell)


async def _judge(pool: AgentPool, check: Check) -> Verdict:
    """Run a check; a failure on a reused connection counts only if it occurs again on a new one."""
    for need in check.needs:
        if (missing := need(pool)) is not None:
            return Verdict(rule=check.rule, outcome=missing.outcome, reason=missing.reason)
    attempt = CheckRun(pool, reuse=True)
    verdict = await _attempt(check, attempt)
    if verdict.outcome != "pass" and attempt.reused:
        verdict = await _attempt(check, CheckRun(pool, reuse=False))
    return verdict


async def _attempt(check: Check, attempt: CheckRun) -> Verdict:
    rule = check.rule
    try:
        with anyio.fail_after(MOST_TIMEOUTS * attempt.options.timeout):
            await check.trial(attempt)
    except Failed as failed:
        story = attempt.story()
        return Verdict(rule=rule, outcome="fail", reason=failed.reason, frames=failed.frames, story=story)
    except NotJudged as without:
        return Verdict(rule=rule, outcome=without.outcome, reason=without.reason, story=attempt.story())
    except CannotStart as error:
        return Verdict(rule=rule, outcome="not tried", reason=error.message)
    except TimeoutError:
        return Verdict(rule=rule, outcome="fail", reason="it took too long altogether", story=attempt.story())
    return Verdict(rule=rule, outcome="pass")


# ------------------------------------------------------------------ everything that was said


def _look_back(pool: AgentPool, wanted: Sequence[Rule]) -> list[Verdict]:
    seen: dict[str, list[Observation]] = {rule.id: [] for rule in wanted}
    for monitor in MONITORS[pool.options.protocol]:
        for observation in monitor(pool.agents):
            if observation.rule in seen:
                seen[observation.rule].append(observation)
    return [judged(rule, seen[rule.id]) for rule in wanted]
