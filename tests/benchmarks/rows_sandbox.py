"""What a sandbox costs a command that does nothing."""

import os
import statistics
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns

import anyio

from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.process.child_process import running_child
from claw_acp.sandbox.backend import SandboxBackend
from claw_acp.sandbox.machine import findings, sandbox_of_this_machine
from tests.benchmarks.client import BenchmarkFailed
from tests.benchmarks.figures import Figure, Row, milliseconds
from tests.benchmarks.lab import Lab

GUARDED = (".git/hooks", ".git/config", ".vscode", ".claude", "node_modules/.bin")
HIDDEN = (".ssh", ".gnupg", ".aws", ".netrc", ".npmrc", ".docker", ".kube")


def _profile(project: Path) -> SandboxProfile:
    """The profile of a usual project."""
    for name in GUARDED:
        (project / name).mkdir(parents=True, exist_ok=True)
    guarded = tuple(project / name for name in GUARDED)
    return SandboxProfile(writable=(project,), read_only=guarded, unreadable=tuple(Path.home() / n for n in HIDDEN))


async def _true(project: Path, backend: SandboxBackend | None) -> float:
    """Nanoseconds until `true` has ended, with all that comes before and after."""
    before = perf_counter_ns()
    confinement = None if backend is None else backend.confine(_profile(project))
    async with running_child(["true"], cwd=project, sandbox=confinement) as child:
        code = await child.wait()
    if confinement is not None:
        confinement.release()
    if code != 0:
        raise BenchmarkFailed(f"`true` in a sandbox ends with code {code}")
    return float(perf_counter_ns() - before)


async def _measured(runs: int) -> Sequence[Figure]:
    with TemporaryDirectory() as folder:
        project, cache = Path(folder) / "project", Path(folder) / "cache"
        project.mkdir()
        plain = [await _true(project, None) for _ in range(runs)]
        usual = statistics.median(plain)
        figures = [Figure(what="`true`, without a sandbox", unit="ms", samples=[milliseconds(each) for each in plain])]
        for name in (found.name for found in findings(cache) if not found.problem):
            backend = sandbox_of_this_machine(name, cache=cache)
            samples = [milliseconds(await _true(project, backend) - usual) for _ in range(runs)]
            who = "root" if os.geteuid() == 0 else "an ordinary user"
            goal = 15 if name != "firejail" else None
            figures.append(Figure(what=f"more in {name}, as {who}", unit="ms", samples=samples, goal=goal))
        return figures


def measure_sandbox(lab: Lab, runs: int) -> Sequence[Figure]:
    """What each sandbox of this machine adds to `true`."""
    return anyio.run(_measured, runs)


ROWS = (
    Row(
        name="sandbox",
        about="`true` with a project's guarded files, once without and once in each sandbox of this machine",
        runs=40,
        measure=measure_sandbox,
    ),
)
