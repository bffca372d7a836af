"""Published facts about models, cached here: read at once, and updated once a day by a separate process."""

import logging
import shlex
import sys
from pathlib import Path
from typing import Final

import anyio

from claw_acp.config.current import CurrentSettings
from claw_acp.config.settings import Settings
from claw_acp.contracts.workspace import Command
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ToolError
from claw_acp.core.private_directory import make_private
from claw_acp.core.value import replace
from claw_acp.providers.catalog.reference import KeptReference
from claw_acp.workspace.process_host import ProcessHost

BUILD: Final = "claw_acp.providers.catalog.reference_build"
LIFE: Final = 24 * 3600.0  # seconds a reference is taken for new
BUILD_TIMEOUT: Final = 60.0  # seconds for the process; it fetches a megabyte, where that is allowed
TELLING: Final = 2000  # bytes of what it prints

log = logging.getLogger(__name__)


class ReferenceUpkeep:
    """Keeps the model reference up to date.

    Args:
        configuration: Receives it.
        directory: The directory it is cached in.
        processes: Runs the program that builds it.
        clock: Time.
    """

    def __init__(
        self, configuration: CurrentSettings, *, directory: Path, processes: ProcessHost, clock: Clock
    ) -> None:
        self._configuration = configuration
        self._directory = directory
        self._processes = processes
        self._clock = clock
        self._read = False
        self._built = 0.0
        self._tried = False  # whether it was made anew here already, or could not be
        self._making: anyio.Event | None = None

    def recall(self, settings: Settings) -> None:
        """Load the cached reference, once. Blocks for a small file."""
        if not self._read and settings.model_reference != "off":
            self._read = True
            self._take_in()

    async def refresh(self, settings: Settings) -> None:
        """Update the reference when it is old; services that cannot be updated stay as they were."""
        age = self._clock.now() - self._built
        if settings.model_reference == "off" or self._making or (self._tried and not self._built) or 0 <= age < LIFE:
            return
        self._making, self._tried = anyio.Event(), True
        try:
            await self._make(update=settings.model_reference == "published")
            self._take_in()
        finally:
            self._making.set()
            self._making = None

    async def settled(self, *, within: float) -> None:
        """Wait for a running update, if any."""
        if self._making is not None:
            with anyio.move_on_after(within):
                await self._making.wait()

    async def _make(self, *, update: bool) -> None:
        argv = [sys.executable, "-m", BUILD, str(self._directory), *(["--update"] if update else [])]
        try:
            make_private(self._directory)
            command = Command(line=f"exec nice {shlex.join(argv)}", cwd=self._directory, output_limit=TELLING)
            process = await self._processes.start(command)
        except (OSError, ToolError) as error:
            log.info("no reference of models", extra={"reason": str(error)})
            return
        try:
            with anyio.move_on_after(BUILD_TIMEOUT):
                status = await process.wait()
                if status.code:
                    printed = (await process.output()).text
                    log.info("no reference of models", extra={"code": status.code, "said": printed[-200:]})
        finally:
            with anyio.CancelScope(shield=True):
                await process.release()

    def _take_in(self) -> None:
        kept = KeptReference(self._directory)
        if kept.built and kept.built != self._built:
            self._built = kept.built
            self._configuration.learn(replace(self._configuration.discovered, reference=kept))
