"""The Python that runs our own small programs in and around sandboxes."""

import marshal
import os
import sys
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from claw_acp.process.outer_path import system_program

_STAMP = bytes(12)  # flags, and the time and size of the source, which only an import looks at


def bare_python() -> str:
    """The path of our Python itself, without a virtual environment; of another one where we may not start that."""
    own = os.path.realpath(sys.executable)
    return own if os.access(own, os.X_OK) else system_program("python3") or own


def compiled(program: Path) -> bytes:
    """A program of ours as a file that our Python starts without compiling it, which takes 2 ms."""
    return MAGIC_NUMBER + _STAMP + marshal.dumps(compile(program.read_bytes(), program.name, "exec"))
