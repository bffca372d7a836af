"""Looking up sessions: by a part of an id, or the last one of a directory."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from claw_acp.cli.current_settings import locations_here
from claw_acp.core.errors import ConfigError, InvalidRequest, SessionNotFound
from claw_acp.core.printable import printable
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord

SHORTEST_PART = 4  # characters of an id that stand for it
NAMED = 5  # sessions that are named when a part fits several
ID_HELP = "its id, or an unmistakable beginning or end of it"

_PREFIX = "ses_"


@asynccontextmanager
async def stored_sessions() -> AsyncGenerator[Journal | None]:
    """The journal; None if there is none, as a missing one is not created."""
    file = locations_here().database
    if not file.exists():
        yield None
        return
    async with Journal.opened(file) as journal:
        yield journal


async def find_session(journal: Journal | None, wanted: str) -> SessionRecord:
    """The session whose id is `wanted`, or begins or ends with it; `ses_` may be left out.

    Raises:
        SessionNotFound: There is none.
        InvalidRequest: It matches several, or is too short.
    """
    if journal is not None:
        with suppress(SessionNotFound):
            return await journal.get(wanted)
    part = wanted.lower().removeprefix(_PREFIX)
    if journal is None or not part:
        raise _not_found(wanted)
    if len(part) < SHORTEST_PART:
        raise InvalidRequest(f'"{wanted}" is too little of an id; write {SHORTEST_PART} characters or more')
    found = {
        record.id: record for each in (_PREFIX + part, part) for record in await journal.find(each, limit=NAMED + 1)
    }
    if not found:
        raise _not_found(wanted)
    if len(found) > 1:
        several = "\n".join(
            f"  {record.id}  {printable(record.title or '')}".rstrip() for record in list(found.values())[:NAMED]
        )
        more = "\n  and more" if len(found) > NAMED else ""
        raise InvalidRequest(f'"{wanted}" may be several sessions; write more of the id:\n{several}{more}')
    return next(iter(found.values()))


async def last_session(journal: Journal | None, directory: Path) -> SessionRecord:
    """The session of a directory with the latest message.

    Raises:
        ConfigError: There is none.
    """
    page = None if journal is None else await journal.list(cwd=str(directory), begun=True, limit=1)
    if page is not None and page.records:
        return page.records[0]
    raise ConfigError(f"there is no session of {directory} to continue; leave out --continue to start one")


def _not_found(wanted: str) -> SessionNotFound:
    return SessionNotFound(wanted, f'there is no session "{wanted}"; `claw-acp sessions list` shows them')
