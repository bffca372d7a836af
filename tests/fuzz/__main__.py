"""The long run. What it finds is printed with the way to see it again; the exit code is then 1."""

import argparse
import resource
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import anyio

from tests.fuzz.campaign import FRAMES_A_ROUND, in_process
from tests.fuzz.client import Found


def main() -> int:
    """Run as the options say."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--frames", type=int, default=100_000, metavar="N", help="how many to send (100000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what decides about everything (1)")
    parser.add_argument("--round", type=int, metavar="N", help="only this round")
    options = parser.parse_args()
    frames = min(options.frames, FRAMES_A_ROUND) if options.round is not None else options.frames
    begin = time.monotonic()
    progress = _Progress(frames, begin=begin)
    with tempfile.TemporaryDirectory(prefix="claw-acp-fuzz-") as folder:
        campaign = partial(
            in_process,
            seed=options.seed,
            frames=frames,
            folder=Path(folder),
            first=options.round or 0,
            told=progress.told,
        )
        try:
            sent = anyio.run(campaign)
        except Found as found:
            print(f"\n{found}", file=sys.stderr)
            return 1
        except BaseExceptionGroup as group:
            found = group.subgroup(Found)
            if found is None:
                raise
            print(f"\n{found.exceptions[0]}", file=sys.stderr)
            return 1
    print(
        f"\n{sent} frames in {time.monotonic() - begin:.0f} s, seed {options.seed}: nothing found; {progress.memory()}"
    )
    return 0


class _Progress:
    """Says how far it is, and how much memory is in use."""

    def __init__(self, frames: int, *, begin: float) -> None:
        self._frames = frames
        self._begin = begin
        self._first = 0

    def told(self, sent: int) -> None:
        """So many were sent."""
        self._first = self._first or _resident()
        speed = sent / (time.monotonic() - self._begin)
        print(f"\r{sent}/{self._frames} frames, {speed:.0f}/s, {self.memory()}", end="", file=sys.stderr, flush=True)

    def memory(self) -> str:
        """Now, and after the first round."""
        return f"{_resident()} MB resident ({self._first} after the first round, {_peak()} at most)"


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc").exists() else 0
    return pages * resource.getpagesize() // 2**20


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    sys.exit(main())
