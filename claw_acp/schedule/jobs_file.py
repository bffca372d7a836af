"""The file of jobs that people write by hand: a table for each, below `jobs`.

What it says is taken over into the store, where a job has its state. What cannot be read changes nothing: the job goes
on as it was last understood, and the others as the file says.
"""

from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import cast

from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.toml_file import TomlDocument, read_toml
from claw_acp.contracts.schedule import Every, Job
from claw_acp.core.clock import Clock
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.value import replace
from claw_acp.schedule.definition import WrongField, parse_job
from claw_acp.schedule.job_store import JobStore, StoredJob

TABLE = "jobs"


async def take_over(file: Path, jobs: JobStore, *, clock: Clock) -> list[Diagnostic]:
    """Bring the store in step with the file. Returns what is wrong with the file."""
    document = read_toml(file)
    if isinstance(document, Diagnostic):
        return [document]
    stored = {each.job.name: each for each in await jobs.all()}
    found, problems = _read(document, now=clock.now())
    for name, each in stored.items():
        if each.source == "file" and name not in found:
            await jobs.remove(each.id)
    for name, job in found.items():
        if job is not None and (problem := await _keep(job, stored.get(name), jobs)):
            assert document is not None
            problems.append(_problem(document, name, "", problem))
    return problems


async def _keep(job: Job, known: StoredJob | None, jobs: JobStore) -> str:
    """Add a job, or change it; returns why that is not possible."""
    if known is not None and known.source != "file":
        return f"there is another job of this name; `claw-acp cron remove {job.name}` removes it"
    if known is not None:
        timing, before = job.timing, known.job.timing
        if isinstance(timing, Every) and isinstance(before, Every) and timing.seconds == before.seconds:
            job = replace(job, timing=before)  # its beginning stays
        if job != known.job:
            await jobs.redefine(known, job)
        return ""
    try:
        await jobs.add(job, source="file")
    except InvalidRequest as error:
        return error.message
    return ""


def _read(document: TomlDocument | None, *, now: float) -> tuple[dict[str, Job | None], list[Diagnostic]]:
    """The jobs by name, None for one that is wrong; and what is wrong."""
    if document is None:
        return {}, []
    problems = [
        _problem(document, key, "", "unknown; jobs are written as [jobs.NAME]")
        for key in document.content
        if key != TABLE
    ]
    tables = document.content.get(TABLE, {})
    if not isinstance(tables, dict):
        return {}, [*problems, _problem(document, TABLE, "", "must be a table for each job, as in [jobs.nightly]")]
    found: dict[str, Job | None] = {}
    for name, table in cast("Mapping[str, object]", tables).items():
        found[name] = None
        try:
            found[name] = parse_job(name, _written(table), now=now)
        except WrongField as error:
            problems.append(_problem(document, name, error.field, error.reason))
    return found, problems


def _written(table: object) -> Mapping[str, object]:
    """The fields as people may write them, with the dates of TOML as text."""
    if not isinstance(table, dict):
        raise WrongField("", "must be a table, as in [jobs.nightly]")
    fields = cast("Mapping[str, object]", table)
    if "anchor" in fields:
        raise WrongField("anchor", "unknown")  # the store's own
    moment = fields.get("at")
    if isinstance(moment, str) and moment.strip().startswith("+"):
        raise WrongField("at", "must be a date and time; a file cannot count from now on")
    return {**fields, "at": moment.isoformat()} if isinstance(moment, date | datetime | time) else fields


def _problem(document: TomlDocument, name: str, field: str, message: str) -> Diagnostic:
    path = (name,) if name in document.content else (TABLE, name, *((field,) if field else ()))
    inside = document.content.get(name)
    first = tuple(cast("Mapping[str, object]", inside))[:1] if isinstance(inside, dict) else ()
    line = document.positions.line_of(path) or document.positions.line_of(
        (*path, *first)
    )  # [job.x] has no line for job
    return Diagnostic(
        severity="error",
        file=document.file,
        line=line,
        key=".".join(path),
        message=message,
    )
