"""The diagnostics that a language server publishes by itself, told apart by the version of the text they are about."""

from pathlib import Path
from typing import Final

import anyio

from claw_acp.core.file_uri import path_of
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.errors import ConnectionClosed

QUIET_SECONDS: Final = 0.5
"""Seconds of silence after which diagnostics without a version count as complete."""


class Published:
    """The latest published diagnostics of each file."""

    def __init__(self) -> None:
        self._latest: dict[str, tuple[JsonValue, JsonValue]] = {}  # path -> version and items
        self._news = anyio.Event()
        self._states_versions = False  # then what it publishes without one is about closed files
        self._closed = False

    async def take(self, params: JsonObject) -> None:
        """Handle `textDocument/publishDiagnostics`."""
        uri, version = params.get("uri"), params.get("version")
        self._states_versions = self._states_versions or isinstance(version, int)
        if isinstance(uri, str) and (isinstance(version, int) or not self._states_versions):
            self._latest[path_of(uri)] = version, params.get("diagnostics")
            self._tell()

    def expect(self, path: Path) -> None:
        """Forget what was published about a file, as it changes now."""
        self._latest.pop(str(path), None)

    def close(self) -> None:
        """Wake those who wait: nothing more will come."""
        self._closed = True
        self._tell()

    async def diagnostics(self, path: Path, *, version: int) -> JsonValue:
        """Wait for the diagnostics of this version of a file.

        Some servers name no version, and publish in steps: of theirs, the last ones before a silence are taken.

        Raises:
            ConnectionClosed: None will come.
        """
        while True:
            stated, items = self._latest.get(str(path), (-1, None))
            if stated == version:
                return items
            if self._closed:
                raise ConnectionClosed("the server has ended")
            with anyio.move_on_after(QUIET_SECONDS if stated is None else None) as silence:
                await self._news.wait()
            if silence.cancelled_caught:
                return items

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()
