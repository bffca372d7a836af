"""Whether another agent may run: its sandbox counts, and what the person said, not the words of its command."""

import pytest

from claw_acp.contracts.sandbox import ProgramNeeds
from claw_acp.contracts.tool import Reach, RunsCommand
from claw_acp.core.value import replace
from claw_acp.security.policy import Mode, Policy
from tests.security.conftest import House, rules

MODES: tuple[Mode, ...] = ("plan", "ask", "edit", "auto")
LETTER = {"allow": "a", "ask": "?", "deny": "x"}
LINE = "npx some-agent --flag 'a b'"


def verdicts(house: House, *, commands: str, reach: Reach, **rule: str) -> str:
    """The verdicts in all modes."""
    access = RunsCommand(line=LINE, cwd=house.root, reach=reach, stays=True, needs=ProgramNeeds())
    policy, context = Policy(rules(**{verdict: [text] for verdict, text in rule.items()})), house.context
    context = replace(context, commands=commands)
    decisions = [policy.decide(tool="delegate", accesses=[access], mode=mode, context=context) for mode in MODES]
    return "".join(LETTER[decision.verdict] for decision in decisions)


@pytest.mark.parametrize(
    ("commands", "reach", "rule", "expected"),
    [
        ("sandboxed", "project", {}, "???a"),
        ("sandboxed", "network", {}, "???a"),
        ("sandboxed", "machine", {}, "x???"),
        ("open", "network", {}, "x??a"),
        ("unprotected", "network", {}, "x???"),
        ("sandboxed", "network", {"allow": f"shell({LINE})"}, "aaaa"),
        ("sandboxed", "machine", {"allow": f"shell({LINE})"}, "x???"),
        ("sandboxed", "machine", {"allow": f"outside({LINE})"}, "xaaa"),
        ("unprotected", "network", {"allow": f"shell({LINE})"}, "xaaa"),
        ("sandboxed", "network", {"allow": "shell(npx other-agent)"}, "???a"),
        ("sandboxed", "network", {"ask": "shell(npx)"}, "????"),
        ("sandboxed", "network", {"deny": "shell(npx some-agent)"}, "xxxx"),
        ("sandboxed", "network", {"deny": "delegate"}, "xxxx"),
    ],
)
def test_it_is_decided_by_its_sandbox_its_rules_and_the_mode(
    house: House, commands: str, reach: Reach, rule: dict[str, str], expected: str
) -> None:
    assert verdicts(house, commands=commands, reach=reach, **rule) == expected
