"""The program under test: which lines the policy lets run unasked, and the environment it runs them in."""

from collections.abc import Sequence
from pathlib import Path

from claw_acp.contracts.tool import RunsCommand
from claw_acp.security.policy import Decision, Mode, Policy, PolicyContext
from claw_acp.security.read_only.environment import look_environment
from claw_acp.workspace.environment import command_environment
from tests.fuzz.commands import tree

MODES: Sequence[Mode] = ("plan", "ask", "edit")
"""Those in which nothing may happen unasked but reading."""


_POLICY = Policy()
_USERS_OWN = {
    "HOME": str(tree.HOME),
    "USER": "somebody",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "SHELL": "/bin/bash",
    "ANTHROPIC_API_KEY": tree.CANARY,
    "FORGE_TOKEN": f"{tree.CANARY}-forge",
}


def decide(line: str, *, mode: Mode, cwd: Path) -> Decision:
    """What the policy says to a line of the shell tool in a project, with `home` beside it."""
    context = PolicyContext(roots=(cwd,), home=cwd.parent / "home", protected=())
    return _POLICY.decide(tool="shell", accesses=[RunsCommand(line=line, cwd=cwd)], mode=mode, context=context)


def unasked(line: str, *, cwd: Path) -> tuple[Mode, ...]:
    """The modes in which a line runs without a question because it only reads."""
    allowed: list[Mode] = [mode for mode in MODES if decide(line, mode=mode, cwd=cwd).verdict == "allow"]
    # What only `edit` allows says that it writes a file of the project.
    return () if allowed == ["edit"] else tuple(allowed)


def looking(programs: Sequence[str], *, cwd: Path) -> tuple[str, ...]:
    """Those programs that run unasked with nothing, or with what programs that read are usually given."""
    ordinary = ("", " README.md", " --version", " x README.md", " -n 1p README.md", " log")
    return tuple(
        name
        for name in programs
        if any(decide(name + words, mode="ask", cwd=cwd).verdict == "allow" for words in ordinary)
    )


def environment(line: str) -> dict[str, str]:
    """What a command sees of the environment of a user who pays for a model and works with a forge."""
    seen = command_environment(_USERS_OWN, extra={})
    return {**seen, **look_environment(line, inherited=seen)}
