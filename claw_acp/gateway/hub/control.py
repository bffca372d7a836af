"""The control interface of a hub: requests of `claw-acp serve --status` and `--stop`, and of other programs.

Plain JSON-RPC 2.0, batches too, by jsonrpcserver; one line each.
"""

import os
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import anyio
from jsonrpcserver import Result, Success, async_dispatch

from claw_acp.core.version import VERSION
from claw_acp.rpc.framing import Oversized
from claw_acp.rpc.peer import Transport
from claw_acp.runtime.engine_host import EngineHost

Method: TypeAlias = Callable[..., Any]


class ControlPort(Protocol):
    """What a control client can see and do."""

    started_at: float
    stop: Callable[[], None]

    @property
    def attached(self) -> int:
        """The number of programs that are attached."""
        ...

    @property
    def engine(self) -> EngineHost:
        """The engine."""
        ...


async def serve_control(transport: Transport, hub: ControlPort) -> None:
    """Answer until the client leaves."""
    methods = _methods(hub)
    while (frame := await transport.receive()) is not None:
        if isinstance(frame, Oversized):
            continue
        answer = await async_dispatch(frame.decode("utf-8", "replace"), methods)
        if answer:
            transport.send(answer.encode() + b"\n")


def _methods(hub: ControlPort) -> dict[str, Method]:
    async def status() -> Result:
        engine = await hub.engine.engine()
        sessions = engine.sessions.in_use()
        return Success(
            {
                "version": VERSION,
                "pid": os.getpid(),
                "uptimeSeconds": round(anyio.current_time() - hub.started_at, 1),
                "attached": hub.attached,
                "sessions": len(sessions),
                "turns": sum(bool(live.turns) for live in sessions),
            }
        )

    async def shutdown() -> Result:
        hub.stop()
        return Success({})

    return {"hub/status": status, "hub/shutdown": shutdown}
