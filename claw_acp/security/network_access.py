"""The decision on a connection of a confined command: by rules, else by a person."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

import anyio

from claw_acp.net.proxy.destination import DEFAULT_PORTS, Destination
from claw_acp.net.proxy.verdict import Verdict
from claw_acp.security.host_pattern import HostPattern
from claw_acp.security.rules import Rule
from claw_acp.security.verdicts import Decision, Finding, by_rule, strictest, usable

Ask: TypeAlias = Callable[[Decision], Awaitable[bool]]
"""Puts a decision that asks to a person; returns whether the connection may be made."""


MOST_ASKED: Final = 10
"""Questions about one command; more would be agreed to without reading."""


class NetworkAccess:
    """Decides on the destinations of one command.

    Args:
        rules: All rules in force; those about `network` count.
        ask: Asks where no rule decides; without it such a connection is refused.
    """

    def __init__(self, rules: Sequence[Rule], *, ask: Ask | None = None) -> None:
        self._rules = [rule for rule in rules if rule.tool == "network"]
        self._ask = ask
        self._answers: dict[str, bool] = {}
        self._asking = anyio.Lock()

    async def decide(self, destination: Destination) -> Verdict:
        """The verdict, as the proxy wants it. Only a rule opens a private network."""
        rule = self._deciding(destination)
        decision = judged(destination, rule)
        if decision.verdict != "ask":
            return Verdict(
                allowed=decision.verdict == "allow",
                rule=decision.rule or "",
                private=rule is not None and isinstance(rule.pattern, HostPattern) and rule.pattern.private,
                reason=decision.reason,
            )
        if destination.host == "localhost" or destination.host.endswith(".localhost"):
            reason = f"{destination.host} is this machine, to which only a rule of yours opens the way."
            return Verdict(allowed=False, remedy=destination.private_rule, reason=reason)
        allowed = await self._answer(decision, to=destination.rule)
        return Verdict(allowed=allowed, rule=decision.rule or "", remedy=destination.rule, reason=decision.reason)

    async def _answer(self, decision: Decision, *, to: str) -> bool:
        """The answer to one question at a time, asked once for what one rule would cover."""
        async with self._asking:
            if to not in self._answers and self._ask is not None and len(self._answers) < MOST_ASKED:
                self._answers[to] = await self._ask(decision)
            return self._answers.get(to, False)

    def _deciding(self, destination: Destination) -> Rule | None:
        """The rule that decides: refusals come before questions, questions before permissions."""
        covering = [rule for rule in self._rules if _covers(rule, destination)]
        return next(
            (rule for verdict in ("deny", "ask", "allow") for rule in covering if rule.verdict == verdict), None
        )


def judged(destination: Destination, rule: Rule | None) -> Decision:
    """The decision on a destination by the rule that covers it, if there is one."""
    if rule is not None:
        return strictest([by_rule(rule, f"connecting to {destination.named}")])
    reason = f"it connects to {destination.named}, which no rule allows"
    return strictest([Finding(verdict="ask", reason=reason, remember=usable([destination.rule]))])


def _covers(rule: Rule, destination: Destination) -> bool:
    """Return whether a rule is about a destination: without a port, a permission is about the usual ones only."""
    if not isinstance(rule.pattern, HostPattern):
        return rule.pattern is None
    if rule.pattern.port is None:
        ports = destination.port in DEFAULT_PORTS or rule.verdict != "allow"
    else:
        ports = destination.port == rule.pattern.port
    return ports and rule.pattern.covers(destination.host)
