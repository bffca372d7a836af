"""A program of the configuration: started, served on its input and output, and started again when it ends."""

import logging
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, Literal, TypeAlias

import anyio

from claw_acp.audit.program_starts import record_start
from claw_acp.contracts.endpoint import LARGEST_FRAME, LEAVE_SECONDS
from claw_acp.core.child_environment import without_keys
from claw_acp.core.clock import Clock
from claw_acp.core.environment import current_environment
from claw_acp.core.errors import StoreError
from claw_acp.core.json_value import JsonObject
from claw_acp.core.printable import plain_lines
from claw_acp.endpoints.attached import AttachedPrograms
from claw_acp.endpoints.greeting import NotAttached, introduce
from claw_acp.endpoints.program_plan import ProgramPlan
from claw_acp.process.child_process import ChildProcess, start_child
from claw_acp.process.output_tail import OutputTail
from claw_acp.rpc.streams import stream_transport

FIRST_PAUSE: Final = 1.0  # seconds until the first restart, doubled with each
LONGEST_PAUSE: Final = 60.0
MOST_ENDS: Final = 5  # ends in `ENDS_WITHIN` seconds after which it is given up
ENDS_WITHIN: Final = 600.0
STEADY: Final = 60.0  # seconds of running after which an end is not the fault of the start
STDERR_KEPT: Final = 16 * 1024
STDERR_TOLD: Final = 400  # characters of its last words, for people
DRAIN_SECONDS: Final = 0.3  # for its last output, when something it started holds its pipes open

State: TypeAlias = Literal["starting", "running", "waiting", "given up"]

log = logging.getLogger(__name__)


class SupervisedProgram:
    """Keeps one program running. `run` returns once it is given up.

    Args:
        plan: The program.
        programs: Serve it.
        about: What it is told about the host.
        clock: Time.

    Attributes:
        state: What it is doing.
        reason: Why it ended last, for people.
    """

    def __init__(self, plan: ProgramPlan, programs: AttachedPrograms, *, about: JsonObject, clock: Clock) -> None:
        self.plan = plan
        self.state: State = "starting"
        self.reason = ""
        self._programs = programs
        self._about = about
        self._clock = clock

    def row(self) -> JsonObject:
        """The program, as a status shows it."""
        return {"name": self.plan.name, "state": self.state, "reason": self.reason}

    async def run(self) -> None:
        """Start it, and again whenever it ends; after too many ends in too short a time it is given up."""
        ends: deque[float] = deque(maxlen=MOST_ENDS)
        pause = FIRST_PAUSE
        while True:
            self.state, began = "starting", self._clock.monotonic()
            self.reason = await self._run_once()
            now = self._clock.monotonic()
            ends.append(now)
            if len(ends) == MOST_ENDS and now - ends[0] <= ENDS_WITHIN:
                self.state = "given up"
                about = {"program": self.plan.name, "ends": MOST_ENDS, "reason": self.reason}
                log.error("a program ends again and again: it is not started any more", extra=about)
                return
            pause = FIRST_PAUSE if now - began >= STEADY else pause
            self.state = "waiting"
            about = {"program": self.plan.name, "seconds": pause, "reason": self.reason}
            log.warning("a program has ended, and is started again", extra=about)
            await anyio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _run_once(self) -> str:
        """Run it until it ends; returns the reason."""
        complaints = OutputTail(limit=STDERR_KEPT)
        try:
            async with _running(self.plan, complaints) as child:
                reason = await self._serve(child)
        except (OSError, ValueError, StoreError) as error:
            return f"it cannot be started: {error}"
        except Exception:  # the program wall: whatever goes wrong costs this program, and not the hub
            log.exception("an attached program failed", extra={"program": self.plan.name})
            return "serving it failed; the log has more"
        words = plain_lines(complaints.raw(limit=STDERR_TOLD).decode("utf-8", "replace").strip())
        return f"{reason}; it wrote last: {words}" if words else reason

    async def _serve(self, child: ChildProcess) -> str:
        assert child.stdin is not None
        assert child.stdout is not None
        async with stream_transport(child.stdout, child.stdin, limit=LARGEST_FRAME) as transport:
            try:
                attached = await introduce(transport, self._about)
                self.state = "running"
                endpoint = await self._programs.serve(transport, attached)
            except NotAttached as error:
                return error.message
        with anyio.move_on_after(DRAIN_SECONDS):
            await child.wait_for_output(within=DRAIN_SECONDS)
        if endpoint.ending is not None:
            return f"it was let go: {endpoint.ending}"
        return "it closed its output" if child.exit_code is None else f"it ended with exit code {child.exit_code}"


@asynccontextmanager
async def _running(plan: ProgramPlan, complaints: OutputTail) -> AsyncGenerator[ChildProcess]:
    await record_start("attached program", name=plan.name, program=plan.argv[0])
    child = await start_child(plan.argv, env={**without_keys(current_environment()), **plan.env}, stdin="pipe")
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(child.drain_stderr, complaints.add)
            yield child
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await child.end(leave=LEAVE_SECONDS)
