"""The session requests shared by both protocols: listing, removing, and the steps around opening."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel

from claw_acp.acp.connection import Connection
from claw_acp.acp.view import SessionView
from claw_acp.acp.warm_up import for_prompts
from claw_acp.core.clock import iso_time
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.events import CommandsChanged, SessionChanged
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.peer import IncomingCall
from claw_acp.runtime.engine import Engine
from claw_acp.runtime.live_session import LiveSession
from claw_acp.schema.invalid import parse
from claw_acp.schema.sessions import DeleteSessionRequest, ListSessionsRequest
from claw_acp.session.pages import Archived
from claw_acp.session.record import SessionRecord

TAKEN_BACK = 6.0  # seconds to let go of a session whose opening failed; its servers may take three, journals are slow


async def list_sessions(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """A page of sessions, the last changed first."""
    request = parse(ListSessionsRequest, params, method=call.method)
    engine = await connection.engine()
    page = await engine.sessions.list(
        cwd=request.cwd, archived=_archive_filter(request.archived), cursor=request.cursor
    )
    can_archive = connection.serves("session/archive")
    infos = [session_info(record) | ({"archived": record.archived} if can_archive else {}) for record in page.records]
    result: dict[str, JsonValue] = {"sessions": infos}
    return result | ({"nextCursor": page.next_cursor} if page.next_cursor else {})


def _archive_filter(wanted: str | None) -> Archived:
    known: dict[str, Archived] = {"exclude": "exclude", "include": "include", "only": "only"}
    if wanted is not None and wanted not in known:
        raise InvalidRequest(f"session/list: `archived` {wanted!r} is unknown; use {', '.join(known)}")
    return known[wanted or "exclude"]


async def delete(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Remove a session for good; it need not exist."""
    request = parse(DeleteSessionRequest, params, method=call.method)
    call.on_cancel = finish_anyway
    await (await connection.engine()).sessions.delete(request.session_id)
    connection.forget(request.session_id)
    return {}


async def close_open(connection: Connection, call: IncomingCall, session_id: str) -> None:
    """Cancel the work of a session that is open here, and release it; its last updates come first, and none after.

    It goes on for other clients that have it open.
    """
    call.on_cancel = finish_anyway
    await connection.leave(session_id)


def finish_anyway() -> None:
    """Ignore the cancellation of a request that releases things: half released is of no use."""


@asynccontextmanager
async def opening(
    connection: Connection, engine: Engine, *, made: bool = False
) -> AsyncGenerator[Callable[[LiveSession], SessionView]]:
    """Surround the handling of a request that opens a session, up to its answer.

    Makes the opened session active here. If the block fails or is cancelled, the client does not learn of the session:
    it is released again, unless the client had it open before, or opens it by another request as well.

    Args:
        connection: The connection of the client.
        engine: Opens the session.
        made: The session is new, and deleted again.
    """
    views: list[SessionView] = []

    def enter(live: LiveSession) -> SessionView:
        view = connection.open(live)
        view.openings += 1
        views.append(view)
        return view

    try:
        yield enter
    except BaseException:
        for view in views:
            view.openings -= 1
            if not (view.known or view.openings):
                with anyio.CancelScope(shield=True, deadline=anyio.current_time() + TAKEN_BACK):
                    await _take_back(connection, engine, view.live, made=made)
        raise
    for view in views:
        view.openings -= 1
        view.known = True


async def _take_back(connection: Connection, engine: Engine, live: LiveSession, *, made: bool) -> None:
    connection.forget(live.session.id)
    if not live.session.subscribers:
        await (engine.sessions.delete if made else engine.sessions.close)(live.session.id)


async def settle(engine: Engine, view: SessionView) -> None:
    """Finish opening a session: send commands and notices, and load what the first prompt needs."""
    view.live.enter(view)
    await anyio.lowlevel.checkpoint()  # the answer leaves at the end of this tick, before all that follows is loaded
    await find_commands(view.live)
    await view.announce()
    await view.live.extensions.announce()
    await for_prompts(engine, view.live)


async def introduce(engine: Engine, view: SessionView) -> None:
    """Finish copying a session: send the title of the copy, then go on as for any new session."""
    await view.show(SessionChanged(title=view.live.session.record.title))
    await settle(engine, view)


async def find_commands(live: LiveSession) -> None:
    """Look for prompt files before the commands are sent; other clients of the session are notified of changes."""
    if await live.commands.look() and len(live.session.subscribers) > 1:
        await live.session.broadcast(CommandsChanged())


async def prepare_history(engine: Engine, view: SessionView) -> None:
    """Fold a long conversation into messages now, so that the first prompt need not wait for it."""
    view.live.enter(view)
    view.live.session.history.messages()
    await view.live.extensions.announce()
    await for_prompts(engine, view.live)


def session_info(record: SessionRecord) -> dict[str, JsonValue]:
    """The entry of a session in a list."""
    info: dict[str, JsonValue] = {
        "sessionId": record.id,
        "cwd": record.cwd,
        "updatedAt": iso_time(record.updated_at),
    }
    if record.additional_directories:
        info["additionalDirectories"] = list(record.additional_directories)
    return info | ({"title": record.title} if record.title else {})
