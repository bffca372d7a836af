"""What `doctor` says of memory."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from claw_acp.cli.doctor.check import Check
from claw_acp.cli.doctor.memory import memory_check
from claw_acp.config.locations import find_locations
from claw_acp.config.memory_section import EmbeddingSection, MemorySection
from claw_acp.config.settings import Settings
from claw_acp.core.value import replace
from claw_acp.memory.sqlite_backend import FILE, opened
from tests.memory.embedding_server import SIZE, EmbeddingServer, embedding_server
from tests.memory.support import setup_of


@pytest.fixture
async def server() -> AsyncGenerator[EmbeddingServer]:
    async with embedding_server() as server:
        yield server


async def check_of(home: Path, embedding: EmbeddingSection | None = None) -> Check:
    locations = find_locations({"CLAW_ACP_HOME": str(home)})
    settings = replace(Settings(), memory=MemorySection(embedding=embedding or EmbeddingSection()))
    return await anyio.to_thread.run_sync(lambda: memory_check(settings, locations=locations))


async def said(home: Path, embedding: EmbeddingSection | None = None) -> tuple[str, str]:
    check = await check_of(home, embedding)
    return check.level, check.detail


async def test_doctor_counts_notes_and_says_what_is_wrong_with_their_store(tmp_path: Path) -> None:
    assert await said(tmp_path) == ("ok", "no notes yet")
    async with opened(setup_of(tmp_path)) as memory:
        await memory.store("port", "Staging listens on 8080.")
    assert await said(tmp_path) == ("ok", "1 note")
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).mkdir()
    level, detail = await said(tmp_path)
    assert (level, FILE in detail) == ("warn", True)


async def test_doctor_asks_the_service_for_vectors(tmp_path: Path, server: EmbeddingServer) -> None:
    section = EmbeddingSection(url=f"http://127.0.0.1:{server.port}", model="small")
    assert await said(tmp_path, section) == ("ok", f"no notes yet; vectors of {SIZE} numbers by small")
    server.answer = lambda _: 401
    check = await check_of(tmp_path, section)
    assert check.level == "warn"
    assert "status 401; check the address, the model and the key" in check.detail
    assert "correct [memory.embedding]" in check.advice
