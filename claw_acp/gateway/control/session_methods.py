"""Control methods about sessions."""

from collections.abc import Sequence

from claw_acp.core.clock import iso_time
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.events import Event, MessageStarted, TextDelta
from claw_acp.core.messages import TextPart
from claw_acp.gateway.control.server import ControlledServer
from claw_acp.gateway.control.wire import (
    Cancelled,
    Nothing,
    SessionDetail,
    SessionFacts,
    SessionId,
    SessionMessage,
    SessionPage,
    SessionsQuery,
    ShowSession,
)
from claw_acp.runtime.engine import Engine
from claw_acp.runtime.live_session import LiveSession
from claw_acp.session.record import SessionRecord


async def list_sessions(server: ControlledServer, params: SessionsQuery) -> SessionPage:
    """A page of all sessions."""
    sessions = (await server.engine.engine()).sessions
    page = await sessions.list(cwd=params.cwd, archived=params.archived, cursor=params.cursor)
    facts = [_facts(record, sessions.look_at(record.id)) for record in page.records]
    return SessionPage(sessions=facts, next_cursor=page.next_cursor)


async def open_sessions(server: ControlledServer, _params: Nothing) -> SessionPage:
    """The sessions in use; those of attempts are part of others."""
    in_use = (await server.engine.engine()).sessions.in_use()
    return SessionPage(sessions=[_facts(live.session.record, live) for live in in_use if live.parent is None])


async def show_session(server: ControlledServer, params: ShowSession) -> SessionDetail:
    """A session with its last messages."""
    engine = await server.engine.engine()
    record = await engine.sessions.record(params.session_id)
    live = engine.sessions.look_at(record.id)
    events = await (engine.shared.journal.read(record.id) if live is None else live.session.conversation())
    messages = _messages(events)
    return SessionDetail(session=_facts(record, live), messages=messages[-params.messages :] if params.messages else [])


async def cancel(server: ControlledServer, params: SessionId) -> Cancelled:
    """Cancel the running turn of a session and those that wait."""
    live = _in_use(await server.engine.engine(), params.session_id)
    turns = len(live.turns)
    live.session.cancel()
    return Cancelled(turns=turns)


async def close(server: ControlledServer, params: SessionId) -> Nothing:
    """Close a session for all clients; it stays stored."""
    engine = await server.engine.engine()
    await engine.sessions.close(_in_use(engine, params.session_id).session.id)
    return Nothing()


async def archive(server: ControlledServer, params: SessionId) -> Nothing:
    """Close a session, and leave it out of ordinary lists."""
    await (await server.engine.engine()).sessions.archive(params.session_id)
    return Nothing()


async def unarchive(server: ControlledServer, params: SessionId) -> Nothing:
    """Show a session in ordinary lists again."""
    await (await server.engine.engine()).sessions.unarchive(params.session_id)
    return Nothing()


async def delete(server: ControlledServer, params: SessionId) -> Nothing:
    """Close a session and remove it for good."""
    sessions = (await server.engine.engine()).sessions
    await sessions.record(params.session_id)
    await sessions.delete(params.session_id)
    return Nothing()


def _in_use(engine: Engine, session_id: str) -> LiveSession:
    live = engine.sessions.look_at(session_id)
    if live is None:
        raise InvalidRequest(f"session {session_id} is not in use; `sessions/open` lists those that are")
    return live


def _facts(record: SessionRecord, live: LiveSession | None) -> SessionFacts:
    return SessionFacts(
        session_id=record.id,
        title=record.title,
        cwd=record.cwd,
        mode=record.mode,
        model=record.model,
        created_at=iso_time(record.created_at),
        updated_at=iso_time(record.updated_at),
        archived=record.archived,
        open=live is not None,
        turns=0 if live is None else len(live.turns),
        watching=0 if live is None else len(live.session.subscribers),
    )


def _messages(events: Sequence[Event]) -> list[SessionMessage]:
    """The messages with text, in order."""
    roles: dict[str, MessageStarted] = {}
    pieces: dict[str, list[str]] = {}
    for event in events:
        match event:
            case MessageStarted(item=item, parts=parts):
                roles[item] = event
                pieces[item] = [part.text for part in parts if isinstance(part, TextPart)]
            case TextDelta(item=item, text=text) if item in pieces:
                pieces[item].append(text)
            case _:
                pass
    return [
        SessionMessage(role=roles[item].role, text=text) for item, said in pieces.items() if (text := "".join(said))
    ]
