"""The Python that runs our own small programs in and around sandboxes."""

import os
import shutil
import sys


def bare_python() -> str:
    """The path of our Python itself, without a virtual environment; of another one where we may not start that."""
    own = os.path.realpath(sys.executable)
    return own if os.access(own, os.X_OK) else shutil.which("python3") or own
