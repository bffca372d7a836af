"""The model reference of the installed package, stored as the program stores it."""

import tempfile
from functools import cache
from pathlib import Path

from claw_acp.providers.catalog.reference import KeptReference
from claw_acp.providers.catalog.reference_build import main


@cache
def published() -> KeptReference:
    """Built once in each process of tests."""
    directory = Path(tempfile.mkdtemp(prefix="reference-"))
    assert main([str(directory)]) == 0
    return KeptReference(directory)
