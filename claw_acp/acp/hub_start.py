"""A hub in the background, started by the first editor for the next ones."""

import logging
import subprocess
from typing import Final

from claw_acp.process.own_program import start_detached

log = logging.getLogger(__name__)

IDLE: Final = 600  # seconds without an editor after which it ends


def start_hub() -> None:
    """Start one; if another process was quicker, it ends at once. Editors that start `claw-acp` from now on find it."""
    try:
        start_detached(
            ["serve", "--no-listen", "--idle-exit", str(IDLE)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        log.warning("no hub can be started", extra={"reason": error.strerror})
