"""Tools of strangers: whatever one raises or returns is a result of its call, ends no turn and floods nothing."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Never, cast

import anyio
import pytest

from claw_acp.contracts.bounded import MOST_TEXT
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallView, Invocation, Progress, ToolContext, ToolResult
from claw_acp.core.events import Location, PartContent
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ImagePart, TextPart
from tests.agent.runner_bench import RunnerBench, ask, runner_bench


class _Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit("no text either")


class _Evil(Invocation):
    view = CallView(title="Do it", kind="other")

    def __init__(self, deed: Callable[[ToolContext], Awaitable[Any]], context: ToolContext) -> None:
        self._deed = deed
        self._context = context

    async def run(self) -> ToolResult:
        return cast("ToolResult", await self._deed(self._context))


class _EvilTool:
    """Does in `run` what a test says."""

    spec = ToolSpec(name="evil", description="", parameters={"type": "object"})
    parallel = False

    def __init__(self, deed: Callable[[ToolContext], Awaitable[Any]]) -> None:
        self._deed = deed

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        if arguments:
            raise _RAISED[str(arguments["raises"])]
        return _Evil(self._deed, context)


_RAISED: dict[str, BaseException] = {
    "SystemExit": SystemExit(3),
    "KeyboardInterrupt": KeyboardInterrupt(),
    "GeneratorExit": GeneratorExit(),
    "RecursionError": RecursionError("too deep"),
    "MemoryError": MemoryError(),
    "CancelledError": asyncio.CancelledError("by nobody"),
    "BaseExceptionGroup": BaseExceptionGroup("several", [SystemExit(), ValueError("one")]),
    "_Mute": _Mute(),
}


async def _turn(folder: Path, deed: Callable[[ToolContext], Awaitable[Any]], **arguments: object) -> RunnerBench:
    async with runner_bench(folder, [_EvilTool(deed)]) as bench:
        assert await bench.turn(ask("evil", **arguments), ask("evil", **arguments))
        return bench


@pytest.mark.parametrize("place", ["prepare", "run"])
@pytest.mark.parametrize("name", _RAISED)
async def test_whatever_a_tool_raises_is_the_result_of_its_call(tmp_path: Path, name: str, place: str) -> None:
    async def deed(context: ToolContext) -> Never:
        del context
        raise _RAISED[name]

    bench = await _turn(tmp_path, deed, **({"raises": name} if place == "prepare" else {}))
    [first, second] = bench.results()
    assert first.startswith(f"evil (of the package tests) failed unexpectedly with {name}; the log has it as inc_")
    assert second.startswith("evil")
    assert bench.statuses("call_2")[-1] == "failed"


_GOOD = TextPart(text="good")


@pytest.mark.parametrize(
    "returned",
    [
        None,
        "text",
        {"parts": []},
        ToolResult(parts=cast("Any", "text")),
        ToolResult(parts=cast("Any", ("text",))),
        ToolResult(parts=(TextPart(text=cast("Any", 5)),)),
        ToolResult(parts=(ImagePart(data=cast("Any", b"x"), mime_type="image/png"),)),
        ToolResult(parts=(_GOOD,), raw=cast("Any", {1, 2})),
        ToolResult(parts=(_GOOD,), raw=cast("Any", [object()])),
        ToolResult(parts=(_GOOD,), content=cast("Any", (_GOOD,))),
    ],
    ids=range(10),
)
async def test_what_is_no_result_is_a_failure(tmp_path: Path, returned: object) -> None:
    async def deed(context: ToolContext) -> object:
        del context
        return returned

    bench = await _turn(tmp_path, deed)
    assert all("failed unexpectedly with" in result for result in bench.results())
    assert bench.statuses("call_1") == ["pending", "in_progress", "failed"]


async def test_a_deeply_nested_output_is_a_failure(tmp_path: Path) -> None:
    raw: list[Any] = []
    for _ in range(100_000):
        raw = [raw]

    async def deed(context: ToolContext) -> ToolResult:
        del context
        return ToolResult(parts=(_GOOD,), raw=raw)

    bench = await _turn(tmp_path, deed)
    assert "failed unexpectedly with" in bench.results()[0]
    while raw:
        raw = raw[0]  # freed level by level


@pytest.mark.parametrize("pieces", [1, 3, 40])
async def test_a_result_of_millions_of_characters_reaches_nobody_whole(tmp_path: Path, pieces: int) -> None:
    words = "word " * (600_000 // pieces)
    parts = (TextPart(text="first"), *(TextPart(text=words) for _ in range(pieces)))

    async def deed(context: ToolContext) -> ToolResult:
        picture = tuple(PartContent(part=part) for part in parts)
        await context.progress(Progress(content=picture))
        return ToolResult(parts=parts, content=picture, raw={"all": words})

    bench = await _turn(tmp_path, deed)
    [told, _] = bench.results()
    assert told.startswith("first")
    assert "left out" in told
    assert len(told) < MOST_TEXT + 200
    assert max(len(repr(event)) for event in bench.seen.events) < 3 * MOST_TEXT


async def test_of_a_long_result_the_end_is_kept_too_and_no_word_is_cut(tmp_path: Path) -> None:
    async def deed(context: ToolContext) -> ToolResult:
        del context
        return ToolResult(parts=(TextPart(text="begin " + "secret-word " * 50_000 + "end"),))

    [told, _] = (await _turn(tmp_path, deed)).results()
    assert told.startswith("begin secret-word")
    assert told.endswith("secret-word end")
    head, _, rest = told.partition("\n[... ")
    _, _, tail = rest.partition(" ...]\n")
    assert {*head.split(), *tail.split()} == {"begin", "secret-word", "end"}


async def test_a_long_reason_for_a_failure_is_bounded_too(tmp_path: Path) -> None:
    async def deed(context: ToolContext) -> Never:
        del context
        raise json.JSONDecodeError("x" * 500_000, "", 0)

    assert len((await _turn(tmp_path, deed)).results()[0]) < 1000


async def test_news_of_the_wrong_type_fail_the_call_that_tells_them(tmp_path: Path) -> None:
    async def deed(context: ToolContext) -> ToolResult:
        await context.progress(Progress(locations=(Location(path=cast("Any", 5)),)))
        return ToolResult(parts=(_GOOD,))

    assert "failed unexpectedly with TypeError" in (await _turn(tmp_path, deed)).results()[0]


async def test_a_cancelled_turn_ends_although_a_tool_answers_with_another_error(tmp_path: Path) -> None:
    begun = anyio.Event()

    async def deed(context: ToolContext) -> Never:
        del context
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            raise ValueError("not now")

    async with runner_bench(tmp_path, [_EvilTool(deed)]) as bench, anyio.create_task_group() as tasks:
        ended: list[bool] = []

        async def turn() -> None:
            ended.append(await bench.turn(ask("evil"), ask("evil")))

        tasks.start_soon(turn)
        await begun.wait()
        bench.session.cancel()
        await bench.until(lambda: ended == [False], "the end of the turn")
        assert len(bench.results()) == 2
