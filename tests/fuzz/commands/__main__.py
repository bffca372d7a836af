"""The long run of command lines: those that run unasked and do more than read are printed; the exit code is then 1."""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.fuzz.commands.arena import entered, missing
from tests.fuzz.commands.grammar import unwritten, written
from tests.fuzz.commands.worker import LINES_A_ROUND

ROOT = Path(__file__).parents[3]


def main() -> int:
    """Run as the options say."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.commands", description=__doc__)
    parser.add_argument("--lines", type=int, default=20_000, metavar="N", help="how many to make (20000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what decides about everything (1)")
    parser.add_argument("--round", type=int, metavar="N", help="only this round")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="at the same time (2)")
    parser.add_argument("--shell", default="/bin/bash", help="what runs the lines (/bin/bash)")
    parser.add_argument("--line", action="append", help="run this line, allowed or not; LF is written ␤")
    options = parser.parse_args()
    reason = missing()
    if reason is not None:
        print(f"Cannot run lines here: {reason}.", file=sys.stderr)
        return 2
    common = ["--seed", str(options.seed), "--shell", options.shell]
    given = [unwritten(line) for line in options.line or ()]
    return 1 if (_given(given, common) if given else _campaign(options, common)) else 0


def _campaign(options: argparse.Namespace, common: Sequence[str]) -> int:
    begin = time.monotonic()
    rounds = 1 if options.round is not None else -(-options.lines // LINES_A_ROUND)
    workers = min(options.workers, rounds)
    progress = _Progress(rounds * LINES_A_ROUND)
    with ThreadPoolExecutor(workers) as pool:
        jobs = [
            pool.submit(_work, progress, _part(index, rounds=rounds, workers=workers, begin=options.round or 0), common)
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

    def heard(self, told: dict[str, Any]) -> None:
        """A round ended."""
        self.lines += told["lines"]
        self.ran += told["ran"]
        print(f"\r{self.lines}/{self._total} lines, {self.ran} run", end="", file=sys.stderr, flush=True)


def _work(progress: _Progress, part: Sequence[str], common: Sequence[str]) -> int:
    found = 0
    command = entered(["-m", "tests.fuzz.commands.worker", *common, *part])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as worker:
        assert worker.stdout
        for row in worker.stdout:
            told = json.loads(row)
            progress.heard(told)
            found += len(told["found"])
            for finding in told["found"]:
                print(_shown(finding), flush=True)
    if worker.returncode:
        raise SystemExit(f"a worker ended with {worker.returncode}")
    return found


def _given(lines: Sequence[str], common: Sequence[str]) -> int:
    command = entered(["-m", "tests.fuzz.commands.worker", *common, "--given"])
    data = "\n".join(map(json.dumps, lines))
    ran = subprocess.run(command, input=data, stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True)
    found = [finding for row in ran.stdout.splitlines() for finding in json.loads(row)["found"]]
    for finding in found:
        print(_shown(finding))
    return len(found)


def _shown(finding: dict[str, Any]) -> str:
    again = "" if finding["round"] < 0 else f"    round {finding['round']}: {written(finding['original'])}\n"
    return (
        f"\n{written(finding['line'])}\n    allowed in {', '.join(finding['modes']) or 'no mode'}; "
        f"{'; '.join(finding['effects'])}\n{again}"
    )


if __name__ == "__main__":
    sys.exit(main())
