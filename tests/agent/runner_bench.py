"""A bench for calls that are cancelled one by one: a session on a real journal, a runner, real commands."""

import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import anyio

from claw_acp.agent.call_audit import CallAudit
from claw_acp.agent.call_hooks import CallHooks
from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.gate import Gate
from claw_acp.agent.tool_runner import ToolRunner
from claw_acp.agent.toolbox import Toolbox
from claw_acp.audit.log import AuditLog
from claw_acp.config.locations import find_locations
from claw_acp.config.model import AuditSection, HooksSection
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.questions import Choice, Form, FormAnswer, PermissionQuestion
from claw_acp.contracts.tool import CallView, Invocation, Tool, ToolContext, ToolResult
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.events import CommandContent, MessageStarted, TerminalChanged, ToolCallChanged
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart, ToolCall
from claw_acp.core.mode import Mode
from claw_acp.core.redaction import Redactor
from claw_acp.security.policy import Policy, PolicyContext
from claw_acp.session.extension import NOTHING, SessionExtension
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import Session
from claw_acp.workspace.local import LocalWorkspace
from claw_acp.workspace.process_host import ProcessHost
from tests.support.hook_chains import hook_chain
from tests.support.program.agent_process import eventually
from tests.support.seen import Seen

Deed = Callable[[], Awaitable[str]]

SECRET = "sk-ant-REDACTME-0123456789abcdef"  # a made-up key: pictures must not show it


Asked = tuple[str, Mapping[str, object]]
"""A tool, and the arguments a model calls it with."""


def ask(tool: str, **arguments: object) -> Asked:
    """A call in an answer."""
    return tool, arguments


class _Does(Invocation):
    def __init__(self, deed: Deed) -> None:
        self.view = CallView(title="Do it", kind="other")
        self._deed = deed

    async def run(self) -> ToolResult:
        return ToolResult(parts=(TextPart(text=await self._deed()),))


@dataclass
class DeedTool:
    """A tool that does what a test says, and touches nothing."""

    name: str
    deed: Deed
    parallel: bool = False

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description="", parameters={"type": "object"})

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:  # noqa: ARG002 - the contract's
        return _Does(self.deed)


class Person:
    """Answers no question; knows what was asked."""

    def __init__(self) -> None:
        self.asked: list[PermissionQuestion] = []
        self.left_alone: list[str] = []

    async def permission(self, question: PermissionQuestion) -> Choice | None:
        self.asked.append(question)
        try:
            await anyio.sleep_forever()
        finally:
            self.left_alone.append(question.call_id)

    async def form(self, form: Form) -> FormAnswer | None:
        raise AssertionError(f"nobody expected a form: {form}")


def _forget(*_what: object) -> None:
    """Nobody answers here, so there is nothing to remember."""


def audit_below(home: Path, *, session: str, redactor: Redactor) -> CallAudit:
    """A record of calls in a home of its own."""
    log = AuditLog(find_locations({"CLAW_ACP_HOME": str(home)}), section=AuditSection(), clock=SYSTEM_CLOCK)
    return CallAudit(log, who={"session": session}, mode=lambda: "auto", redactor=redactor)


@dataclass
class RunnerBench:
    """One session with its runner; `seen` is what a watcher saw of it."""

    session: Session
    runner: ToolRunner
    seen: Seen
    person: Person
    journal: Journal
    _made: int = 0

    async def turn(self, *calls: Asked) -> bool:
        """A turn with one answer that makes these calls ; their ids are call_1, call_2, ...

        Returns:
            Whether it came to its own end.
        """
        made = [
            ToolCall(id=f"call_{number}", name=name, arguments=json.dumps(arguments))
            for number, (name, arguments) in enumerate(calls, self._made + 1)
        ]
        self._made += len(made)
        message = f"msg_{self._made}"

        async def work() -> bool:
            await self.session.publish(MessageStarted(item=message, role="assistant"))
            await self.runner.run_all(message, made)
            return True

        return bool(await self.session.in_turn(self.session.queue_turn(), work, lock=nullcontext()))

    def results(self) -> list[str]:
        """What the model is told of each call."""
        return [message.text for message in self.session.history.messages() if message.role == "tool"]

    def statuses(self, call_id: str) -> list[str]:
        """The statuses of a call as they were published."""
        return [change.status for change in self._changes(call_id) if change.status]

    def pictures(self, call_id: str) -> list[CommandContent]:
        """The terminals of ours that a call showed, one after the other."""
        contents = [change.content or () for change in self._changes(call_id)]
        return [item for content in contents for item in content if isinstance(item, CommandContent)]

    def terminals(self) -> list[CommandContent]:
        """What was shown of programs in the background."""
        return [event.command for event in self.seen.events if isinstance(event, TerminalChanged)]

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until something holds."""
        await eventually(condition, what=what)

    def _changes(self, call_id: str) -> list[ToolCallChanged]:
        return [event for event in self.seen.events if isinstance(event, ToolCallChanged) and event.item == call_id]


@asynccontextmanager
async def runner_bench(
    folder: Path,
    tools: Sequence[Tool],
    *,
    mode: Mode = "auto",
    extension: SessionExtension = NOTHING,
    hook_settings: HooksSection | None = None,
) -> AsyncGenerator[RunnerBench]:
    """A bench in `folder`; at its end the session is closed and nothing runs any more."""
    record = SessionRecord(
        id="ses_1", cwd=str(folder), mode=mode, model="m", created_at=0.0, updated_at=0.0, additional_directories=()
    )
    async with (
        Journal.opened(folder / "claw.db") as journal,
        ProcessHost(os.environ) as processes,
        anyio.create_task_group() as tasks,
    ):
        await journal.create(record)
        session = Session(record, journal=journal, clock=SYSTEM_CLOCK, roots=[folder], tasks=tasks)
        seen, person, toolbox = Seen(), Person(), Toolbox()
        session.subscribers.append(seen)
        for tool in tools:
            assert toolbox.register(tool)
        context = PolicyContext(roots=(folder,), home=folder, protected=())
        ports = ClientPorts(workspace=LocalWorkspace([folder], processes=processes), asker=person)
        gate = Gate(
            session, policy=lambda: Policy(()), remember=_forget, remember_tool=_forget, asker=ports.asker,
            context=context,
        )  # fmt: skip
        redactor = Redactor([SECRET])
        audit = audit_below(folder / "home", session=session.id, redactor=redactor)
        runner = ToolRunner(
            session, toolbox=toolbox, gate=gate, ports=ports, clock=SYSTEM_CLOCK, redactor=redactor, audit=audit,
            extension=extension, hooks=CallHooks(hook_chain(session, extension.hooks, settings=hook_settings)),
        )  # fmt: skip
        yield RunnerBench(session, runner, seen, person, journal)
        await session.aclose()
