"""Extensions of a session around its tool calls: their hooks, and their ports for tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar, cast

from claw_acp.contracts.hook import ToolHook
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallView, Invocation, ToolContext, ToolResult
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
    """A hook that notes what it hears, and refuses what it was told to."""

    def __init__(self, *, refuses: str | None = None, fails: bool = False) -> None:
        self.heard: list[str] = []
        self._refuses, self._fails = refuses, fails

    async def before_call(self, tool: str, arguments: JsonObject) -> str | None:
        self.heard.append(f"before {tool} {dict(arguments)}")
        if self._fails:
            raise RuntimeError("a broken hook")
        return self._refuses

    async def after_call(self, tool: str, result: ToolResult) -> None:
        self.heard.append(f"after {tool}: {cast('TextPart', result.parts[0]).text}")


class Extended(SessionExtension):
    def __init__(self, *hooks: ToolHook) -> None:
        self._hooks = hooks

    def hooks(self) -> Sequence[ToolHook]:
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


async def test_hooks_hear_of_a_call_before_and_after_it_in_their_order(tmp_path: Path) -> None:
    first, second = Recorder(), Recorder()
    async with runner_bench(tmp_path, [Greet()], extension=Extended(first, second)) as bench:
        await bench.turn(("greet", {"a": 1}))
    assert first.heard == second.heard == ["before greet {'a': 1}", "after greet: hello"]


async def test_a_hook_refuses_a_call_with_its_reason_and_no_later_one_is_asked(tmp_path: Path) -> None:
    second = Recorder()
    async with runner_bench(tmp_path, [Greet()], extension=Extended(Recorder(refuses="not today"), second)) as bench:
        await bench.turn(("greet", {}))
        assert bench.results() == ["Not allowed: not today"]
    assert second.heard == []


async def test_a_broken_hook_fails_the_call_and_no_more(tmp_path: Path) -> None:
    async with runner_bench(tmp_path, [Greet()], extension=Extended(Recorder(fails=True))) as bench:
        assert await bench.turn(("greet", {}))
        assert "failed unexpectedly with RuntimeError" in bench.results()[0]
        assert bench.statuses("call_1")[-1] == "failed"
