"""The decision whether a program of the settings may run that acts by itself for long, such as another agent.

Its words tell nothing of what it will do. What counts is how far its sandbox lets it reach; what it asks us for is
judged by itself.
"""

from collections.abc import Sequence
from typing import Final

from claw_acp.contracts.tool import RunsCommand
from claw_acp.core.mode import Mode
from claw_acp.core.value import replace
from claw_acp.security.command_paths import PolicyContext
from claw_acp.security.command_risk import Assessment
from claw_acp.security.command_rules import CommandRules, shown_command
from claw_acp.security.rules import Rule
from claw_acp.security.shell_syntax import parse
from claw_acp.security.verdicts import PLAN_ONLY_READS, Finding, by_rule

_OPEN: Final = "in the sandbox, from which its settings let it reach every host"


def judge_program(
    access: RunsCommand, *, tool: str, rules: Sequence[Rule], mode: Mode, context: PolicyContext
) -> Finding:
    """The finding about one such program; rules about its command line count."""
    found = _judged(access, tool=tool, rules=rules, mode=mode, context=context)
    opens = access.needs is not None and access.needs.open_network and access.reach == "network"
    return replace(found, place=_OPEN) if opens else found


def _judged(access: RunsCommand, *, tool: str, rules: Sequence[Rule], mode: Mode, context: PolicyContext) -> Finding:
    line, reach = parse(access.line), access.reach
    command = line.commands[0]
    known = CommandRules(access, line=line, plain=True, tool=tool, rules=rules, context=context)
    shown, risk = shown_command(command), Assessment(level="low", reason="")
    limits = list(known.limits(command, risk=risk, reach=reach))
    for rule, match in limits:
        if rule.verdict == "deny" and match == "yes":
            return by_rule(rule, shown)
    confined = context.commands == "sandboxed" and reach != "machine"
    if mode == "plan" and not confined:
        return Finding(verdict="deny", reason=f"{PLAN_ONLY_READS}; {shown} would run outside of a sandbox")
    for rule, _ in limits:
        return by_rule(rule, shown, verdict="ask", reach=reach)
    outside = context.commands == "sandboxed" and not confined
    allowing = known.allowing(command, outside=False, reach="machine" if outside else "project")
    if allowing is not None:
        return by_rule(allowing, shown, reach=reach)
    if mode == "auto" and (confined or (context.commands == "open" and not outside)):
        return Finding(verdict="allow", reason=f"{shown} is allowed in auto mode", reach=reach)
    changes = "it changes nothing of the project by itself" if confined and mode != "edit" else "it acts by itself"
    remember = known.remembered(command, tool="outside" if outside else "shell")
    return Finding(verdict="ask", reason=f"{shown} is another program: {changes}", remember=remember, reach=reach)
