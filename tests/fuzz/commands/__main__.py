"""The long run of command lines: those that run unasked and do more than read are printed; the exit code is then 1."""

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.fuzz.commands.arena import missing
from tests.fuzz.commands.campaign import Report, reports, shown
from tests.fuzz.commands.grammar import unwritten
from tests.fuzz.commands.worker import LINES_A_ROUND


def main() -> int:
    """Run as the options say."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.commands", description=__doc__)
    parser.add_argument("--lines", type=int, default=20_000, metavar="N", help="how many to make (20000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what decides about everything (1)")
    parser.add_argument("--round", type=int, metavar="N", help="only this round")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="at the same time (2)")
    parser.add_argument("--shell", default="/bin/bash", help="what runs the lines (/bin/bash)")
    parser.add_argument("--line", action="append", help="run this line, allowed or not; LF is written ␤")
    parser.add_argument("--repositories", action="store_true", help="only look into hostile repositories")
    parser.add_argument("--quick", action="store_true", help="only with programs that the corpus names")
    options = parser.parse_args()
    reason = missing()
    if reason is not None:
        print(f"Cannot run lines here: {reason}.", file=sys.stderr)
        return 2
    common = ["--seed", str(options.seed), "--shell", options.shell, *(["--quick"] if options.quick else [])]
    found = 0
    given = [unwritten(line) for line in options.line or ()]
    if options.repositories:
        found = sum(_told(report) for report in reports([*common, "--repositories"]))
    elif given:
        found = sum(_told(report) for report in reports([*common, "--given"], lines=given))
    else:
        if options.round is None:  # a whole run looks into hostile repositories too
            found = sum(_told(report) for report in reports([*common, "--repositories", "--quick"]))
        found += _campaign(options, common)
    return 1 if found else 0


def _campaign(options: argparse.Namespace, common: Sequence[str]) -> int:
    begin = time.monotonic()
    rounds = 1 if options.round is not None else -(-options.lines // LINES_A_ROUND)
    workers = min(options.workers, rounds)
    progress = _Progress(rounds * LINES_A_ROUND)
    with ThreadPoolExecutor(workers) as pool:
        jobs = [
            pool.submit(
                _work, progress, [*common, *_part(index, rounds=rounds, workers=workers, begin=options.round or 0)]
            )
            for index in range(workers)
        ]
    found = sum(job.result() for job in jobs)
    print(
        f"\n{progress.lines} lines, {progress.ran} of them allowed and run, in {time.monotonic() - begin:.0f} s, "
        f"seed {options.seed}: {found or 'nothing'} found"
    )
    return found


def _part(index: int, *, rounds: int, workers: int, begin: int) -> list[str]:
    """The rounds of one worker."""
    return ["--first", str(begin + index), "--step", str(workers), "--rounds", str(len(range(index, rounds, workers)))]


class _Progress:
    """How far it is."""

    def __init__(self, total: int) -> None:
        self._total = total
        self.lines = 0
        self.ran = 0

    def heard(self, report: Report) -> None:
        """A round ended."""
        self.lines += report["lines"]
        self.ran += report["ran"]
        print(f"\r{self.lines}/{self._total} lines, {self.ran} run", end="", file=sys.stderr, flush=True)


def _work(progress: _Progress, arguments: Sequence[str]) -> int:
    found = 0
    for report in reports(arguments):
        progress.heard(report)
        found += _told(report)
    return found


def _told(report: Report) -> int:
    for finding in report["found"]:
        print(shown(finding), flush=True)
    return len(report["found"])


if __name__ == "__main__":
    sys.exit(main())
