"""Programs that some tests need and not every machine has. One on PATH that does not run counts as missing."""

import os
import shutil
import subprocess
from functools import cache

ENVIRONMENT = dict(os.environ)  # as it was before a test got a home of its own: toolchains live in the real one
ANSWER = 60.0  # seconds, for a program that is asked for its version


@cache
def missing(program: str, version: str = "--version") -> str:
    """The reason a program cannot be used here; empty when it prints its version."""
    if shutil.which(program, path=ENVIRONMENT.get("PATH")) is None:
        return f"{program} is not here"
    try:
        asked = subprocess.run(
            [program, version], env=ENVIRONMENT, capture_output=True, text=True, timeout=ANSWER, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} is here and does not run: {error}"
    words = (asked.stderr or asked.stdout).strip().partition("\n")[0]
    return f"{program} is here and does not run: {words}" if asked.returncode else ""
