"""Command lines in a sandbox, as sessions run them: with caches of the project, without network."""

from collections.abc import Mapping
from pathlib import Path

from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.core.value import replace
from claw_acp.process.blocking import BlockingChild, Ended
from claw_acp.sandbox.backend import SandboxBackend
from claw_acp.sandbox.caches import project_caches
from tests.support.toolchain import ENVIRONMENT

GUARDED = (".git/hooks", ".git/config", ".git/commondir", ".mcp.json", ".vscode", "HEAD")
WITHIN = 50.0  # seconds; compilers are slow on a busy machine


def guarded(project: Path, *more: Path) -> SandboxProfile:
    """The profile of a project that can be changed, but for what other programs trust; `more` can be changed, too."""
    return SandboxProfile(writable=(project, *more), read_only=tuple(project / name for name in GUARDED))


def run_inside(
    backend: SandboxBackend,
    line: str,
    *,
    cwd: Path,
    profile: SandboxProfile,
    **variables: str,
) -> Ended:
    """Run a command line in a sandbox; the project's caches are below the directory beside the working directory."""
    caches = project_caches(cwd, cache=cwd.parent / "cache", environ=ENVIRONMENT, offline=True)
    env: Mapping[str, str] = {**ENVIRONMENT, **caches.variables, **variables}
    confinement = backend.confine(replace(profile, writable=(*profile.writable, caches.directory)))
    try:
        child = BlockingChild(["bash", "-c", "--", line], env=env, cwd=cwd, sandbox=confinement)
        return child.finish(within=WITHIN)
    finally:
        confinement.release()
