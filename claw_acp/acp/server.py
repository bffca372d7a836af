"""Stage two of the start: serve ACP on the descriptors that stage one prepared, until the editor is gone."""

import gc
import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import anyio
from anyio import to_thread

from claw_acp.acp import warm_up
from claw_acp.acp.boot import Answered, Opening
from claw_acp.acp.connection import Connection
from claw_acp.acp.dialect import spoken_versions
from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.process.groups import kill_all_groups
from claw_acp.registry.reference import Ref
from claw_acp.rpc.stdio import stdio_transport
from claw_acp.runtime.deadline import Deadline
from claw_acp.runtime.engine_host import hosted_engine
from claw_acp.runtime.event_loop import SERVER
from claw_acp.security.own_process import make_unreadable
from claw_acp.telemetry.logs import logging_to
from claw_acp.telemetry.trace import FrameTrace

log = logging.getLogger(__name__)

START_HUB: Final[Ref[Callable[[], None]]] = Ref("claw_acp.acp.hub_start:start_hub")


def serve(opening: Opening) -> int:
    """Serve one editor. Returns the exit code."""
    make_unreadable()
    locations = find_locations(os.environ)
    settings = load_settings(locations=locations, environ=os.environ, cwd=None)
    trace = None if settings.trace is None else FrameTrace(settings.trace)
    with logging_to(locations.log_dir, level=settings.log_level):
        for finding in settings.diagnostics:
            log.warning("configuration: %s", finding.text())
        try:
            spoken = spoken_versions(draft=settings.protocol_2)
            anyio.run(_serve, opening, spoken, trace, settings.hub == "start", backend_options=SERVER)
        finally:
            kill_all_groups()
            if trace is not None:
                trace.close()
    return 0


async def _serve(opening: Opening, spoken: Sequence[int], trace: FrameTrace | None, starts_hub: bool) -> None:  # noqa: FBT001 - from `anyio.run`
    deadline = Deadline()
    async with (
        stdio_transport(
            opening.input_fd,
            opening.output_fd,
            splitter=opening.splitter,
            early=opening.frames,
            on_end=deadline.start,
        ) as transport,
        hosted_engine(stop=transport.end, deadline=deadline, warm_up=partial(_warm_up, starts_hub=starts_hub)) as host,
    ):
        if trace is not None and opening.answered is not None:
            _record(opening.answered, trace)
        connection = Connection(
            transport,
            host,
            clock=SYSTEM_CLOCK,
            spoken=spoken,
            answered=None if opening.answered is None else opening.answered.handshake,
            on_frame=None if trace is None else trace.record,
        )
        await connection.run()


def _record(answered: Answered, trace: FrameTrace) -> None:
    """Write the frames of stage one, which has no trace, as the first ones."""
    trace.record("in", answered.frame)
    trace.record("out", answered.answer)


async def _warm_up(*, starts_hub: bool) -> None:
    await warm_up.for_sessions()
    gc.enable()
    gc.freeze()  # what was imported stays; looking through it again and again would only cost time
    if starts_hub:
        await to_thread.run_sync(START_HUB.load())
