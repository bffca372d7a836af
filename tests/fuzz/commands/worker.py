"""One worker of the long run, inside namespaces of its own: it makes lines, asks the policy and runs what it allows.

It prints JSON, a line for each round and for each finding.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random

from claw_acp.security.policy import Mode
from tests.fuzz.commands import hostile_git, judge, tree
from tests.fuzz.commands.arena import Arena
from tests.fuzz.commands.generator import Generator
from tests.fuzz.commands.options import programs
from tests.security.corpus import everyday, must_not_run

LINES_A_ROUND = 500
BATCH = 25  # lines between two snapshots
TRIES = 120  # runs that making a finding shorter may take
SHORTENED = 15  # findings of a worker that are worth it
FIRST_USER = 60_001


@dataclass(frozen=True)
class Finding:
    """A line that did more than read although nobody was asked."""

    line: str
    modes: tuple[Mode, ...]
    effects: tuple[str, ...]
    round: int
    original: str


class Campaign:
    """Rounds of lines in one arena."""

    def __init__(self, *, seed: int, user: int, shell: str, everything: bool) -> None:
        """`everything`: try all programs of this machine, not only those of the corpus."""
        judge.decide("ls", mode="ask", cwd=Path.cwd())  # what is loaded late is loaded before /tmp is another one
        self._seed = seed
        self._user = user
        self._arena = Arena(user=user, environment=judge.environment, shell=shell)
        self._looking = judge.looking(programs() if everything else _ordinary(), cwd=tree.PROJECT)
        self._seen: set[str] = set()
        self._shortened = 0

    def round(self, number: int, *, lines: int) -> tuple[list[Finding], int]:
        """Findings, and how many lines were run."""
        random = Random(f"{self._seed}/{number}")
        cwd = tree.UNPACKED if number % 6 == 5 else tree.PROJECT
        generator = Generator(
            random, looking=self._looking, harmless=everyday(), hostile=must_not_run(), user=self._user
        )
        found: list[Finding] = []
        waiting: list[str] = []
        count = 0
        for line in islice(generator.lines(), lines):
            if line not in self._seen and judge.unasked(line, cwd=cwd):
                self._seen.add(line)
                generator.allowed(line)
                waiting.append(line)
                count += 1
            if len(waiting) == BATCH:
                found += self.judged(waiting, cwd=cwd, number=number)
                waiting = []
        return [*found, *self.judged(waiting, cwd=cwd, number=number)], count

    def repositories(self) -> tuple[list[Finding], int]:
        """Findings in hostile repositories, and how many lines were run there."""
        hostile_git.plant(tree.ARENA, user=self._user)
        self._arena.settle()
        found: list[Finding] = []
        count = 0
        for name in hostile_git.CONFIGS:
            cwd = tree.ARENA / f"git-{name}"
            lines = [line for line in hostile_git.LINES if judge.unasked(line, cwd=cwd)]
            count += len(lines)
            found += [replace(finding, original=str(cwd)) for finding in self.judged(lines, cwd=cwd)]
        return found, count

    def judged(self, lines: Sequence[str], *, cwd: Path, number: int = -1) -> Iterator[Finding]:
        """Those of `lines` that did harm; all of them may run unasked."""
        ran = self._arena.run(lines, cwd=cwd)
        if not ran.effects:
            return
        if len(lines) > 1:
            half = len(lines) // 2
            yield from self.judged(lines[:half], cwd=cwd, number=number)
            yield from self.judged(lines[half:], cwd=cwd, number=number)
            return
        line = self._shorter(lines[0], effects=ran.effects, cwd=cwd, number=number)
        effects = self._arena.run([line], cwd=cwd).effects or ran.effects
        yield Finding(line, judge.unasked(line, cwd=cwd), effects, number, lines[0])

    def _shorter(self, line: str, *, effects: Sequence[str], cwd: Path, number: int) -> str:
        """The line without what the harm does not need."""
        self._shortened += 1
        kinds = {effect.split()[0] for effect in effects}
        if self._shortened > SHORTENED or kinds == {"left"} or number < 0:  # every try would wait
            return line
        tries, size = TRIES, max(1, len(line) // 2)
        while size and tries > 0:
            at = 0
            while at < len(line) and tries > 0:
                shorter = line[:at] + line[at + size :]
                tries -= 1
                if shorter.strip() and judge.unasked(shorter, cwd=cwd) and kinds & self._kinds(shorter, cwd=cwd):
                    line = shorter
                else:
                    at += size
            size //= 2
        return line

    def _kinds(self, line: str, *, cwd: Path) -> set[str]:
        return {effect.split()[0] for effect in self._arena.run([line], cwd=cwd).effects}


def _ordinary() -> Sequence[str]:
    return sorted({line.split(maxsplit=1)[0] for line in everyday()} & set(programs()))


def main() -> None:
    """Run the rounds whose numbers are `first`, `first` + `step`, ..., or the lines of stdin."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--lines", type=int, default=LINES_A_ROUND)
    parser.add_argument("--shell", default="/bin/bash")
    parser.add_argument("--given", action="store_true", help="the lines are JSON strings on stdin; all of them run")
    parser.add_argument("--quick", action="store_true", help="only programs that the corpus names")
    parser.add_argument("--repositories", action="store_true", help="look into hostile repositories instead")
    options = parser.parse_args()
    campaign = Campaign(
        seed=options.seed, user=FIRST_USER + options.first % 100, shell=options.shell, everything=not options.quick
    )
    if options.repositories:
        found, ran = campaign.repositories()
        _tell(iter(found), lines=len(hostile_git.LINES) * len(hostile_git.CONFIGS), ran=ran)
        return
    if options.given:
        for row in sys.stdin:
            _tell(campaign.judged([json.loads(row)], cwd=tree.PROJECT), lines=1, ran=1)
        return
    for number in range(options.first, options.first + options.step * options.rounds, options.step):
        found, ran = campaign.round(number, lines=options.lines)
        _tell(iter(found), lines=options.lines, ran=ran)


def _tell(found: Iterator[Finding], *, lines: int, ran: int) -> None:
    told = [asdict(finding) for finding in found]
    print(json.dumps({"lines": lines, "ran": ran, "found": told}), flush=True)


if __name__ == "__main__":
    main()
