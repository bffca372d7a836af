"""A command on this machine as people see it run: its terminal, snapshot by snapshot."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from claw_acp.contracts.program import Program
from claw_acp.contracts.workspace import ExitStatus, ProcessOutput, RunningProcess
from claw_acp.core.clock import Clock
from claw_acp.core.events import CommandContent
from claw_acp.core.ids import new_id
from claw_acp.core.screen_text import readable
from claw_acp.core.value import replace
from claw_acp.tools.display import MAX_SHOWN_TEXT
from claw_acp.tools.shell.text import clip

PROGRESS_SECONDS: Final = 0.25
"""The least time between two snapshots of a running command; people read no faster."""

_MARGIN: Final = 200  # characters of a shown block that a note about what was left out may take


class ShellProgram:
    """One command in a terminal of ours, with an id and the end of the output."""

    def __init__(self, process: RunningProcess, *, line: str, cwd: Path, clock: Clock) -> None:
        self._process = process
        self._seen = ProcessOutput(text="", truncated=False, exit=None)
        self._snapshot = CommandContent(terminal_id=new_id("term", clock=clock), line=line, cwd=str(cwd), raw=b"")

    @property
    def snapshot(self) -> CommandContent:
        """See `Program`. At first the terminal is empty."""
        return self._snapshot

    async def next_snapshot(self) -> CommandContent:
        """See `Program`. Output is shown `PROGRESS_SECONDS` later, with all that follows it until then."""
        while True:
            await self._process.changed(self._seen)
            with anyio.move_on_after(PROGRESS_SECONDS):
                await self._process.wait()
            self._seen = await self._process.output()
            before, now = self._snapshot, self._draw(self._seen)
            if now != before:
                return now

    def ended(self, output: ProcessOutput) -> CommandContent:
        """The last snapshot; without an exit status if the command could not be ended."""
        status = output.exit or ExitStatus()
        return self._draw(replace(output, exit=status))

    def stop(self) -> bool:
        """See `Program`."""
        return self._process.stop()

    def _draw(self, output: ProcessOutput) -> CommandContent:
        status = output.exit
        # While it runs only the end is looked at: output may be a thousand times what is shown.
        text = output.text[-2 * MAX_SHOWN_TEXT :] if status is None else output.text
        shown = clip(
            readable(text), limit=MAX_SHOWN_TEXT - _MARGIN, tail_only=status is None or output.truncated
        ).rstrip()
        self._snapshot = replace(
            self._snapshot,
            text=shown,
            raw=output.raw,
            printed=output.printed,
            running=status is None,
            code=None if status is None else status.code,
            signal=None if status is None else status.signal,
        )
        return self._snapshot


if TYPE_CHECKING:
    _conforms: type[Program] = ShellProgram
