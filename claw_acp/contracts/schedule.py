"""The contract of schedules: jobs, their timing, their runs, and the ports around them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol, TypeAlias

from claw_acp.core.mode import Mode
from claw_acp.core.value import Value

MissedPolicy = Literal["run_once", "skip", "run_all"]
"""The fate of occurrences that passed while nothing ran: one run for all of them, none, or a run for each (bounded)."""

RunStatus = Literal["running", "succeeded", "failed", "cancelled", "interrupted", "skipped"]
"""interrupted: the process ended during the run. skipped: it never began."""

DeliveryKind = Literal["none", "session", "command", "webhook", "program"]


class At(Value):
    """One moment, in seconds since the epoch."""

    moment: float


class Every(Value):
    """A period in seconds, counted from `anchor`, so that runs which take long do not shift the later ones."""

    seconds: int
    anchor: float


class Cron(Value):
    """Five fields of cron in a time zone (an IANA name; empty: the machine's)."""

    expression: str
    zone: str = ""


Timing: TypeAlias = At | Every | Cron


class Delivery(Value):
    """The place that results go to: a session's id, a line for the shell, a URL, a `FireTarget` as text."""

    kind: DeliveryKind = "none"
    target: str = ""


class Job(Value):
    """A job, as people write it.

    Attributes:
        name: Unique.
        timing: Its times.
        cwd: The directory it works in, absolute.
        prompt: The prompt of each run; with `heartbeat` it comes from HEARTBEAT.md in `cwd` instead.
        heartbeat: Run only while HEARTBEAT.md holds tasks, and deliver only what is worth it.
        session: The session that all runs belong to; None: each has its own.
        mode: The mode of a session of its own; None: the configured one.
        model: The model of a session of its own; None: the configured one.
        tools: The only tools it may use; None: all.
        budget: Dollars that a run may cost; None: as configured for turns.
        timeout: Seconds that a run may take.
        missed: The fate of occurrences that passed while nothing ran.
        jitter: Runs begin up to so many seconds later, by a delay that is fixed for each occurrence.
        retries: How often a failed run is repeated.
        rerun_interrupted: Whether a run that the end of the process interrupted counts as failed, and is repeated.
        delivery: The place that results go to.
    """

    name: str
    timing: Timing
    cwd: str
    prompt: str = ""
    heartbeat: bool = False
    session: str | None = None
    mode: Mode | None = None
    model: str | None = None
    tools: tuple[str, ...] | None = None
    budget: float | None = None
    timeout: int = 3600
    missed: MissedPolicy = "run_once"
    jitter: int = 0
    retries: int = 5
    rerun_interrupted: bool = False
    delivery: Delivery = Delivery()


class RunResult(Value):
    """The end of a run.

    Attributes:
        status: How it ended.
        text: The model's last words.
        detail: Why it failed; what was refused because nobody could be asked.
        session_id: The session it belongs to.
        input_tokens: Tokens of its requests; cached ones are part of them.
        output_tokens: Tokens of the answers.
        cost: Picodollars, as far as prices are known.
        again: Whether it may succeed if it is repeated.
        silent: Whether the result is not worth a delivery.
    """

    status: RunStatus
    text: str = ""
    detail: str = ""
    session_id: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost: int = 0
    again: bool = False
    silent: bool = False


class JobRunner(Protocol):
    """Runs jobs as turns of sessions, unattended."""

    async def run(self, job: Job, *, prompt: str, on_session: Callable[[str], Awaitable[None]]) -> RunResult:
        """Run one prompt to its end; `on_session` is awaited with the session's id before the turn begins.

        Failures are results. Only cancellation passes.
        """
        ...

    async def forget(self, session_id: str) -> None:
        """Delete the session of an old run, unless somebody has it open or brought it back to the lists.

        Raises:
            StoreError: It could not be deleted.
        """
        ...

    async def tell(self, session_id: str, *, title: str, text: str) -> None:
        """Add a result to a session, for those who read it.

        Raises:
            ClawError: There is no such session, or a turn runs in it elsewhere.
        """
        ...


class Fire(Value):
    """A prompt that an attached program says is due.

    Attributes:
        target: The program and its own id of this fire; the same one never runs twice.
        title: Its name, for people.
        prompt: The prompt.
        folder: The directory of a session of its own; None: the home directory.
        session: The session it belongs to; None: one of its own.
        mode: As in `Job`, and so the others.
    """

    target: str
    title: str
    prompt: str
    folder: str | None
    session: str | None
    mode: Mode | None
    model: str | None
    tools: tuple[str, ...] | None
    budget: float | None
    timeout: int | None


class Fires(Protocol):
    """A port: runs what attached programs say is due. Every method may raise StoreError."""

    async def fire(self, fire: Fire) -> bool:
        """Store a fire, which then runs as a job does; False if it was fired before: a result is delivered again.

        Raises:
            InvalidRequest: Something about it is wrong.
            ServerBusy: Too many wait already.
        """
        ...

    async def deliver_waiting(self, program: str) -> None:
        """Deliver now what waits for a program, which attached; `program` is the beginning of its targets."""
        ...


class ResultTaker(Protocol):
    """A port: hands results to attached programs."""

    async def take_result(self, target: str, result: RunResult) -> str:
        """Hand over the result of a fire; returns the outcome for people.

        Raises:
            ClawError: The program is not attached, or does not answer.
        """
        ...


class JobSummary(Value):
    """A job as models see it: its name, its timing in words, its next time in words (empty: none), its prompt."""

    name: str
    timing: str
    next_time: str
    prompt: str


class Schedules(Protocol):
    """A port: the jobs of the project that a session works in."""

    async def jobs(self) -> Sequence[JobSummary]:
        """The jobs of the project."""
        ...

    async def add(self, name: str, *, prompt: str, timing: "dict[str, str]") -> str:
        """Add a job that reports to the session; `timing` has one of at, every, cron, and perhaps time_zone.

        Returns a sentence about its first time.

        Raises:
            InvalidRequest: The timing is wrong, or the name is taken.
        """
        ...

    async def remove(self, name: str) -> None:
        """Remove a job of the project.

        Raises:
            InvalidRequest: There is none, or it is kept in a file.
        """
        ...
