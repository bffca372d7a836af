"""A tool call on its way through the pipeline, and which calls run together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import anyio

from claw_acp.contracts.launch import CommandSandbox
from claw_acp.contracts.tool import Invocation, ReadsPath, RunsCommand, Tool
from claw_acp.core.clock import Clock
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import ToolCall
from claw_acp.registry.foreign_code import package_of
from claw_acp.registry.reference import Ref
from claw_acp.security.verdicts import Decision

if TYPE_CHECKING:
    from claw_acp.agent.command_aftermath import Aftermath

LINE_ONLY_LOOKS: Final[Ref[Callable[[str], bool]]] = Ref("claw_acp.security.read_only.environment:line_only_looks")
"""By name, as the shell's parsers are loaded with the first command only."""

PARALLEL = 8  # read-only calls at once


@dataclass(slots=True)
class CallEntry:
    """A call. What is public here is read and set by the tool runner alone."""

    call: ToolCall
    tool: Tool | None
    invocation: Invocation | None = None
    arguments: JsonValue = None  # without credentials
    announced: bool = False
    turn: bool = False  # whether it waits for no other call any more
    begun: bool = False
    began: float = 0  # when it began to run
    decision: Decision | None = None  # by which it runs
    sandbox: CommandSandbox | None = None  # in which its commands run
    aftermath: "Aftermath | None" = None  # watches what they leave behind
    sources: tuple[str, ...] = ()  # of the untrusted text that it brings in
    added: list[str] = field(default_factory=list[str])  # texts of hooks, for the model
    repeated: bool = False  # refused, because the turn goes round in circles
    refusal: str | None = None  # for people
    asks: str = ""
    done: bool = False
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)  # of this call alone
    limit: anyio.CancelScope = field(default_factory=anyio.CancelScope)  # its time

    @property
    def package(self) -> str:
        """The package that the call's tool comes from; empty: it is ours."""
        return package_of(self.invocation or self.tool)

    def release(self) -> None:
        """Release what was made for commands, as far as no program in the background uses it."""
        if self.sandbox is not None and self.sandbox.network is not None:
            self.sandbox.network.end()

    @property
    def reads_file(self) -> bool:
        """True if the result is in a file anyway."""
        accesses = () if self.invocation is None else self.invocation.accesses
        return self.call.name == "read_file" and any(isinstance(access, ReadsPath) for access in accesses)

    @property
    def may_change(self) -> bool:
        """True if the call may change something outside the conversation."""
        if self.tool is None or self.invocation is None or self.tool.parallel:
            return False
        lines = [access.line for access in self.invocation.accesses if isinstance(access, RunsCommand)]
        if lines and all(map(LINE_ONLY_LOOKS.load(), lines)):
            return False
        return self.invocation.view.kind not in {"read", "think"}

    def took(self, clock: Clock) -> float:
        """The seconds since it began to run; 0 if it never did."""
        return clock.monotonic() - self.began if self.begun else 0


def groups(entries: Sequence[CallEntry]) -> list[list[CallEntry]]:
    """The calls in order; adjacent ones that only read are together."""
    made: list[list[CallEntry]] = []
    for entry in entries:
        joins = entry.tool is not None and entry.tool.parallel
        if joins and made and len(made[-1]) < PARALLEL and _is_parallel(made[-1]):
            made[-1].append(entry)
        else:
            made.append([entry])
    return made


def _is_parallel(group: Sequence[CallEntry]) -> bool:
    return all(entry.tool is not None and entry.tool.parallel for entry in group)
