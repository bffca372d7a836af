"""The end of a session's life in this process, and what is told to those who watch it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from claw_acp.contracts.session_setup import Instructions, SessionSetup
from claw_acp.core.errors import InvalidRequest, SessionNotFound
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.engine import Engine, OpenSession
from tests.support.seen import Seen


@asynccontextmanager
async def _engine(home: Path) -> AsyncGenerator[Engine]:
    environ = {"HOME": str(home), "CLAW_ACP_HOME": str(home / "claw"), "PATH": "/usr/bin:/bin"}
    async with open_engine(environ=environ) as engine:
        yield engine


@pytest.mark.parametrize("way", ["close", "archive", "delete"])
async def test_whoever_watches_is_told_once_that_the_session_is_closed(tmp_path: Path, way: str) -> None:
    async with _engine(tmp_path) as engine:
        opened = await engine.create(SessionSetup(cwd=str(tmp_path)))
        watchers = [Seen(), Seen()]
        opened.session.watchers.extend(watchers)
        await getattr(engine, way)(opened.session.id)
        assert [watcher.closed for watcher in watchers] == [True, True]


async def test_a_session_that_could_not_be_opened_whole_is_not_left_open(tmp_path: Path) -> None:
    async with _engine(tmp_path) as engine:
        made = await engine.create(SessionSetup(cwd=str(tmp_path)))
        session = made.session.id
        await engine.close(session)
        new = SessionSetup(cwd=str(tmp_path), instructions=Instructions(mode="append", text="x"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(engine.open, session, new)
            while await engine.status(session) == "saved":  # until it is being opened
                pass
            tasks.cancel_scope.cancel()
        assert await engine.status(session) == "saved"
        with pytest.raises(InvalidRequest):
            await engine.open(session, SessionSetup(cwd=str(tmp_path / "nowhere")))
        assert await engine.status(session) == "saved"


async def test_what_is_being_opened_while_it_is_deleted_is_gone_all_the_same(tmp_path: Path) -> None:
    async with _engine(tmp_path) as engine:
        setup = SessionSetup(cwd=str(tmp_path))
        session = (await engine.create(setup)).session.id
        await engine.close(session)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(engine.open, session, setup)
            await anyio.lowlevel.checkpoint()  # now its record is read
            await engine.delete(session)
        with pytest.raises(SessionNotFound):
            await engine.open(session, setup)


async def test_what_is_closed_while_it_is_being_opened_is_opened_again(tmp_path: Path) -> None:
    async with _engine(tmp_path) as engine:
        first = await engine.create(SessionSetup(cwd=str(tmp_path)))
        opened: list[OpenSession] = []

        async def open_it() -> None:
            brief = Instructions(mode="append", text="Be brief.")
            opened.append(await engine.open(first.session.id, SessionSetup(cwd=str(tmp_path), instructions=brief)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(open_it)
            await anyio.lowlevel.checkpoint()  # now its instructions are being kept
            await engine.close(first.session.id)
        assert opened[0].closed is None
        assert await engine.status(first.session.id) == "open"
