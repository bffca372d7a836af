"""Extensions of a session around its tool calls: their hooks, and their ports for tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar, cast

import pytest

from claw_acp.config.model import HookFailure, HooksSection
from claw_acp.contracts.hook import (
    CONTINUE,
    AfterTool,
    BeforeTool,
    Hook,
    HookContext,
    HookEvent,
    HookResult,
)
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallView, Invocation, ToolContext, ToolResult
from claw_acp.core.events import Notice
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart
from claw_acp.core.value import Value
from claw_acp.session.extension import SessionExtension
from tests.agent.runner_bench import runner_bench

_P = TypeVar("_P")


class Greeting(Value):
    """A port."""

    text: str


class Greet:
    """A tool that says what its port says."""

    spec = ToolSpec(name="greet", description="Greets", parameters={"type": "object"})
    parallel = False

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:  # noqa: ARG002 - the contract's
        return _Greeting(context.port(Greeting))


class _Greeting(Invocation):
    view = CallView(title="Greet", kind="other")

    def __init__(self, greeting: Greeting | None) -> None:
        self._greeting = greeting

    async def run(self) -> ToolResult:
        return ToolResult(parts=(TextPart(text=self._greeting.text if self._greeting else "nobody"),))


class Recorder:
    """A hook that notes what it hears, and wishes what it was told to."""

    name = "recorder"
    events = (BeforeTool, AfterTool)

    def __init__(self, *, before: HookResult = CONTINUE, after: HookResult = CONTINUE, priority: int = 0) -> None:
        self.heard: list[str] = []
        self.priority = priority
        self._before, self._after = before, after

    async def on(self, event: HookEvent, context: HookContext) -> HookResult:  # noqa: ARG002 - the contract's
        match event:
            case BeforeTool(tool=tool, arguments=arguments):
                self.heard.append(f"before {tool} {dict(arguments)}")
                return self._before
            case AfterTool(tool=tool, text=text):
                self.heard.append(f"after {tool}: {text}")
                return self._after
            case _:
                raise AssertionError(event)


class Broken(Recorder):
    async def on(self, event: HookEvent, context: HookContext) -> HookResult:
        del event, context
        raise RuntimeError("a broken hook")


class Extended(SessionExtension):
    def __init__(self, *hooks: Hook) -> None:
        self._hooks = hooks

    def hooks(self) -> Sequence[Hook]:
        return self._hooks

    def port(self, kind: type[_P]) -> _P | None:
        return cast("_P", Greeting(text="hello")) if kind is Greeting else None


async def test_a_tool_finds_the_port_of_an_extension_by_its_type(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Greet()], extension=Extended()) as bench:
        assert await bench.turn(("greet", {}))
        assert bench.results() == ["hello"]


async def test_a_tool_does_without_a_port_that_nobody_has(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Greet()]) as bench:
        assert await bench.turn(("greet", {}))
        assert bench.results() == ["nobody"]


async def test_hooks_hear_of_a_call_before_and_after_it_the_highest_priority_first(tmp_path: Path) -> None:
    last, first = Recorder(), Recorder(priority=5, before=HookResult(arguments={"a": 2}), after=HookResult(text="hi"))
    async with runner_bench(tmp_path, [Greet()], extension=Extended(last, first)) as bench:
        await bench.turn(("greet", {"a": 1}))
        assert bench.results()[0].startswith("hi")
    assert first.heard == ["before greet {'a': 1}", "after greet: hello"]
    assert last.heard == ["before greet {'a': 2}", "after greet: hi"]


async def test_a_hook_refuses_a_call_with_its_reason_and_no_later_one_is_asked(tmp_path: Path) -> None:
    first, second = Recorder(before=HookResult(cancel="not today")), Recorder()
    async with runner_bench(tmp_path, [Greet()], extension=Extended(first, second)) as bench:
        await bench.turn(("greet", {}))
        assert bench.results() == ["Not allowed: not today"]
    assert second.heard == []


async def test_what_hooks_add_to_a_call_reaches_the_model_with_its_result(tmp_path: Path) -> None:
    hook = Recorder(before=HookResult(context="mind the gap"), after=HookResult(cancel="it is ugly", context="see"))
    async with runner_bench(tmp_path, [Greet()], extension=Extended(hook)) as bench:
        await bench.turn(("greet", {}))
        result = bench.results()[0]
    assert result.startswith("hello")
    assert all(words in result for words in ("mind the gap", "it is ugly", "see"))


async def test_a_hook_that_ends_the_turn_keeps_the_calls_behind_from_running(tmp_path: Path) -> None:
    hook = Recorder(after=HookResult(ends_turn="enough"))
    async with runner_bench(tmp_path, [Greet()], extension=Extended(hook)) as bench:
        await bench.turn(("greet", {}), ("greet", {"b": 1}))
        assert bench.results() == ["hello", "Not run: a hook ended the turn."]


@pytest.mark.parametrize(
    ("setting", "result"), [("open", "hello"), ("closed", "Not allowed: the hook recorder failed")]
)
async def test_a_broken_hook_is_told_and_fails_open_or_closed(
    tmp_path: Path, setting: HookFailure, result: str
) -> None:
    settings = HooksSection(on_failure=setting)
    async with runner_bench(tmp_path, [Greet()], extension=Extended(Broken()), hook_settings=settings) as bench:
        assert await bench.turn(("greet", {}))
        assert bench.results()[0].startswith(result)
        notices = [event for event in bench.seen.events if isinstance(event, Notice)]
    assert notices[0].title == "The hook recorder failed"
    assert notices[0].description == "RuntimeError: a broken hook"
