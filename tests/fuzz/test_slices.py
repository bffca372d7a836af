"""A few thousand frames of the long run (`python -m tests.fuzz`), always the same ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from claw_acp.acp.connection import Connection
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc import dispatcher
from claw_acp.rpc.message import METHOD_NOT_FOUND
from claw_acp.rpc.peer import IncomingCall, RequestHandler
from tests.fuzz.campaign import in_process, over_pipes
from tests.fuzz.client import Found

SEED = 20261121


@pytest.mark.parametrize("first", [0, 10, 20, 30])
async def test_nothing_that_arrives_breaks_the_connection_or_a_rule(first: int, tmp_path: Path) -> None:
    assert await in_process(seed=SEED, first=first, frames=1000, folder=tmp_path) >= 1000


@pytest.mark.parametrize("version", [1, 2])
async def test_nothing_that_arrives_over_pipes_ends_the_program(version: int, tmp_path: Path) -> None:
    await over_pipes(seed=SEED, version=version, frames=400, folder=tmp_path)


# ------------------------------------------------------------------ what the fuzzer is there for: it finds these


async def found_in(folder: Path) -> str:
    """What the fuzzer says."""
    with pytest.raises(BaseExceptionGroup) as caught:
        await in_process(seed=SEED, frames=1000, folder=folder)
    group = caught.value.subgroup(Found)
    assert group is not None
    return str(group.exceptions[0])


async def test_an_invalid_frame_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(request_id: Any, result: JsonValue) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result, "extra": 1}).encode() + b"\n"

    monkeypatch.setattr(dispatcher, "result_line", careless)
    assert "a line out is no JSON-RPC message" in await found_in(tmp_path)


async def test_a_result_that_is_not_in_the_schema_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = dispatcher.result_line

    def wrong(request_id: Any, result: Any) -> bytes:
        return honest(request_id, {"sessions": None} if "sessions" in (result or ()) else result)

    monkeypatch.setattr(dispatcher, "result_line", wrong)
    assert "result of session/list is no ListSessionsResponse" in await found_in(tmp_path)


async def test_a_second_answer_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = dispatcher.error_line

    def twice(*arguments: Any) -> bytes:
        return honest(*arguments) * 2

    monkeypatch.setattr(dispatcher, "error_line", twice)
    assert "one more than was asked for" in await found_in(tmp_path)


async def test_a_missing_answer_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = dispatcher.error_line

    def forgetful(request_id: Any, code: int, *arguments: Any) -> bytes:
        return b"\n" if code == METHOD_NOT_FOUND else honest(request_id, code, *arguments)

    monkeypatch.setattr(dispatcher, "error_line", forgetful)
    monkeypatch.setattr("tests.fuzz.client.PATIENCE", 0.5)
    assert "there is still not an answer to every request" in await found_in(tmp_path)


async def test_an_internal_error_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Connection.request_handler

    async def broken(_call: IncomingCall, _params: JsonObject) -> JsonValue:
        raise KeyError("cwd")

    def handler(self: Connection, method: str) -> RequestHandler | None:
        return broken if method == "session/list" else honest(self, method)

    monkeypatch.setattr(Connection, "request_handler", handler)
    assert "an internal error" in await found_in(tmp_path)
