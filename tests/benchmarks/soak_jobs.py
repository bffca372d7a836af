"""Jobs that run each minute beside a soak, and what their history says afterwards."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

PERIOD = 60.0  # seconds between two occurrences of a job


def write_jobs(home: Path, *, number: int, project: Path) -> None:
    """Write jobs that are due each minute, spread over most of it."""
    job = f'every = "1m"\njitter = "50s"\ncwd = "{project}"\nprompt = "small"\n'
    (home / "schedules.toml").write_text("".join(f"[jobs.soak-{each}]\n{job}\n" for each in range(number)))


def faults_of_jobs(home: Path, *, number: int, seconds: float, killed: bool) -> tuple[int, Sequence[str]]:
    """The number of runs, and what was lost, doubled or failed; a killed hub may interrupt runs and pass over some."""
    runs = _runs(home)
    faults = [f"soak-{each} never ran" for each in range(number) if f"soak-{each}" not in runs and seconds > 2 * PERIOD]
    for name, occurrences in runs.items():
        times = [time for time, _ in occurrences]
        if len(set(times)) < len(times):
            faults.append(f"{name} ran twice for one occurrence")
        if not killed:
            faults += [f"{name} left out {b - a:g} s" for a, b in pairwise(times) if b - a > PERIOD]
            faults += [f"{name} ended as {status}" for _, status in occurrences if status != "succeeded"]
    return sum(map(len, runs.values())), faults


def _runs(home: Path) -> Mapping[str, Sequence[tuple[float, str]]]:
    """The occurrences and outcomes of each job, in order."""
    (database,) = home.rglob("*.db")
    runs: dict[str, list[tuple[float, str]]] = {}
    query = "SELECT job_name, scheduled_for, status FROM schedule_run WHERE attempt = 0 ORDER BY scheduled_for"
    with closing(sqlite3.connect(database)) as connection:
        for name, time, status in connection.execute(query):
            runs.setdefault(name, []).append((time, status))
    return runs
