"""The time now, in any zone, and the difference between two times."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from difflib import get_close_matches
from typing import Final

from anyio import to_thread

from claw_acp.contracts.tool import CallView, Invocation, ToolContext, ToolResult
from claw_acp.core.errors import ToolError
from claw_acp.core.messages import TextPart
from claw_acp.registry.reference import Ref
from claw_acp.tools.display import amount, shortened
from claw_acp.tools.parameters import Parameters, TypedTool, argument

_ZONE: Final[Ref[Callable[[str], tzinfo]]] = Ref("zoneinfo:ZoneInfo")  # three milliseconds, and few ask for the time
_ZONES: Final[Ref[Callable[[], set[str]]]] = Ref("zoneinfo:available_timezones")
_OFFSET: Final = r"(?:UTC)?([+-])(\d{1,2})(?::?(\d{2}))?"
_EXAMPLE: Final = "2026-03-29T01:30 or 2026-03-29T01:30+02:00"


class TimeParameters(Parameters):
    """A time, or two."""

    at: str | None = argument(
        default=None, max_length=100, description=f"A time, such as {_EXAMPLE}, or seconds since 1970; by default now."
    )
    zone: str | None = argument(
        default=None,
        max_length=100,
        description="The zone to show times in, and of those that name none, such as Europe/Berlin, UTC or +05:30; "
        "by default that of the user's machine.",
    )
    until: str | None = argument(
        default=None, max_length=100, description="Another time, for the difference from the first to it."
    )


class Time(TypedTool[TimeParameters]):
    """Tells the time."""

    name = "time"
    description = "Get the present date and time, a time in another time zone, or the difference between two times."
    parameters = TimeParameters
    parallel = True
    on_demand = True

    def bind(self, parameters: TimeParameters, context: ToolContext) -> Invocation:
        """The invocation of one question."""
        return _Telling(parameters, now=context.clock.now())


class _Telling(Invocation):
    def __init__(self, parameters: TimeParameters, *, now: float) -> None:
        self._parameters = parameters
        self._now = now
        about = [each for each in (parameters.at or "now", parameters.until, parameters.zone) if each]
        self.view = CallView(title=f"Tell the time: {shortened(', '.join(about))}", kind="other")

    async def run(self) -> ToolResult:
        text = await to_thread.run_sync(self._answer)
        return ToolResult(parts=(TextPart(text=text),), raw={"text": text})

    def _answer(self) -> str:
        zone = None if self._parameters.zone is None else _zone(self._parameters.zone)
        try:
            return self._in_words(zone)
        except OverflowError as error:
            raise ToolError("Only times in the years 1 to 9999 can be shown.") from error

    def _in_words(self, zone: tzinfo | None) -> str:
        at = _parsed(self._parameters.at, zone=zone, now=self._now)
        if self._parameters.until is None:
            return _spoken(at, self._parameters.zone)
        until = _parsed(self._parameters.until, zone=zone, now=self._now)
        zones = self._parameters.zone
        return "\n".join(
            [
                _spoken(at, zones),
                _spoken(until, zones),
                f"difference: {_difference(until.astimezone(UTC) - at.astimezone(UTC))}",
            ]
        )


def _zone(name: str) -> tzinfo:
    """The zone of a name or an offset.

    Raises:
        ToolError: There is no such zone.
    """
    offset = re.fullmatch(_OFFSET, name.strip(), re.IGNORECASE)
    if name.strip().upper() in {"UTC", "Z", "GMT"}:
        return UTC
    if offset is not None and int(offset[2]) < 24 and int(offset[3] or 0) < 60:
        size = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(-size if offset[1] == "-" else size)
    try:
        return _ZONE.load()(name.strip())
    except (KeyError, ValueError, OSError) as error:
        near = get_close_matches(name.replace(" ", "_"), sorted(_ZONES.load()()), n=3, cutoff=0.5)
        hint = f"; near names: {', '.join(near)}" if near else ""
        raise ToolError(
            f"There is no time zone {name!r}{hint}. Write Area/City, UTC or an offset such as +02:00."
        ) from error


def _parsed(text: str | None, *, zone: tzinfo | None, now: float) -> datetime:
    if text is None or text.strip().lower() == "now":
        return datetime.fromtimestamp(now, tz=UTC).astimezone(zone)
    try:
        if re.fullmatch(r"-?\d{5,12}(?:\.\d+)?", text.strip()):
            return datetime.fromtimestamp(float(text), tz=UTC).astimezone(zone)
        given = datetime.fromisoformat(text.strip())
    except (ValueError, OSError) as error:
        raise ToolError(f"{text!r} is no time. Write it as {_EXAMPLE}, or as seconds since 1970.") from error
    if given.tzinfo is None:
        return given.astimezone() if zone is None else given.replace(tzinfo=zone)
    return given.astimezone(zone)


def _spoken(time: datetime, zone: str | None) -> str:
    offset = time.strftime("%z")
    year, week, _ = time.isocalendar()
    named = zone or time.tzname() or ""
    return (
        f"{time:%Y-%m-%d %H:%M:%S} {time:%A}, {named} (UTC{offset[:3]}:{offset[3:5]}), week {week} of {year}, "
        f"{time.timestamp():.0f} s since 1970"
    )


def _difference(between: timedelta) -> str:
    size = abs(between)
    minutes, seconds = divmod(size.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    counted = ((size.days, "day"), (hours, "hour"), (minutes, "minute"), (seconds, "second"))
    parts = [amount(count, unit) for count, unit in counted if count]
    sign = "-" if between < timedelta() else ""
    return f"{sign}{' '.join(parts) or '0 seconds'} ({between.total_seconds():,.0f} s)"
