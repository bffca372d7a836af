"""Many editors on one hub for a while, which may be killed at random: `python -m tests.benchmarks.soak --help`.

Each editor is a real bridge with sessions of its own, and prompts in them in turn; jobs run beside them. At the end a
process without a hub loads every session: each prompt that was answered has to be there once and in order, each that
failed at most once; no occurrence of a job was left out or ran twice.
"""

import argparse
import json
import random
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from tests.benchmarks.client import LIFETIME, Agent, BenchmarkFailed
from tests.benchmarks.figures import megabytes
from tests.benchmarks.lab import Lab, installed_program, opened_lab
from tests.benchmarks.soak_jobs import faults_of_jobs, write_jobs
from tests.benchmarks.system import cpu_time, resident

QUIET = 2.0  # seconds of rest before the idle processor time is measured


@dataclass
class Talk:
    """One session: what was prompted, and whether it was answered."""

    session: str
    sent: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])


@dataclass
class Tally:
    """The result of a soak."""

    answered: int = 0
    failed: int = 0
    runs: int = 0
    kills: int = 0
    faults: list[str] = field(default_factory=list[str])
    memory: list[int] = field(default_factory=list[int])


def main(arguments: Sequence[str]) -> int:
    """Soak, and print what was found; the exit code is 1 if anything was lost, doubled or out of order."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--editors", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=100, help="of all editors together")
    parser.add_argument(
        "--kill", type=float, metavar="SECONDS", help="kill the hub so often, on average, and start one"
    )
    parser.add_argument("--jobs", type=int, default=60, help="that run each minute")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}", flush=True)
    with opened_lab(installed_program(), hub=True) as lab:
        tally = soak(lab, options)
    for fault in tally.faults[:20]:
        print(fault)
    sizes = [megabytes(size) for size in tally.memory]
    print(
        f"{tally.answered} prompts answered, {tally.failed} ended with an error, {tally.runs} runs of jobs, "
        f"{tally.kills} hubs killed, {len(tally.faults)} faults; "
        f"resident memory of the hub {sizes[0]:.0f} to {sizes[-1]:.0f} MB, at most {max(sizes):.0f} MB"
    )
    return 1 if tally.faults else 0


def soak(lab: Lab, options: argparse.Namespace) -> Tally:
    """Let editors prompt until the time is over, then look at every session."""
    home, tally, stop = lab.new_home(), Tally(), threading.Event()
    write_jobs(home, number=options.jobs, project=lab.project)
    talks: list[list[Talk]] = []
    with ExitStack() as stack:
        lifetime = options.seconds + LIFETIME
        agents = [stack.enter_context(lab.agent(home, lifetime=lifetime)) for _ in range(options.editors)]
        for agent in agents:
            agent.initialize()
            each = options.sessions // options.editors
            talks.append([Talk(lab.new_session(agent)) for _ in range(each)])
        threads = [
            threading.Thread(target=_converse, args=(agent, mine, tally, stop))
            for agent, mine in zip(agents, talks, strict=True)
        ]
        for thread in threads:
            thread.start()
        _disturb(lab, home, options, tally)
        stop.set()
        for thread in threads:
            thread.join()
        if options.kill is None:
            (home / "schedules.toml").unlink()
            tally.faults += _busy_when_idle(lab.hub_pid(home))
    lab.end_hub(home)
    killed = options.kill is not None
    tally.runs, faults = faults_of_jobs(home, number=options.jobs, seconds=options.seconds, killed=killed)
    tally.faults += faults
    with lab.without_hub(), lab.agent(home) as agent:
        agent.initialize()
        for talk in (talk for mine in talks for talk in mine):
            tally.faults += _compare(agent, talk, lab.project)
    return tally


def _disturb(lab: Lab, home: Path, options: argparse.Namespace, tally: Tally) -> None:
    chance = random.Random(options.seed)
    until = time.monotonic() + options.seconds
    while (rest := until - time.monotonic()) > 0:
        time.sleep(min(rest, 1.0 if options.kill is None else chance.expovariate(1 / options.kill)))
        tally.memory.append(resident(lab.hub_pid(home)))
        if options.kill is not None:
            lab.restart_hub(home)
            tally.kills += 1


def _converse(agent: Agent, talks: Sequence[Talk], tally: Tally, stop: threading.Event) -> None:
    for number in count():
        if stop.is_set():
            return
        talk = talks[number % len(talks)]
        text = f"small {number}"
        try:
            agent.prompt(talk.session, text)
        except BenchmarkFailed as error:
            if "-31012" not in str(error):
                tally.faults.append(f"{talk.session}: {error}")
                return
            talk.sent.append((text, False))
            tally.failed += 1
        else:
            talk.sent.append((text, True))
            tally.answered += 1


def _compare(agent: Agent, talk: Talk, project: Path) -> list[str]:
    """What differs between a session and what its editor saw."""
    agent.arrivals.clear()
    agent.load_session(talk.session, project)
    updates = [
        json.loads(frame)["params"]["update"] for each in agent.arrivals for frame in each.frames if b"update" in frame
    ]
    kept = [update["content"]["text"] for update in updates if update["sessionUpdate"] == "user_message_chunk"]
    rest = iter(talk.sent)
    for text in kept:
        for expected, answered in rest:
            if expected == text:
                break
            if answered:
                return [f"{talk.session}: {expected!r} was answered and is not there"]
        else:
            return [f"{talk.session}: {text!r} is there twice, or out of order"]
    lost = [text for text, answered in rest if answered]
    return [f"{talk.session}: {lost} were answered and are not there"] if lost else []


def _busy_when_idle(pid: int) -> list[str]:
    time.sleep(QUIET)
    before = cpu_time(pid)
    time.sleep(QUIET)
    used = cpu_time(pid) - before
    return [f"the idle hub used {used} of processor time in {QUIET:g} s"] if used else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
