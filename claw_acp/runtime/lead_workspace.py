"""The files and terminals of a turn: those of the place that leads it, else this machine's."""

from collections.abc import Sequence
from pathlib import Path

from claw_acp.contracts.workspace import Command, RunningProcess, UnsavedChanges, Workspace
from claw_acp.rpc.errors import ConnectionClosed
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.running_turn import RunningTurn


class LeadWorkspace:
    """Routes each operation to the place that leads the turn now, which may change.

    A place that leaves in the middle of reading or writing a file is replaced by the disk.
    """

    def __init__(self, turn: RunningTurn, live: LiveSession) -> None:
        self._turn = turn
        self._live = live

    @property
    def _lead(self) -> Workspace:
        place = self._turn.lead or self._turn.place
        leads = None if place is None or place not in self._live.places else place.workspace
        return leads or self._live.workspace

    @property
    def roots(self) -> Sequence[Path]:
        """See `Workspace`."""
        return self._live.workspace.roots

    @property
    def unsaved_changes(self) -> UnsavedChanges:
        """See `Workspace`."""
        return self._lead.unsaved_changes

    def locate(self, path: str) -> Path:
        """See `Workspace`."""
        return self._live.workspace.locate(path)

    def contains(self, path: Path) -> bool:
        """See `Workspace`."""
        return self._live.workspace.contains(path)

    async def read_text(self, path: Path) -> str:
        """See `Workspace`."""
        try:
            return await self._lead.read_text(path)
        except ConnectionClosed:
            return await self._live.workspace.read_text(path)

    async def read_bytes(self, path: Path, *, limit: int) -> bytes:
        """See `Workspace`."""
        return await self._live.workspace.read_bytes(path, limit=limit)

    async def write_text(self, path: Path, text: str) -> None:
        """See `Workspace`."""
        try:
            await self._lead.write_text(path, text)
        except ConnectionClosed:
            await self._live.workspace.write_text(path, text)

    async def write_bytes(self, path: Path, content: bytes) -> None:
        """See `Workspace`."""
        await self._lead.write_bytes(path, content)

    async def delete_file(self, path: Path) -> None:
        """See `Workspace`."""
        await self._lead.delete_file(path)

    async def move_file(self, path: Path, *, target: Path) -> None:
        """See `Workspace`."""
        await self._lead.move_file(path, target=target)

    async def start(self, command: Command) -> RunningProcess:
        """See `Workspace`."""
        return await self._lead.start(command)
