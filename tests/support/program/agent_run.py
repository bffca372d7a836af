"""`claw-acp run` in a project and a home of its own, with a configuration from the test."""

import os
import subprocess
from pathlib import Path

from tests.support.program.processes import run_program
from tests.support.quiet import QUIET

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef"
    "0000000049454e44ae426082"
)
"""A PNG of one pixel."""


class AgentRun:
    """A bench below `place`; `config` is the user's config.toml."""

    def __init__(self, place: Path, *, config: str) -> None:
        self.home = place / "claw"
        self.project = place / "project"
        self.home.mkdir()
        self.project.mkdir()
        (self.home / "config.toml").write_text(config)

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run one prompt to its end; `environ` is added to the environment."""
        foreign = ("CLAW_ACP_", "AWS_", "OLLAMA_", "BEDROCK_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        env = {**kept, **QUIET, "CLAW_ACP_HOME": str(self.home), **environ}
        return run_program("run", *arguments, cwd=self.project, env=env)
