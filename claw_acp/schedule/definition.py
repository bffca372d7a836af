"""A job as a table of plain values: the one form in files, in the store, on the command line and from models."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast, get_args
from urllib.parse import urlsplit

from claw_acp.contracts.schedule import At, Cron, Delivery, Every, Job, MissedPolicy, Timing
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.mode import MODES
from claw_acp.core.nearest import nearest
from claw_acp.core.value import field_default
from claw_acp.schedule.cron_expression import parse_cron
from claw_acp.schedule.durations import duration_text, seconds_in
from claw_acp.schedule.moments import moment_of
from claw_acp.schedule.zone import zone_named
from claw_acp.store.database import storable

SHORTEST: Final = 60
"""Seconds of the shortest period."""

MOST_RETRIES: Final = 5

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_LONGEST_PROMPT: Final = 100_000
_TIMES: Final = ("at", "every", "cron")
FIELDS: Final = (
    *_TIMES, "time_zone", "prompt", "heartbeat", "cwd", "session", "mode", "model", "tools", "budget", "timeout",
    "missed", "jitter", "retries", "rerun_interrupted", "deliver",
)  # fmt: skip


class WrongField(InvalidRequest):
    """A field of a job is wrong; `field` names it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.reason = message


def parse_job(name: str, fields: Mapping[str, object], *, now: float) -> Job:
    """The job of a table.

    Args:
        name: Its name.
        fields: The table. The store adds `anchor`, the beginning of a period.
        now: Periods begin now, unless they have a beginning.

    Raises:
        WrongField: A field is unknown, missing or wrong.
    """
    if not _NAME.fullmatch(name):
        raise WrongField("name", f"{name!r} is no name for a job; write letters, digits, - and _, at most 64")
    for field in fields:
        if field not in {*FIELDS, "anchor"}:
            meant = nearest(field, FIELDS)
            raise WrongField(field, f'unknown; did you mean "{meant}"?' if meant else "unknown")
    reader = _Reader(fields)
    job = Job(
        name=name,
        timing=_timing(reader, now=now),
        cwd=reader.one("cwd", _directory),
        prompt=reader.one("prompt", _text, default=""),
        heartbeat=reader.one("heartbeat", _truth, default=False),
        session=reader.one("session", _text, default=None),
        mode=reader.one("mode", _choice(MODES), default=None),
        model=reader.one("model", _text, default=None),
        tools=reader.one("tools", _texts, default=None),
        budget=reader.one("budget", _dollars, default=None),
        timeout=reader.one("timeout", _duration, default=field_default(Job, "timeout")),
        missed=reader.one("missed", _choice(get_args(MissedPolicy)), default="run_once"),
        jitter=reader.one("jitter", _duration, default=0),
        retries=reader.one("retries", _retries, default=MOST_RETRIES),
        rerun_interrupted=reader.one("rerun_interrupted", _truth, default=False),
        delivery=reader.one("deliver", parse_delivery, default=Delivery()),
    )
    _check_together(job)
    return job


def job_fields(job: Job) -> dict[str, object]:
    """The table of a job, without what is as usual."""
    fields: dict[str, object] = {**_timing_fields(job.timing), "cwd": job.cwd}
    for field in (
        "prompt",
        "heartbeat",
        "session",
        "mode",
        "model",
        "budget",
        "missed",
        "retries",
        "rerun_interrupted",
    ):
        if (value := getattr(job, field)) != field_default(Job, field):
            fields[field] = value
    if job.tools is not None:
        fields["tools"] = list(job.tools)
    for field in ("timeout", "jitter"):
        if (seconds := getattr(job, field)) != field_default(Job, field):
            fields[field] = duration_text(seconds)
    if job.delivery != Delivery():
        fields["deliver"] = delivery_text(job.delivery)
    return fields


def parse_delivery(text: object) -> Delivery:
    """The delivery that `none`, `session:ID`, `command:LINE` or `webhook:URL` stands for.

    Raises:
        InvalidRequest: It is none of these.
    """
    kind, _, target = _text(text).partition(":")
    match kind:
        case "none" if not target:
            return Delivery()
        case "session" | "command" | "webhook" | "program" if target.strip():
            if kind == "webhook":
                _check_webhook(target.strip())
            return Delivery(kind=kind, target=target.strip())
        case _:
            raise InvalidRequest(f"{text!r} is no delivery; write none, session:ID, command:LINE or webhook:URL")


