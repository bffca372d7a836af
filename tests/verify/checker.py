"""Runs of the checker against the agents of `tests/verify/agents`."""

import os
from collections.abc import Sequence
from pathlib import Path

from claw_acp.verify.agent_pool import Options
from claw_acp.verify.run import Report, examine
from tests.support.program.forked_process import forked_python

AGENTS = Path(__file__).parent / "agents"
ROOT = AGENTS.parent.parent.parent
TIMEOUT = 2.0  # seconds for one answer; only an agent that hangs takes that long
LONG_TIMEOUT = 10.0  # seconds for one answer on a machine that is busy with something else
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR")


def minimal() -> tuple[str, ...]:
    """The command of the correct agent. Without `site`, which takes longer than all the rest of its start."""
    return forked_python(), "-S", "-s", str(AGENTS / "minimal.py")


def faulty(*faults: str) -> tuple[str, ...]:
    """The command of an agent with these faults."""
    return forked_python(), "-S", "-s", str(AGENTS / "faulty.py"), "--fault", ",".join(faults)


def minimal_v2(*faults: str) -> tuple[str, ...]:
    """The command of the agent for protocol 2, with these faults."""
    named = ("--fault", ",".join(faults)) if faults else ()
    return forked_python(), "-S", "-s", str(AGENTS / "minimal_v2.py"), *named


def environment(home: Path) -> dict[str, str]:
    """What the agents need."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "HOME": str(home), "PYTHONPATH": str(ROOT)}


async def checked(
    command: Sequence[str], folder: Path, *, only: Sequence[str] = (), within: float = TIMEOUT, protocol: int = 1
) -> Report:
    """Check an agent in a folder of its own."""
    home, project, scratch = folder / "home", folder / "project", folder / "scratch"
    for place in (home, project, scratch):
        place.mkdir(parents=True)
    (project / "a.txt").write_text("hello\n")
    options = Options(
        command=tuple(command),
        cwd=project,
        env=environment(home),
        timeout=within,
        prompt="hello",
        slow_prompt="slow",
        tool_prompt="tool",
        auth_method=None,
        allow_logout=True,
        protocol=protocol,
    )
    return await examine(options, scratch=scratch, only=only)


def failed(report: Report) -> dict[str, str]:
    """The rules that were broken, and how."""
    return {verdict.rule.id: verdict.reason for verdict in report.verdicts if verdict.outcome == "fail"}
