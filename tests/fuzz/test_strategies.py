"""Frames from Hypothesis: JSON of any shape, in requests of every method, and bytes that are nothing at all."""

import json
from collections.abc import AsyncGenerator
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claw_acp.acp.v1.methods import NOTIFICATIONS, REQUESTS
from claw_acp.acp.v2.methods import REQUESTS as REQUESTS_V2
from claw_acp.rpc.message import decode, encode
from tests.fuzz.client import Client
from tests.fuzz.in_process import Lab
from tests.fuzz.oracle import is_certain

TEXTS = st.text(st.characters(), max_size=20) | st.sampled_from(["\ud800", "session/prompt", "end_turn", "/"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4))
NAMES = st.sampled_from(
    ["sessionId", "cwd", "mcpServers", "prompt", "cursor", "configId", "value", "type", "modeId", "title", "requestId",
     "protocolVersion", "clientCapabilities", "additionalDirectories", "systemPrompt", "replayFrom", "methodId",
     "_meta"]
)  # fmt: skip
PARAMS = st.dictionaries(NAMES, VALUES, max_size=6)
METHODS = st.sampled_from([*REQUESTS, *NOTIFICATIONS, *REQUESTS_V2, "initialize", "$/cancel_request", "_x", "foo/bar"])
REQUESTS_OF_ANY_SHAPE = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": METHODS, "params": PARAMS | VALUES}, optional={"id": VALUES}
)
ENVELOPE = st.sampled_from(["id", "result", "error", "method", "jsonrpc"])
LINES = st.one_of(
    REQUESTS_OF_ANY_SHAPE.map(json.dumps).map(str.encode),
    VALUES.map(json.dumps).map(str.encode),
    st.dictionaries(st.sampled_from(["id", "result", "error", "method", "jsonrpc"]), VALUES)
    .map(json.dumps)
    .map(str.encode),
    st.binary(max_size=200),
)
SLOW = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)
UNHURRIED = settings(max_examples=60, suppress_health_check=SLOW)


@pytest.fixture(params=[1, 2])
async def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Client]:
    version: int = request.param
    made = partial(Client, random=Random(version), version=version)
    async with Lab.opened(tmp_path_factory.mktemp("lab")) as lab, lab.connected(made) as client:
        await client.begin()
        yield client
        await client.converse()


@UNHURRIED
@given(lines=st.lists(LINES, min_size=1, max_size=12))
async def test_whatever_comes_is_answered_as_it_should_be(client: Client, lines: list[bytes]) -> None:
    for line in lines:
        if is_certain(line):
            await client.send(line)
    await client.settle()


@given(value=VALUES)
def test_what_is_written_can_be_read_and_is_one_line(value: Any) -> None:
    line = encode({"jsonrpc": "2.0", "id": 1, "result": value})
    assert line.count(b"\n") == 1
    json.loads(line)


@given(data=st.binary())
def test_reading_never_raises(data: bytes) -> None:
    decode(data)
