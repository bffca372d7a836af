"""Memories found by what they mean: vectors from a service, which may be down, slow, or another one tomorrow."""

import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.config.key_reference import KeyReference
from claw_acp.config.memory_section import EmbeddingSection
from claw_acp.config.secret_cache import SecretCache
from claw_acp.contracts.memory import Memory
from claw_acp.core.errors import StoreError
from claw_acp.core.value import replace
from claw_acp.memory import session_memory, sqlite_memory
from claw_acp.memory.embedding_endpoint import REST, EmbeddingEndpoint
from claw_acp.memory.sqlite_backend import FILE, opened
from claw_acp.memory.vectors import nearest, packed, signs_of, similar
from tests.memory.embedding_server import SIZE, EmbeddingServer, embedding_server, ollama, openai, vector
from tests.memory.support import TestClock, setup_of
from tests.memory.test_session_memory import last_seen, session_house
from tests.support.program.agent_process import eventually
from tests.support.script_files import call

CAR, PAINT = "The company automobile is parked outside.", "Walls got crimson paint."
SECRET = "sk-proj-Zz81mQ0aVvT3bK9xR2nC7yH5dJ4uE6wL"


@pytest.fixture
async def server() -> AsyncGenerator[EmbeddingServer]:
    async with embedding_server() as server:
        yield server


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_memory, "QUERY_WITHIN", 30.0)  # a busy machine is no part of these tests


@asynccontextmanager
async def store(
    folder: Path, server: EmbeddingServer, *, path: str = "/v1", model: str = "small", clock: TestClock | None = None
) -> AsyncGenerator[Memory]:
    section = EmbeddingSection(
        url=f"http://127.0.0.1:{server.port}{path}", model=model, key=KeyReference.parse("env:VECTOR_KEY")
    )
    clock = clock or TestClock()
    endpoint = EmbeddingEndpoint(section, secrets=SecretCache(), environ={"VECTOR_KEY": "k-1"}, clock=clock)
    async with opened(replace(setup_of(folder, clock=clock), embedding=endpoint)) as memory:
        yield memory


async def fill(memory: Memory) -> None:
    await memory.store("parking", CAR)
    await memory.store("walls", PAINT)
    while await memory.embed_missing():
        pass


async def found(memory: Memory, query: str) -> Sequence[str]:
    return [entry.content for entry in await memory.recall(query)]


@pytest.mark.parametrize(
    ("path", "answer", "asked"),
    [
        ("", openai, b"POST /v1/embeddings HTTP/1.1\r\n"),
        ("/v1", openai, b"POST /v1/embeddings HTTP/1.1\r\n"),
        ("/x/embeddings", openai, b"POST /x/embeddings HTTP/1.1\r\n"),
        ("/api/embed", ollama, b"POST /api/embed HTTP/1.1\r\n"),
    ],
)
async def test_services_are_asked_in_their_own_way_and_sent_no_credentials(
    tmp_path: Path, server: EmbeddingServer, path: str, answer: Callable[[Any], Any], asked: bytes
) -> None:
    server.answer = answer
    async with store(tmp_path, server, path=path) as memory:
        await fill(memory)
        assert await found(memory, f"Which vehicle has {SECRET}?") == [CAR]
    first, last = server.requests
    assert first.startswith(asked)
    assert b"\r\nAuthorization: Bearer k-1\r\n" in first
    assert b"\r\nContent-Type: application/json\r\n" in first
    assert first.endswith(
        b'\r\n\r\n{"model":"small","input":["walls: Walls got crimson paint.",'
        b'"parking: The company automobile is parked outside."]}'
    )
    assert SECRET.encode() not in last


async def test_other_words_find_what_was_meant_and_nothing_that_was_not(
    tmp_path: Path, server: EmbeddingServer
) -> None:
    async with store(tmp_path, server) as memory:
        await fill(memory)
        assert await found(memory, "Where is my car?") == [CAR]
        assert await found(memory, "Is there espresso?") == []
        assert [entry.content for entry in await memory.recall("Where is my car?", mode="bm25")] == []
        await memory.forget((await memory.recall("car"))[0].id)
        assert await found(memory, "Where is my car?") == []
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        rows = [
            connection.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("memory_vector", "memory_sign")
        ]
        assert rows == [(1,), (1,)], "of what is forgotten, nothing stays"


@pytest.mark.parametrize(
    "answer",
    [
        500, 401, 302, {}, {"data": []}, {"data": [{"index": 0, "embedding": [1.0]}]},
        {"embeddings": [[1.0], [1.0, 2.0]]},
        {"embeddings": [["a"], ["b"]]}, {"embeddings": [[0.0], [0.0]]}, {"embeddings": [[1e400], [1.0]]}, [1], "x",
        {"data": [{"index": 0, "embedding": "AAAA"}, 7]}, {"embeddings": [[True], [False]]},
    ],
)  # fmt: skip
async def test_a_service_that_fails_or_answers_nonsense_costs_no_memory_and_is_left_alone_for_a_while(
    tmp_path: Path, server: EmbeddingServer, answer: Any
) -> None:
    clock = TestClock()
    async with store(tmp_path, server, clock=clock) as memory:
        server.answer = lambda _: answer
        await memory.store("parking", CAR)
        await memory.store("walls", PAINT)
        with pytest.raises(StoreError, match="no vectors"):
            await memory.embed_missing()
        assert await found(memory, "automobile") == [CAR]
        asked = len(server.requests)
        assert await found(memory, "crimson") == [PAINT]
        assert len(server.requests) <= asked + 1
        server.answer = openai
        clock.seconds += REST + 1
        while await memory.embed_missing():
            pass
        assert await found(memory, "Where is my car?") == [CAR]


