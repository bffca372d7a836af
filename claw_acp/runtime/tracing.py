"""Spans and metrics of turns, sent to where the configuration says; without that, nothing of it is loaded."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

import anyio
from anyio import from_thread, lowlevel, to_thread

from claw_acp.config.current import CurrentSettings
from claw_acp.config.settings import Settings
from claw_acp.core.clock import Clock
from claw_acp.core.errors import BrokenExtension
from claw_acp.registry.reference import Ref
from claw_acp.runtime.live_session import LiveSession
from claw_acp.session.session import Session

if TYPE_CHECKING:
    from claw_acp.telemetry.otlp import OtlpExport

log = logging.getLogger(__name__)

FLUSH_TIMEOUT: Final = 0.8  # seconds at the end; the whole program has two
EXPORT: "Ref[Callable[..., OtlpExport]]" = Ref("claw_acp.telemetry.otlp:OtlpExport")

_followed: "WeakSet[Session]" = WeakSet()
_exports: "dict[str, OtlpExport]" = {}


class Tracing:
    """Follows sessions with spans and metrics.

    Args:
        configuration: Says where they are sent.
        clock: Time.
    """

    def __init__(self, configuration: CurrentSettings, *, clock: Clock) -> None:
        self._configuration = configuration
        self._clock = clock
        self._opening = anyio.Lock()
        self._broken = False
        self._export: OtlpExport | None = None

    async def follow(self, live: LiveSession) -> None:
        """Follow a session from now on, if that is wanted."""
        export, session = await self._opened(live.settings), live.session
        if export is not None and session not in _followed:
            _followed.add(session)
            spans = export.session_spans(session.id, model=lambda: session.record.model)
            session.subscribers.observers += (spans,)

    @asynccontextmanager
    async def workflow(self, name: str, *, folder: Path) -> AsyncGenerator[None]:
        """Let the turns of the block belong together, as the run of a job."""
        export = await self._opened(self._configuration.for_folder(folder))
        if export is None:
            yield
            return
        with export.workflow(name):
            yield

    async def aclose(self) -> None:
        """Send what waits, within a bound."""
        if self._export is None:
            return
        sent, loop = anyio.Event(), lowlevel.current_token()

        def done() -> None:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                from_thread.run_sync(sent.set, token=loop)

        self._export.flush(done)
        with anyio.move_on_after(FLUSH_TIMEOUT, shield=True):
            await sent.wait()

    async def _opened(self, settings: Settings) -> "OtlpExport | None":
        endpoint = settings.telemetry.endpoint
        if endpoint is None or self._broken or self._export is not None:
            return self._export
        async with self._opening:
            if self._export is None and not self._broken:
                try:
                    self._export = await to_thread.run_sync(partial(self._open, settings, endpoint))
                except BrokenExtension:
                    log.warning("[telemetry] needs packages that are not installed: pip install 'claw-acp[otel]'")
                except Exception as error:  # noqa: BLE001 - keys, and a library that reads variables of its own
                    log.warning("[telemetry] cannot be used", extra={"reason": f"{type(error).__name__}: {error}"})
                self._broken = self._export is None
        return self._export

    def _open(self, settings: Settings, endpoint: str) -> "OtlpExport":
        """The export of the process to this place; loads the libraries."""
        if endpoint not in _exports:
            telemetry, secrets, environ = settings.telemetry, self._configuration.secrets, settings.environ
            headers = {name: text.get(environ, secrets) for name, text in telemetry.headers.items()}
            _exports[endpoint] = EXPORT.load()(endpoint, headers=headers, content=telemetry.content, clock=self._clock)
        return _exports[endpoint]
