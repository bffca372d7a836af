"""What the installed package publishes of models, kept as the program keeps it."""

import tempfile
from functools import cache
from pathlib import Path

from claw_acp.providers.catalog.reference import KeptReference
from claw_acp.providers.catalog.reference_build import main


@cache
def published() -> KeptReference:
    """Made once for each process of tests."""
    directory = Path(tempfile.mkdtemp(prefix="reference-"))
    assert main([str(directory)]) == 0
    return KeptReference(directory)
