"""How far a command may reach in the sandbox: by its words, by rules, and by what the model asks for."""

from pathlib import Path

import pytest

from claw_acp.contracts.tool import Reach, RunsCommand
from claw_acp.core.mode import Mode
from claw_acp.security.policy import Decision, Policy, PolicyContext
from claw_acp.security.rules import parse_rule


def decided(
    line: str, project: Path, *, mode: Mode = "auto", wanted: Reach = "project", allow: str = "", deny: str = ""
) -> Decision:
    """The decision about a line where commands run in a sandbox."""
    rules = [parse_rule(deny, verdict="deny")] if deny else []
    rules += [parse_rule(allow, verdict="allow")] if allow else []
    context = PolicyContext(roots=(project,), home=Path("/home/ada"), commands="sandboxed")
    access = RunsCommand(line=line, cwd=project, reach=wanted)
    return Policy(rules).decide(tool="shell", accesses=(access,), mode=mode, context=context)


@pytest.mark.parametrize(("line", "verdict", "reach"), [
    ("ls -la", "allow", "reading"),
    ("cat a | sort", "allow", "reading"),
    ("cat /etc/hosts", "ask", "reading"),
    ("ls > list", "allow", "project"),
    ("make && ls", "allow", "project"),
    ("echo x > /tmp/never-there/x", "allow", "project"),
    ("git commit -m x", "allow", "project"),
    ("git clone ./a b", "allow", "project"),
    ("npm test", "allow", "project"),
    ("npm run install-hooks", "allow", "project"),
    ("npm ci", "allow", "network"),
    ("npm ci --offline", "allow", "project"),
    ("python3 -m pip install x", "allow", "network"),
    ("uv pip install x", "allow", "network"),
    ("curl -sS https://example.org", "allow", "network"),
    ("git clone https://example.org/x", "allow", "network"),
    ("git push", "ask", "machine"),
    ("git config user.name x", "ask", "machine"),
    ("git branch -u origin/main", "ask", "machine"),
    ("npm publish", "ask", "machine"),
    ("docker ps", "ask", "machine"),
    ("kubectl get pods", "ask", "machine"),
    ("kill 1", "ask", "machine"),
    ("sudo ls", "ask", "machine"),
    ("touch ~/x", "ask", "machine"),
    ("ls && docker ps", "ask", "machine"),
])  # fmt: skip
def test_a_command_reaches_as_far_as_its_words_say(line: str, verdict: str, reach: Reach, tmp_path: Path) -> None:
    found = decided(line, tmp_path)
    assert (found.verdict, found.reach) == (verdict, reach)


@pytest.mark.parametrize(("line", "wanted", "allow", "verdict", "reach"), [
    ("make", "machine", "", "ask", "machine"),
    ("make", "machine", "shell(make)", "ask", "machine"),
    ("make", "machine", "outside(make)", "allow", "machine"),
    ("make", "project", "outside(make)", "allow", "machine"),
    ("make", "network", "", "allow", "network"),
    ("ls", "machine", "", "ask", "machine"),
    ("ls", "network", "", "allow", "reading"),
    ("docker ps", "project", "shell(docker ps)", "allow", "machine"),
    ("docker ps | sort", "project", "outside(docker ps)", "ask", "machine"),
    ("make && docker ps", "project", "outside(docker ps)", "ask", "machine"),
    ("echo $(make)", "machine", "", "ask", "machine"),
])  # fmt: skip
def test_outside_of_the_sandbox_everything_in_a_line_was_agreed_to(
    line: str, wanted: Reach, allow: str, verdict: str, reach: Reach, tmp_path: Path
) -> None:
    found = decided(line, tmp_path, wanted=wanted, allow=allow)
    assert (found.verdict, found.reach) == (verdict, reach)


def test_an_answer_about_outside_stores_a_rule_about_outside(tmp_path: Path) -> None:
    assert decided("make x", tmp_path, wanted="machine").remember == ("outside(make x)",)


def test_a_refusal_of_outside_leaves_the_sandbox(tmp_path: Path) -> None:
    assert decided("make", tmp_path, deny="outside").verdict == "allow"
    assert decided("make", tmp_path, deny="outside", wanted="machine").verdict == "deny"
    assert decided("docker ps", tmp_path, deny="outside").verdict == "deny"


@pytest.mark.parametrize("wanted", ["project", "network", "machine"])
@pytest.mark.parametrize("line", ["make", "touch x", "docker ps", "curl https://example.org"])
def test_plan_mode_runs_nothing_that_does_more_than_read(line: str, wanted: Reach, tmp_path: Path) -> None:
    found = decided(line, tmp_path, mode="plan", wanted=wanted, allow=f"outside({line})")
    assert found.verdict == "deny"
