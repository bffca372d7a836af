"""Git as tools, in real repositories, and what the policy says about each."""

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from claw_acp.contracts.tool import RunsCommand, Tool
from claw_acp.core.errors import InvalidArguments
from claw_acp.core.json_value import JsonObject
from claw_acp.core.mode import Mode
from claw_acp.security.policy import Decision, Policy, PolicyContext
from claw_acp.security.rules import Rule, RuleVerdict, parse_rule
from claw_acp.tools.git.changes import GitBranch, GitCommit, GitWorktree
from claw_acp.tools.git.looks import GitBlame, GitDiff, GitLog, GitStatus
from claw_acp.workspace.local import LocalWorkspace
from claw_acp.workspace.process_host import ProcessHost
from tests.support.tool_bench import Bench

WHO = {f"GIT_{who}_{what}": "Ann" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
ENVIRONMENT = {**os.environ, **WHO, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def _git(root: Path, *words: str) -> str:
    run = subprocess.run(["git", *words], cwd=root, env=ENVIRONMENT, check=True, capture_output=True, timeout=30)
    return run.stdout.decode()


def _repository(root: Path) -> Path:
    _git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("one\ntwo\n")
    (root / "b [x].txt").write_text("b\n")
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "first: begin")
    return root


@pytest.fixture
async def bench(root: Path) -> AsyncIterator[Bench]:
    async with ProcessHost(ENVIRONMENT) as host:
        with anyio.fail_after(30):
            yield Bench(LocalWorkspace([_repository(root)], processes=host))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that nothing changes."""
    return _repository(tmp_path_factory.mktemp("plain").resolve())


@pytest.fixture(scope="module")
def doubtful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that would have git run another program."""
    root = _repository(tmp_path_factory.mktemp("doubtful").resolve())
    _git(root, "config", "diff.external", "./evil")
    return root


def _verdicts(root: Path, tool: Tool, arguments: JsonObject, *rules: Rule) -> dict[Mode, RuleVerdict]:
    accesses = Bench.on(root).prepare(tool, **arguments).accesses
    context = PolicyContext(roots=(root,), home=root.parent / "home", protected=())
    modes: list[Mode] = ["plan", "ask", "auto"]
    decided: dict[Mode, Decision] = {
        mode: Policy(rules).decide(tool=tool.spec.name, accesses=accesses, mode=mode, context=context) for mode in modes
    }
    return {mode: decision.verdict for mode, decision in decided.items()}


def _line(bench: Bench, tool: Tool, arguments: JsonObject) -> str:
    (access,) = bench.prepare(tool, **arguments).accesses
    assert isinstance(access, RunsCommand)
    return access.line


async def test_the_state_differences_history_and_authors_are_shown(bench: Bench, root: Path) -> None:
    (root / "a.txt").write_text("one\n2\n")
    (root / "b [x].txt").write_text("c\n")
    (root / "new").write_text("")
    text = await bench.text(GitStatus())
    assert text.splitlines()[:4] == ["## main", " M a.txt", ' M "b [x].txt"', "?? new"]
    diff = await bench.text(GitDiff(), paths=["b [x].txt"])
    assert "+c" in diff
    assert "a.txt" not in diff
    assert "a.txt" in await bench.text(GitDiff(), revision="HEAD", summary=True)
    assert (await bench.text(GitDiff(), staged=True)).startswith("(no output)")
    log = await bench.text(GitLog(), limit=5, search="BEGIN", changes=True, paths=["a.txt"])
    assert "first: begin" in log
    assert "+two" in log
    assert "b [x]" not in log
    blame = await bench.text(GitBlame(), path="a.txt", line=1, limit=1)
    assert "(Ann" in blame
    assert "one" in blame
    assert "Not Committed" not in blame


async def test_commits_branches_and_working_trees_are_made(bench: Bench, root: Path) -> None:
    (root / "a.txt").unlink()
    (root / "new").write_text("'; touch owned; '")
    message = "second: don't $(touch owned)\n\nBecause.\n"
    result = await bench.call(GitCommit(), message=message, paths=["a.txt", "new"])
    assert not result.failed
    assert _git(root, "log", "-1", "--format=%B").strip() == message.strip()
    assert _git(root, "show", "--name-status", "--format=").split() == ["D", "a.txt", "A", "new"]
    await bench.call(GitBranch(), action="create", name="topic", start="HEAD~1")
    assert _git(root, "branch", "--show-current").strip() == "topic"
    await bench.call(GitBranch(), action="switch", name="main")
    assert "topic" in await bench.text(GitBranch())
    await bench.call(GitWorktree(), action="add", path="../tree", branch="topic")
    await bench.call(GitWorktree(), action="add", path="../other", branch="fresh", create=True)
    assert "[fresh]" in await bench.text(GitWorktree())
    for name in ("tree", "other"):
        await bench.call(GitWorktree(), action="remove", path=f"../{name}")
    assert not (await bench.call(GitBranch(), action="delete", name="topic")).failed
    assert _git(root, "worktree", "list").count("\n") == 1
    assert not (root / "owned").exists()


LOOKS: list[tuple[Tool, JsonObject]] = [
    (GitStatus(), {}),
    (GitStatus(), {"paths": ["a.txt", "b [x].txt"]}),
    (GitDiff(), {}),
    (GitDiff(), {"staged": True, "summary": True}),
    (GitDiff(), {"revision": "main~1..HEAD", "paths": ["a.txt"]}),
    (GitLog(), {}),
    (GitLog(), {"changes": True, "search": "it's", "author": "Ann B.", "since": "2.weeks.ago", "revision": "main"}),
    (GitBlame(), {"path": "a.txt", "line": 2, "revision": "HEAD"}),
    (GitBranch(), {}),
    (GitWorktree(), {}),
]
CHANGES: list[tuple[Tool, JsonObject]] = [
    (GitCommit(), {"message": "all"}),
    (GitCommit(), {"message": "all", "paths": ["."]}),
    (GitBranch(), {"action": "create", "name": "x"}),
    (GitBranch(), {"action": "switch", "name": "x"}),
    (GitBranch(), {"action": "delete", "name": "x"}),
    (GitWorktree(), {"action": "add", "path": "../x", "branch": "x"}),
    (GitWorktree(), {"action": "remove", "path": "../x"}),
]


@pytest.mark.parametrize(("tool", "arguments"), LOOKS)
def test_looks_are_never_asked_about_unless_git_might_run_other_programs(
    plain: Path, doubtful: Path, tool: Tool, arguments: JsonObject
) -> None:
    assert _verdicts(plain, tool, arguments) == {"plan": "allow", "ask": "allow", "auto": "allow"}
    assert _verdicts(doubtful, tool, arguments)["ask"] == "ask"


@pytest.mark.parametrize(("tool", "arguments"), CHANGES)
def test_changes_are_asked_about_and_refused_in_plan_mode(plain: Path, tool: Tool, arguments: JsonObject) -> None:
    verdicts = _verdicts(plain, tool, arguments)
    assert (verdicts["plan"], verdicts["ask"]) == ("deny", "ask")


@pytest.mark.parametrize(
    ("rule", "tool", "arguments"),
    [
        ("shell(git log)", GitLog(), {"paths": ["a.txt"]}),
        ("shell(git add)", GitCommit(), {"message": "m", "paths": ["a.txt"]}),
        ("shell(git commit)", GitCommit(), {"message": "m", "paths": ["a.txt"]}),
        ("shell(git branch --delete)", GitBranch(), {"action": "delete", "name": "x"}),
        ("git_commit", GitCommit(), {"message": "m"}),
    ],
)
def test_rules_about_commands_and_about_the_tool_hold(
    plain: Path, rule: str, tool: Tool, arguments: JsonObject
) -> None:
    assert _verdicts(plain, tool, arguments, parse_rule(rule, verdict="deny"))["auto"] == "deny"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (GitDiff(), {"revision": "--output=/etc/passwd"}),
        (GitDiff(), {"revision": "HEAD --output=x"}),
        (GitLog(), {"revision": "-p"}),
        (GitBranch(), {"action": "create", "name": "--force"}),
        (GitBranch(), {"action": "create", "name": "x", "start": "-f"}),
        (GitBranch(), {"action": "switch"}),
        (GitWorktree(), {"action": "add", "path": "x"}),
        (GitWorktree(), {"action": "add", "path": "x", "branch": "--force"}),
    ],
)
def test_no_argument_becomes_an_option(plain: Path, tool: Tool, arguments: JsonObject) -> None:
    with pytest.raises(InvalidArguments):
        Bench.on(plain).prepare(tool, **arguments)


def test_arguments_stay_arguments(plain: Path) -> None:
    line = _line(Bench.on(plain), GitLog(), {"search": "$(x) `y`; z", "paths": ["-p", "*"]})
    assert line == (
        "git --literal-pathspecs log -n 20 --date=iso '--format=%h %ad %an%d%n    %s' '--grep=$(x) `y`; z' "
        "--fixed-strings -i -- -p '*'"
    )


async def test_git_says_what_is_wrong(bench: Bench) -> None:
    result = await bench.call(GitLog(), revision="nowhere")
    assert result.failed
    assert "unknown revision" in await bench.text(GitLog(), revision="nowhere")
