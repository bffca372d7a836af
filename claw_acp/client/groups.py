"""Ending child processes together with all they started."""

import os
import signal

import anyio
from anyio.abc import Process

TERMINATE_WAIT = 1.0  # seconds between the polite and the final signal


def signal_group(process: Process, number: signal.Signals) -> None:
    """Send a signal to the process group that `process` leads; nothing happens if it is gone."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):  # PermissionError: macOS says so of a group of zombies
        return


async def end_group(process: Process) -> None:
    """Terminate, then kill. Returns when the process itself is gone; never takes much longer than the wait."""
    if process.returncode is None:
        signal_group(process, signal.SIGTERM)
        with anyio.move_on_after(TERMINATE_WAIT):
            await process.wait()
    signal_group(process, signal.SIGKILL)
    await process.wait()