def _check_webhook(url: str) -> None:
    """Check the address of a webhook. What is in it may be secret, so it is not repeated."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # no port, no IPv6 address
        usable = False
        parts = urlsplit("")
    if not usable or re.search(r"\s", url):
        raise InvalidRequest("that is no address of a webhook; it begins with https:// or http://, and then has a host")
    if parts.username is not None or parts.password is not None:
        raise InvalidRequest("the address of a webhook cannot have a user name or password in it")


def delivery_text(delivery: Delivery) -> str:
    """A delivery as `parse_delivery` reads it."""
    return f"{delivery.kind}:{delivery.target}" if delivery.target else delivery.kind


def _timing(reader: "_Reader", *, now: float) -> Timing:
    given = [field for field in _TIMES if field in reader.fields]
    if len(given) != 1:
        raise WrongField(given[1] if given else "at", "a job has exactly one of at, every and cron")
    zone = reader.one("time_zone", _zone, default="")
    match given[0]:
        case "at":
            return At(moment=reader.one("at", lambda value: moment_of(_moment(value), zone=zone, now=now)))
        case "every":
            seconds = reader.one("every", _duration)
            if seconds < SHORTEST:
                raise WrongField("every", f"{duration_text(SHORTEST)} is the shortest period")
            return Every(seconds=seconds, anchor=reader.one("anchor", _number, default=float(now // 1)))
        case _:
            return Cron(expression=reader.one("cron", _expression), zone=zone)


def _timing_fields(timing: Timing) -> dict[str, object]:
    match timing:
        case At(moment=moment):
            return {"at": datetime.fromtimestamp(moment, tz=UTC).isoformat()}
        case Every(seconds=seconds, anchor=anchor):
            return {"every": duration_text(seconds), "anchor": anchor}
        case Cron(expression=expression, zone=zone):
            return {"cron": expression, **({"time_zone": zone} if zone else {})}


def _check_together(job: Job) -> None:
    if job.heartbeat == bool(job.prompt.strip()):
        reason = "a heartbeat takes its prompt from HEARTBEAT.md" if job.heartbeat else "there is none"
        raise WrongField("prompt", reason)
    if len(job.prompt) > _LONGEST_PROMPT:
        raise WrongField("prompt", f"is longer than {_LONGEST_PROMPT:,} characters")
    if job.session is not None and (job.mode or job.model or job.heartbeat):
        wrong = "mode" if job.mode else "model" if job.model else "heartbeat"
        raise WrongField(wrong, "a job that belongs to a session has that session's; leave one of the two out")
    if not job.timeout:
        raise WrongField("timeout", "must be at least 1s")
    if isinstance(job.timing, Every) and job.jitter >= job.timing.seconds:
        raise WrongField("jitter", "must be shorter than the period")


class _Reader:
    """Reads fields; what is wrong is told with the name of its field."""

    def __init__(self, fields: Mapping[str, object]) -> None:
        self.fields = fields

    def one(self, field: str, read: Callable[[Any], Any], **default: object) -> Any:  # noqa: ANN401 - of the field's type
        if field not in self.fields:
            if "default" in default:
                return default["default"]
            raise WrongField(field, "is missing")
        try:
            return read(self.fields[field])
        except WrongField:
            raise
        except InvalidRequest as error:
            raise WrongField(field, error.message) from error


def _text(value: object) -> str:
    if not isinstance(value, str) or "\0" in value or not storable(value):
        raise InvalidRequest("must be text")
    return value


def _moment(value: object) -> str:
    return value.isoformat(sep=" ") if isinstance(value, datetime) else _text(value)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidRequest('must be a list of names, as in ["read_file", "grep"]')
    return tuple(_text(item) for item in cast("Sequence[object]", value))


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidRequest("must be true or false")
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidRequest("must be a number")
    return float(value)


def _dollars(value: object) -> float:
    if (amount := _number(value)) <= 0:
        raise InvalidRequest("must be more than 0 dollars")
    return amount


def _retries(value: object) -> int:
    if (number := _number(value)) not in range(MOST_RETRIES + 1):
        raise InvalidRequest(f"must be a number from 0 to {MOST_RETRIES}")
    return int(number)


def _duration(value: object) -> int:
    return seconds_in(_text(value))


def _zone(value: object) -> str:
    zone_named(name := _text(value))
    return name


def _expression(value: object) -> str:
    parse_cron(text := _text(value))
    return " ".join(text.split())


def _directory(value: object) -> str:
    path = Path(_text(value))
    if path.parts[:1] == ("~",):
        path = path.expanduser()
    if not path.is_absolute():
        raise InvalidRequest(f"{str(path)!r} must be an absolute path")
    return str(path)


def _choice(values: Sequence[str]) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in values:
            raise InvalidRequest(f"{value!r} must be one of {', '.join(values)}")
        return str(value)

    return read
