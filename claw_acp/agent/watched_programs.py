"""The running programs of tools as the session sees them: without credentials."""

from collections.abc import Generator
from contextlib import contextmanager

from claw_acp.agent.redacted import redacted_command
from claw_acp.contracts.program import Program, Programs
from claw_acp.core.events import CommandContent
from claw_acp.core.redaction import Redactor
from claw_acp.session.active_work import ActiveWork


class WatchedPrograms(Programs):
    """Reports the programs of one tool call to the session's `ActiveWork`."""

    def __init__(self, work: ActiveWork, *, call_id: str, redactor: Redactor) -> None:
        self._work = work
        self._call_id = call_id
        self._redactor = redactor

    @contextmanager
    def running(self, program: Program) -> Generator[None]:
        """See `Programs`."""
        with self._work.running(program):
            yield

    def keep(self, program: Program) -> None:
        """See `Programs`."""
        self._work.keep(program, call_id=self._call_id, clean=self._clean)

    def _clean(self, snapshot: CommandContent) -> CommandContent:
        return redacted_command(snapshot, redactor=self._redactor)
