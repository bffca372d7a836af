"""The reference plugins: how each is built and started, and what that needs."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from claw_acp.verify.provider.player import Settings
from tests.support.foreign.node import require_node
from tests.support.program.forked_process import forked_python
from tests.support.toolchain import ENVIRONMENT, missing

ROOT = Path(__file__).parent.parent.parent
PLUGINS = ROOT / "protocol-schemas" / "provider" / "plugins"
BUILD_TIMEOUT = 300.0  # seconds, for a compiler that starts with an empty cache


@dataclass(frozen=True, slots=True)
class Toolchain:
    """One language: the programs it needs, the command that builds `{out}`, and the command that starts it."""

    needs: tuple[str, ...]
    start: tuple[str, ...]
    build: tuple[str, ...] = ()
    version: str = "--version"


TOOLCHAINS: Mapping[str, Toolchain] = {
    "python": Toolchain((sys.executable,), (sys.executable, "-S", "-E", "{source}/plugin.py")),
    "python-kit": Toolchain((sys.executable,), ("{python}", "{source}/plugin.py")),
    "node": Toolchain(("node",), ()),
    "go": Toolchain(("go",), ("{out}/plugin",), ("go", "build", "-o", "{out}/plugin", "."), "version"),
    "rust": Toolchain(
        ("rustc",),
        ("{out}/plugin",),
        ("rustc", "--edition", "2021", "-D", "warnings", "-o", "{out}/plugin", "plugin.rs"),
    ),
    "c": Toolchain(
        ("cc",),
        ("{out}/plugin",),
        ("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-o", "{out}/plugin", "plugin.c"),
    ),
    "java": Toolchain(
        ("javac", "java"),
        ("java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", "{out}", "Plugin"),
        ("javac", "-Xlint:all", "-Werror", "-d", "{out}", "Json.java", "Plugin.java"),
    ),
    "sh": Toolchain((), ("sh", "{source}/plugin.sh")),
}


def built(language: str, out: Path) -> tuple[str, ...]:
    """The command that starts a reference plugin; skips the test where its toolchain is absent."""
    chain = TOOLCHAINS[language]
    source = PLUGINS / language
    if language == "node":
        return *require_node().node, str(source / "plugin.mjs")
    for program in chain.needs:
        if reason := missing(program, chain.version):
            pytest.skip(f"the {language} plugin cannot be built and run: {reason}")
    if chain.build:
        build = [word.format(out=out, source=source) for word in chain.build]
        done = subprocess.run(
            build, cwd=source, env=environment(), capture_output=True, text=True, timeout=BUILD_TIMEOUT, check=False
        )
        assert done.returncode == 0, done.stderr
    return tuple(word.format(out=out, source=source, python=forked_python()) for word in chain.start)


def environment() -> dict[str, str]:
    """For compilers: the real home with its caches, and no network."""
    return {**ENVIRONMENT, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}


def settings_for(command: tuple[str, ...], *, timeout: float = 20.0) -> Settings:
    """How the checker starts it."""
    return Settings(command=command, env={**ENVIRONMENT, "PYTHONPATH": str(ROOT)}, timeout=timeout)