async def test_a_silent_service_keeps_nobody_waiting(
    tmp_path: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_memory, "QUERY_WITHIN", 0.01)
    server.answer = lambda _: None
    async with store(tmp_path, server) as memory:
        await memory.store("parking", CAR)
        assert await found(memory, "automobile") == [CAR]


async def test_another_model_or_another_length_makes_all_vectors_anew(tmp_path: Path, server: EmbeddingServer) -> None:
    async with store(tmp_path, server) as memory:
        await fill(memory)
    async with store(tmp_path, server, model="large") as memory:
        assert await memory.recall("Where is my car?", mode="embedding") == []
        await fill(memory)
        assert await found(memory, "Where is my car?") == [CAR]

    def longer(request: Any) -> Any:
        return {"embeddings": [[*vector(text), 0.5, 0.5] for text in request["input"]]}

    server.answer = longer
    async with store(tmp_path, server, model="large") as memory:
        assert await found(memory, "automobile") == [CAR], "words find it"
        await memory.store("tests", "Checks are green.")
        await fill(memory)
        assert await found(memory, "Where is my car?") == [CAR]
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        rows = connection.execute("SELECT DISTINCT model, length(vector) FROM memory_vector").fetchall()
        assert rows == [("large", 4 * (SIZE + 2))]


async def test_a_text_that_the_service_refuses_keeps_no_other_from_its_vector(
    tmp_path: Path, server: EmbeddingServer
) -> None:
    server.answer = lambda asked: 400 if any("endless" in text for text in asked["input"]) else openai(asked)
    async with store(tmp_path, server) as memory:
        await memory.store("long", "endless " * 200)
        await fill(memory)
        assert await found(memory, "Where is my car?") == [CAR]
        assert (await found(memory, "endless"))[0].startswith("endless")


@given(st.lists(st.lists(st.floats(-1, 1), min_size=9, max_size=9), min_size=1, max_size=30))
def test_an_entry_is_nearest_to_itself(rows: list[list[float]]) -> None:
    vectors = [(number, packed([*row, 1.0])) for number, row in enumerate(rows)]
    query = vectors[0][1]
    candidates = nearest(query, [(number, signs_of(each)) for number, each in vectors])
    assert 0 in candidates
    found = similar(query, dict(vectors), sample=[], among=len(vectors))
    assert 0 in found
    assert dict(vectors)[found[0]] == query or rows[found[0]] != rows[0]


def _vectors(folder: Path) -> int:
    with closing(sqlite3.connect(folder / FILE)) as connection:
        (number,) = connection.execute("SELECT count(*) FROM memory_vector").fetchone()
        return number


async def test_a_note_of_one_session_comes_back_by_other_words_in_another(
    tmp_path: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_memory, "QUERY_WITHIN", 30.0)
    for folder in ("project", "home"):
        (tmp_path / folder).mkdir()
    more = f'[memory.embedding]\nurl = "http://127.0.0.1:{server.port}"\nmodel = "small"\n'
    note = {"key": "parking", "content": CAR, "category": "daily"}
    async with session_house(tmp_path, call("memory_store", **note), more=more) as (_, guest):
        await guest.prompt(f"Remember of parking: {CAR}")
        await eventually(lambda: _vectors(tmp_path / "home" / "claw") == 1, what="a vector, made in the background")
    async with session_house(tmp_path, more=more) as (house, guest):
        await guest.prompt("Where did I leave my vehicle?")
        assert CAR in await last_seen(house, guest)


async def test_a_service_that_never_answers_holds_up_no_turn(tmp_path: Path, server: EmbeddingServer) -> None:
    for folder in ("project", "home"):
        (tmp_path / folder).mkdir()
    server.answer = lambda _: None
    more = f'[memory.embedding]\nurl = "http://127.0.0.1:{server.port}"\nmodel = "small"\n'
    note = {"key": "parking", "content": CAR, "category": "daily"}
    async with session_house(tmp_path, call("memory_store", **note), more=more) as (_, guest):
        assert "Kept for this project" in str((await guest.prompt(f"Remember of parking: {CAR}")).calls[-1])
        await eventually(lambda: bool(server.requests), what="the service is asked")


async def test_the_person_is_told_of_a_service_that_makes_no_vectors(tmp_path: Path, server: EmbeddingServer) -> None:
    for folder in ("project", "home"):
        (tmp_path / folder).mkdir()
    server.answer = lambda _: 401
    more = f'[memory.embedding]\nurl = "http://127.0.0.1:{server.port}"\nmodel = "small"\n'
    async with session_house(tmp_path, call("memory_store", key="parking", content=CAR), more=more) as (_, guest):
        await guest.prompt(f"Remember of parking: {CAR}")
        await eventually(lambda: "status 401" in str(guest.transcript), what="the notice")
        assert "Memories are found by their words alone" in str(guest.transcript)
