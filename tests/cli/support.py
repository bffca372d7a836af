"""The installed program, run in a home of its own."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.support.program.processes import run_program
from tests.support.quiet import QUIET

_KEPT = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LANG", "SYSTEMROOT")


def claw(
    *arguments: str, home: Path | str, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """What `claw-acp ARGUMENTS` answers when nothing but `HOME` and `environ` is set."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return run_program(*arguments, cwd=Path.cwd(), env={**kept, **QUIET, "HOME": str(home), **(environ or {})})
