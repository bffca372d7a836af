"""The Python that runs our own small programs in and around sandboxes."""

import os
import sys

from claw_acp.process.outer_path import system_program


def bare_python() -> str:
    """The path of our Python itself, without a virtual environment; of another one where we may not start that."""
    own = os.path.realpath(sys.executable)
    return own if os.access(own, os.X_OK) else system_program("python3") or own
