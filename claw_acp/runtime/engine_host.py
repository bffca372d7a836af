"""A process with one engine: its start, the requests that wait for it, and the signals that end it."""

import logging
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskStatus

from claw_acp.core.errors import ClawError, StoreError
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.deadline import Deadline
from claw_acp.runtime.engine import Engine

log = logging.getLogger(__name__)


class EngineHost:
    """Keeps one engine for a process. `keep` runs beside the connections; they call `engine` when they need it.

    Attributes:
        lasting: Sessions outlast the clients that opened them.
    """

    def __init__(self, open_engine: Callable[[], AbstractAsyncContextManager[Engine]]) -> None:
        self.lasting = False
        self._open_engine = open_engine
        self._engine: Engine | None = None
        self._failure: ClawError | None = None
        self._attempted = anyio.Event()
        self._again = anyio.Event()

    async def engine(self) -> Engine:
        """The engine; waits while it starts. After a failure each call starts it again.

        Raises:
            ClawError: It could not start.
        """
        if self._engine is not None:
            return self._engine  # without a pause: a cancel right behind a prompt must find it in its session
        if self._attempted.is_set():
            self._attempted = anyio.Event()
            self._again.set()
        await self._attempted.wait()
        if self._engine is None:
            raise self._failure or ClawError("the engine has ended")
        return self._engine

    @property
    def has_sessions(self) -> bool:
        """True if sessions that were opened with this engine are in use."""
        return self._engine is not None and self._engine.sessions.has_own

    async def keep(self) -> None:
        """Start the engine and keep it until cancelled; after a failure wait for the next call of `engine`."""
        while True:
            try:
                async with self._open_engine() as self._engine:
                    self._engine.shared.live.lasting |= self.lasting
                    self._attempted.set()
                    await anyio.sleep_forever()
            except (ClawError, OSError) as trouble:
                log.error("engine did not start", extra={"reason": str(trouble)})  # noqa: TRY400 - no traceback needed
                self._engine = None
                self._failure = trouble if isinstance(trouble, ClawError) else StoreError(f"cannot start: {trouble}")
                self._again = anyio.Event()
                self._attempted.set()
                await self._again.wait()


@asynccontextmanager
async def hosted_engine(
    *, stop: Callable[[], None], deadline: Deadline, warm_up: Callable[[], Coroutine[Any, Any, None]]
) -> AsyncGenerator[EngineHost]:
    """Run the engine of a server process, with all that such a process needs, for the block.

    Args:
        stop: Called when a signal ends the process; the block should end then.
        deadline: Started before `stop`: from then on the process ends in time, whatever hangs.
        warm_up: Runs beside the block; loads what will be needed soon.
    """
    async with anyio.create_task_group() as tasks:
        host = EngineHost(open_engine)
        tasks.start_soon(host.keep, name="engine")
        await tasks.start(_stop_on_signal, stop, deadline, name="signals")
        tasks.start_soon(warm_up, name="warm-up")
        yield host
        tasks.cancel_scope.cancel()


async def _stop_on_signal(stop: Callable[[], None], deadline: Deadline, *, task_status: TaskStatus[None]) -> None:
    heard = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under `nohup` it is to be
        heard.append(signal.SIGHUP)
    with anyio.open_signal_receiver(*heard) as signals:
        task_status.started()
        async for number in signals:
            log.info("told to stop", extra={"signal": number.name})
            deadline.start()
            stop()
