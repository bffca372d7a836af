"""Jobs and their runs as text."""

from collections.abc import Mapping, Sequence

from claw_acp.cli.terminal.paint import Paint, columns
from claw_acp.core.money import shown
from claw_acp.core.printable import printable
from claw_acp.core.quantity import quantity
from claw_acp.schedule.definition import delivery_text, job_fields
from claw_acp.schedule.job_store import StoredJob, next_words
from claw_acp.schedule.moments import moment_text, timing_text, zone_of
from claw_acp.schedule.next_time import next_time
from claw_acp.schedule.run_history import Run


def job_table(jobs: Sequence[StoredJob], last: Mapping[str, Sequence[Run]]) -> list[str]:
    """All jobs, a line for each."""
    rows = [("JOB", "WHEN", "NEXT", "LAST RUN", "DIRECTORY")]
    for each in jobs:
        zone = zone_of(each.job.timing)
        upcoming = "paused" if each.paused else "-" if each.next_at is None else moment_text(each.next_at, zone=zone)
        runs = last[each.id]
        before = f"{runs[0].status} {moment_text(runs[0].started_at, zone=zone)}" if runs else "-"
        rows.append((each.job.name, timing_text(each.job.timing), upcoming, before, printable(each.job.cwd)))
    return columns(rows)


def undelivered_lines(runs: Sequence[Run]) -> list[str]:
    """The words of a list about results that could not be delivered; the jobs may be gone."""
    return [
        f"The result of {run.job_name}, {moment_text(run.started_at)}, was {printable(run.delivered)}; "
        f"`claw-acp cron show {run.job_name}` has it"
        for run in runs
    ]


def job_lines(stored: StoredJob | None, runs: Sequence[Run]) -> list[str]:
    """A job and its runs; the job may be gone."""
    lines: list[str] = []
    if stored is not None:
        lines = [Paint()(stored.job.name, "bold"), f"  {timing_text(stored.job.timing)}; {next_words(stored)}"]
        fields = {name: value for name, value in job_fields(stored.job).items() if name not in _IN_THE_HEAD}
        lines += [f"  {name}: {printable(str(value))}" for name, value in fields.items()]
        lines += [f"  kept by: {stored.source}"]
    lines += ["", *(line for run in runs for line in _run_lines(run))] if runs else ["", "no runs yet"]
    return lines


_IN_THE_HEAD = frozenset({"at", "every", "cron", "time_zone", "anchor"})


def _run_lines(run: Run) -> list[str]:
    tokens = run.input_tokens + run.output_tokens
    facts = [
        moment_text(run.started_at),
        run.status,
        *([f"attempt {run.attempt + 1}"] if run.attempt else []),
        *([f"{run.ended_at - run.started_at:.0f} s"] if run.ended_at is not None and run.status != "skipped" else []),
        *([quantity(tokens, "token")] if tokens else []),
        *([shown(run.cost)] if run.cost else []),
        *([run.session_id] if run.session_id else []),
    ]
    lines = ["  ".join(facts)]
    if run.detail:
        lines += [f"    {printable(line)}" for line in run.detail.splitlines()]
    if run.text:
        lines.append(f"    {printable(run.text.strip().splitlines()[0])[:200]}")
    if run.deliver_to.kind == "program":  # what became of it names the program
        lines.append(f"    {printable(run.delivered) or 'not handed over yet'}")
    elif run.deliver_to.kind != "none":
        lines.append(f"    to {printable(delivery_text(run.deliver_to))}: {printable(run.delivered) or 'not yet'}")
    return lines


def times_lines(stored: StoredJob, *, now: float, number: int) -> list[str]:
    """The next times of a job, in its zone."""
    lines: list[str] = []
    moment = next_time(stored.job.timing, after=now)
    while moment is not None and len(lines) < number:
        lines.append(moment_text(moment, zone=zone_of(stored.job.timing)))
        moment = next_time(stored.job.timing, after=moment)
    return lines or [f"{stored.job.name} will not run any more"]
