"""The reference programs: how each is built and started, and what that needs."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from claw_acp.verify.endpoint.player import Settings
from claw_acp.verify.endpoint.vector import CheckedRole
from tests.provider_protocol.plugins import BUILD_TIMEOUT, ROOT, Toolchain, environment
from tests.support.foreign.node import require_node
from tests.support.toolchain import ENVIRONMENT, missing

FOLDER = ROOT / "protocol-schemas" / "endpoints"
PROGRAMS = FOLDER / "programs"

TOOLCHAINS: Mapping[str, Toolchain] = {
    "python": Toolchain((sys.executable,), (sys.executable, "-S", "-E", "{source}/word_count.py")),
    "python-kit": Toolchain((sys.executable,), (sys.executable, "{source}/word_count.py")),
    "node": Toolchain((), ()),
    "go": Toolchain(("go",), ("{out}/word_count",), ("go", "build", "-o", "{out}/word_count", "."), "version"),
    "sh": Toolchain(("jq",), ("sh", "{source}/word_count.sh")),
    "perl": Toolchain(("perl",), ("perl", "{source}/once_a_day.pl", "00:00", "{out}", "say hello")),
}


ROLES: Mapping[str, CheckedRole] = {language: "scheduler" if language == "perl" else "tools" for language in TOOLCHAINS}


def built(language: str, out: Path) -> tuple[str, ...]:
    """The command that starts a reference program; skips the test where its toolchain is absent."""
    chain = TOOLCHAINS[language]
    source = PROGRAMS / language
    if language == "node":
        return *require_node().node, str(source / "word_count.mjs")
    for program in chain.needs:
        if reason := missing(program, chain.version):
            pytest.skip(f"the {language} program cannot be built and run: {reason}")
    if chain.build:
        build = [word.format(out=out, source=source) for word in chain.build]
        done = subprocess.run(
            build, cwd=source, env=environment(), capture_output=True, text=True, timeout=BUILD_TIMEOUT, check=False
        )
        assert done.returncode == 0, done.stderr
    return tuple(word.format(out=out, source=source) for word in chain.start)


def settings_for(command: tuple[str, ...], *, timeout: float = 20.0) -> Settings:
    """How the checker starts it."""
    return Settings(command=command, env={**ENVIRONMENT, "PYTHONPATH": str(ROOT)}, timeout=timeout)
