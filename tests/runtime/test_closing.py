"""The end of a session's life in this process, and what is told to those who watch it."""

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from claw_acp.contracts.mcp_server import StdioServer
from claw_acp.core.errors import InvalidRequest, SessionNotFound
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.engine import Engine
from claw_acp.runtime.live_session import LiveSession
from claw_acp.session.session import Session
from claw_acp.session.setup import Instructions, SessionSetup
from tests.mcp.support import RAW_SERVER
from tests.support.program.agent_process import eventually
from tests.support.quiet import QUIET
from tests.support.seen import Seen


@asynccontextmanager
async def _engine(home: Path) -> AsyncGenerator[Engine]:
    environ = {**QUIET, "HOME": str(home), "CLAW_ACP_HOME": str(home / "claw"), "PATH": "/usr/bin:/bin"}
    async with open_engine(environ=environ) as engine:
        yield engine


@pytest.mark.parametrize("way", ["close", "archive", "delete"])
async def test_whoever_watches_is_told_once_that_the_session_is_closed(tmp_path: Path, way: str) -> None:
    async with _engine(tmp_path) as engine:
        live = await engine.sessions.create(SessionSetup(cwd=str(tmp_path)))
        watchers = [Seen(), Seen()]
        for watcher in watchers:
            live.session.subscribers.append(watcher)
        await getattr(engine.sessions, way)(live.session.id)
        assert [watcher.closed for watcher in watchers] == [True, True]


async def test_a_session_that_could_not_be_opened_whole_is_not_left_open(tmp_path: Path) -> None:
    async with _engine(tmp_path) as engine:
        made = await engine.sessions.create(SessionSetup(cwd=str(tmp_path)))
        session = made.session.id
        await engine.sessions.close(session)
        new = SessionSetup(cwd=str(tmp_path), instructions=Instructions(mode="append", text="x"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(engine.sessions.open, session, new)
            while await engine.sessions.status(session) == "saved":  # until it is being opened
                pass
            tasks.cancel_scope.cancel()
        assert await engine.sessions.status(session) == "saved"
        with pytest.raises(InvalidRequest):
            await engine.sessions.open(session, SessionSetup(cwd=str(tmp_path / "nowhere")))
        assert await engine.sessions.status(session) == "saved"


async def test_what_is_being_opened_while_it_is_deleted_is_gone_all_the_same(tmp_path: Path) -> None:
    async with _engine(tmp_path) as engine:
        setup = SessionSetup(cwd=str(tmp_path))
        session = (await engine.sessions.create(setup)).session.id
        await engine.sessions.close(session)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(engine.sessions.open, session, setup)
            await anyio.lowlevel.checkpoint()  # now its record is read
            await engine.sessions.delete(session)
        with pytest.raises(SessionNotFound):
            await engine.sessions.open(session, setup)


async def test_what_is_closed_while_it_is_being_opened_is_opened_again(tmp_path: Path) -> None:
    async with _engine(tmp_path) as engine:
        first = await engine.sessions.create(SessionSetup(cwd=str(tmp_path)))
        live: list[LiveSession] = []

        async def open_it() -> None:
            brief = Instructions(mode="append", text="Be brief.")
            setup = SessionSetup(cwd=str(tmp_path), instructions=brief)
            live.append(await engine.sessions.open(first.session.id, setup))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(open_it)
            await anyio.lowlevel.checkpoint()  # now its instructions are being kept
            await engine.sessions.close(first.session.id)
        assert live[0].closed is None
        assert await engine.sessions.status(first.session.id) == "open"


class _Stuck:
    """Something a tool keeps that cannot be freed."""

    async def aclose(self) -> None:
        raise RuntimeError("stuck")


async def test_servers_end_even_if_something_else_cannot_be_closed(tmp_path: Path) -> None:
    log = tmp_path / "raw.jsonl"
    habits = json.dumps({"log": str(log)})
    server = StdioServer(name="raw", command=sys.executable, args=(str(RAW_SERVER), habits))
    async with _engine(tmp_path) as engine:
        live = await engine.sessions.create(SessionSetup(cwd=str(tmp_path), servers=(server,)))
        await eventually(lambda: log.exists() and "tools/list" in log.read_text(), what="the server")
        live.session.tool_state.items["stuck"] = _Stuck()
        with pytest.raises(RuntimeError, match="stuck"):
            await engine.sessions.close(live.session.id)
        with pytest.raises(ProcessLookupError):
            os.kill(json.loads(log.read_text().splitlines()[0])["pid"], 0)
        assert await engine.sessions.status(live.session.id) == "saved"


class _Looking:
    """Something a tool keeps; while it is freed it looks whether the session is archived."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.archived = False

    async def aclose(self) -> None:
        await self._session.catch_up()
        self.archived = self._session.record.archived


async def test_whoever_waits_for_the_end_of_an_archived_session_finds_it_archived(tmp_path: Path) -> None:
    async with _engine(tmp_path) as engine:
        live = await engine.sessions.create(SessionSetup(cwd=str(tmp_path)))
        looking = live.session.tool_state.items["looking"] = _Looking(live.session)
        await engine.sessions.archive(live.session.id)
        assert looking.archived
