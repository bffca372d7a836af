"""A lent tool as the tool pipeline sees it: arguments checked before they leave, calls bounded."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from claw_acp.contracts.endpoint import MOST_CALLS
from claw_acp.contracts.tool import Tool, UsesServer
from claw_acp.core.errors import InvalidArguments, ToolError
from claw_acp.endpoints.lent_tools import LentTools
from claw_acp.kit.endpoint_wire import Scope
from claw_acp.telemetry.trace_context import trace_from
from tests.endpoints.program import COUNT, Json, Program, host
from tests.support.tool_bench import Bench, said


@asynccontextmanager
async def lent(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> AsyncGenerator[tuple[Program, Tool]]:
    """A program that lends one tool, and the tool."""
    tools: list[Tool] = []
    lend = LentTools.lend

    def kept(self: LentTools, tool: Tool, *, owner: Any, scope: Scope) -> str | None:
        tools.append(tool)
        return lend(self, tool, owner=owner, scope=scope)

    monkeypatch.setattr(LentTools, "lend", kept)
    async with host().attach() as program, anyio.create_task_group() as tasks:
        await program.introduce()
        await program.lend({**COUNT, **changes})
        tasks.start_soon(program.hear_all)
        yield program, tools[0]
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "'text' is a required property"),
        ({"text": 7}, "`text`: 7 is not of type 'string'"),
        ({"text": "a", "many": 0}, "`many`: 0 is less than the minimum of 1"),
        ({"text": "a", "kind": "x" * 1000}, "`kind`: 'xxx"),
    ],
)
async def test_arguments_that_do_not_fit_never_leave(
    arguments: Json, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    properties = {"text": {"type": "string"}, "many": {"type": "integer", "minimum": 1}, "kind": {"enum": ["a", "b"]}}
    schema = {"type": "object", "properties": properties, "required": ["text"]}
    async with lent(monkeypatch, inputSchema=schema) as (_, tool):
        with pytest.raises(InvalidArguments) as refused:
            Bench.on(tmp_path).prepare(tool, **arguments)
    assert words in refused.value.message
    assert len(refused.value.message) < 450


async def test_a_pattern_that_would_take_years_is_not_matched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hostile = {"type": "string", "pattern": "^(a+)+$", "format": "regex"}
    schema = {"type": "object", "properties": {"text": hostile, "pattern": {"type": "string"}}}
    async with lent(monkeypatch, inputSchema=schema) as (_, tool):
        Bench.on(tmp_path).prepare(tool, text="a" * 60 + "!")
        with pytest.raises(InvalidArguments):
            Bench.on(tmp_path).prepare(tool, pattern=1)


async def test_a_call_that_takes_too_long_is_cancelled_and_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with lent(monkeypatch, timeout=0.05) as (program, tool):
        program.calls = lambda _: None
        result = await Bench.on(tmp_path).call(tool, text="a")
        while not any(message.get("method") == "$/cancel_request" for message in program.heard):
            await anyio.lowlevel.checkpoint()
    assert result.failed
    assert "The program counter gave no answer within 0.05 s." in said(result)


async def test_a_program_gets_only_so_many_calls_at_a_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async with lent(monkeypatch) as (program, tool), anyio.create_task_group() as tasks:
        program.calls = lambda _: None
        bench = Bench.on(tmp_path)
        for _ in range(MOST_CALLS):
            tasks.start_soon(lambda: bench.call(tool, text="a"))
        while sum(message.get("method") == "tools/call" for message in program.heard) < MOST_CALLS:
            await anyio.lowlevel.checkpoint()
        result = await bench.call(tool, text="a")
        assert result.failed
        assert f"works on {MOST_CALLS} requests already; call it again" in said(result)
        tasks.cancel_scope.cancel()


async def test_the_policy_learns_what_the_program_claims(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async with lent(monkeypatch, readOnly=True, destructive=True, title="Count \u202ewords") as (_, tool):
        call = Bench.on(tmp_path).prepare(tool, text="a")
    [access] = call.accesses
    assert isinstance(access, UsesServer)
    assert (access.server, access.tool, access.source) == ("counter", "word_count", "remote")
    assert (access.reads_only, access.destroys) == (True, True)
    assert call.view.title == "counter: Count \\u202ewords"
    assert tool.parallel


async def test_a_lent_tool_that_describes_itself_otherwise_is_another_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    digests: set[str] = set()
    described: tuple[Json, ...] = ({}, {}, {"description": "More"}, {"inputSchema": {"type": "object"}}, {"title": "T"})
    for changes in described:
        async with lent(monkeypatch, **changes) as (_, tool):
            [access] = Bench.on(tmp_path).prepare(tool, text="a").accesses
        assert isinstance(access, UsesServer)
        digests.add(access.digest)
    assert len(digests) == len(described) - 1


async def test_arguments_are_shown_unless_nobody_could_read_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with lent(monkeypatch) as (_, tool):
        [shown] = await Bench.on(tmp_path).prepare(tool, text="a b").preview()
        with pytest.raises(ToolError, match="A person must agree"):
            await Bench.on(tmp_path).prepare(tool, text="x" * 40_000).preview()
    assert '"text": "a b"' in json.dumps(shown.part.text, ensure_ascii=False).replace('\\"', '"')  # type: ignore[union-attr]


async def test_a_call_carries_the_trace_that_it_belongs_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    trace = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01", "tracestate": "vendor=1"}
    async with lent(monkeypatch) as (program, tool):
        await Bench.on(tmp_path).call(tool, text="a")
        with trace_from(trace):
            await Bench.on(tmp_path).call(tool, text="b")
    calls = [message["params"] for message in program.heard if message.get("method") == "tools/call"]
    assert [call.get("_meta") for call in calls] == [None, trace]
