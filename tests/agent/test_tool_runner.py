"""Calls of one answer: in order, and those that only read together."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import pytest

from claw_acp.agent.call_entry import PARALLEL
from claw_acp.agent.call_hooks import CallHooks
from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.gate import Gate
from claw_acp.agent.tool_runner import ToolRunner
from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.questions import Choice, Form, FormAnswer, PermissionQuestion
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ToolError
from claw_acp.core.events import Event, MessageStarted, ToolCallChanged
from claw_acp.core.messages import ToolCall
from claw_acp.core.redaction import Redactor
from claw_acp.security.policy import Policy, PolicyContext
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import Session
from claw_acp.workspace.local import LocalWorkspace
from tests.agent.runner_bench import Deed, DeedTool, audit_below
from tests.support.hook_chains import hook_chain
from tests.support.seen import Seen

PATIENCE = 10.0  # seconds; only tools that wait for each other in vain take that long


class _Nobody:
    async def permission(self, question: PermissionQuestion) -> Choice | None:
        raise AssertionError(f"nobody expected a question: {question}")

    async def form(self, form: Form) -> FormAnswer | None:
        raise AssertionError(f"nobody expected a form: {form}")


def _forget(*_what: object) -> None:
    """Nobody answers here, so there is nothing to remember."""


@dataclass
class _Bench:
    session: Session
    runner: ToolRunner
    seen: list[Event]

    async def run(self, *names: str) -> None:
        """Run calls of these tools, as one answer."""
        await self.session.publish(MessageStarted(item="msg", role="assistant"))
        calls = [ToolCall(id=f"{number}-{name}", name=name, arguments="") for number, name in enumerate(names)]
        with anyio.fail_after(PATIENCE):
            await self.runner.run_all("msg", calls)

    def results(self) -> list[str]:
        """What the model is told of each call, in the order of the conversation."""
        return [message.text for message in self.session.history.messages() if message.role == "tool"]

    def steps(self) -> list[tuple[str, str]]:
        """Statuses as they were published."""
        changes = [event for event in self.seen if isinstance(event, ToolCallChanged)]
        return [(event.item, event.status) for event in changes if event.status]


@asynccontextmanager
async def _bench(folder: Path, tools: Sequence[DeedTool]) -> AsyncGenerator[_Bench]:
    record = SessionRecord(
        id="ses_1", cwd=str(folder), mode="ask", model="m", created_at=0.0, updated_at=0.0, additional_directories=()
    )
    async with Journal.opened(folder / "claw.db") as journal:
        await journal.create(record)
        session = Session(record, journal=journal, clock=SYSTEM_CLOCK, roots=[folder])
        seen = Seen()
        session.subscribers.append(seen)
        toolbox = Toolbox()
        for tool in tools:
            assert toolbox.register(tool)
        context = PolicyContext(roots=(folder,), home=folder, protected=())
        ports = ClientPorts(workspace=LocalWorkspace([folder]), asker=_Nobody())
        gate = Gate(
            session, policy=lambda: Policy(()), remember=_forget, remember_tool=_forget, asker=ports.asker,
            context=context,
        )  # fmt: skip
        redactor = Redactor()
        audit = audit_below(folder / "home", session=session.id, redactor=redactor)
        runner = ToolRunner(
            session, toolbox=toolbox, gate=gate, ports=ports, clock=SYSTEM_CLOCK, redactor=redactor, audit=audit,
            hooks=CallHooks(hook_chain(session)),
        )  # fmt: skip
        yield _Bench(session, runner, seen.events)


async def _meet(mine: anyio.Event, other: anyio.Event, word: str) -> str:
    mine.set()
    await other.wait()
    return word


async def _say(word: str) -> str:
    return word


async def _hang() -> str:
    await anyio.sleep_forever()
    raise AssertionError


async def _refuse() -> str:
    raise ToolError("it did not work")


async def _stumble() -> str:
    raise RuntimeError("a slip")


async def test_calls_that_only_read_run_together(tmp_path: Path) -> None:
    left, right = anyio.Event(), anyio.Event()
    tools = [
        DeedTool("left", partial(_meet, left, right, "l"), parallel=True),
        DeedTool("right", partial(_meet, right, left, "r"), parallel=True),
    ]
    async with _bench(tmp_path, tools) as bench:
        await bench.run("left", "right")
        assert bench.results() == ["l", "r"]


async def test_results_are_in_the_order_of_the_calls_whichever_ends_first(tmp_path: Path) -> None:
    done = anyio.Event()

    async def last() -> str:
        await done.wait()
        return "slow"

    async def first() -> str:
        done.set()
        return "quick"

    tools = [DeedTool("slow", last, parallel=True), DeedTool("quick", first, parallel=True)]
    async with _bench(tmp_path, tools) as bench:
        await bench.run("slow", "quick")
        assert bench.steps()[-2:] == [("1-quick", "completed"), ("0-slow", "completed")]
        assert bench.results() == ["slow", "quick"]


async def test_a_call_that_acts_runs_alone_after_all_before_it_and_before_all_behind_it(tmp_path: Path) -> None:
    tools = [DeedTool("read", partial(_say, "r"), parallel=True), DeedTool("act", partial(_say, "a"))]
    async with _bench(tmp_path, tools) as bench:
        await bench.run("read", "act", "act", "read")
        running = [step for step in bench.steps() if step[1] != "pending"]
        assert running == [
            (item, status) for item in ("0-read", "1-act", "2-act", "3-read") for status in ("in_progress", "completed")
        ]


async def test_only_so_many_calls_run_together(tmp_path: Path) -> None:
    now = most = 0
    full = anyio.Event()

    async def count() -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        if now == PARALLEL:
            full.set()
        await full.wait()
        await anyio.wait_all_tasks_blocked()  # one call too many would come now
        now -= 1
        return ""

    async with _bench(tmp_path, [DeedTool("read", count, parallel=True)]) as bench:
        await bench.run(*["read"] * (PARALLEL + 3))
        assert most == PARALLEL
        assert len(bench.results()) == PARALLEL + 3


@pytest.mark.parametrize(("deed", "told"), [(_refuse, "it did not work"), (_stumble, "inc_")])
async def test_one_call_that_fails_leaves_the_others_alone(tmp_path: Path, deed: Deed, told: str) -> None:
    tools = [DeedTool("bad", deed, parallel=True), DeedTool("good", partial(_say, "fine"), parallel=True)]
    async with _bench(tmp_path, tools) as bench:
        await bench.run("bad", "good", "missing")
        bad, good, missing = bench.results()
        assert told in bad
        assert good == "fine"
        assert "no tool named missing" in missing


async def test_when_cancelled_every_call_still_gets_a_result(tmp_path: Path) -> None:
    async with _bench(tmp_path, [DeedTool("hang", _hang), DeedTool("late", partial(_say, "x"))]) as bench:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bench.run, "hang", "late")
            while ("0-hang", "in_progress") not in bench.steps():
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        assert bench.steps()[-2:] == [("0-hang", "cancelled"), ("1-late", "cancelled")]
        assert all("interrupted" in result for result in bench.results())
