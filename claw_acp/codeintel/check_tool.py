"""The tool that runs a project's own checks. Its calls are made at the end of a turn; models are not offered it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from claw_acp.codeintel.changed_files import Changes
from claw_acp.codeintel.check_run import run_check
from claw_acp.codeintel.check_table import Check, checks_for
from claw_acp.codeintel.rounds import Rounds
from claw_acp.contracts.launch import CommandSandbox
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallView, Invocation, RunsCommand, Tool, ToolContext, ToolResult
from claw_acp.core.errors import InvalidArguments
from claw_acp.core.events import ToolContent
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import printable

NAME: Final = "project_check"


class ProjectCheck:
    """Runs the checks of a project on the changes of one turn.

    Args:
        rounds: Counts what the model is shown.
        refused: Names of programs that a person did not allow in this session.
    """

    spec = ToolSpec(
        name=NAME,
        description="Runs one of the project's own checks on what this turn changed. It runs by itself before you end.",
        parameters={
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
            "additionalProperties": False,
        },
    )
    parallel = False

    def __init__(self, *, rounds: Rounds, refused: set[str]) -> None:
        self._rounds = rounds
        self._refused = refused
        self._changes = Changes()
        self._checks: Sequence[Check] = ()

    async def calls(self, changes: Changes, *, roots: Sequence[Path]) -> Sequence[JsonObject]:
        """The arguments of the calls to make for these changes."""
        self._changes = changes
        self._checks = await to_thread.run_sync(partial(checks_for, changes, roots=roots))
        return [{"command": check.line} for check in self._checks if check.name not in self._refused]

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Tool`."""
        check = next((check for check in self._checks if check.line == arguments.get("command")), None)
        if check is None:
            known = ", ".join(check.line for check in self._checks) or "none"
            raise InvalidArguments(f"That is no check of this project for what was changed. There are: {known}.")
        return _Run(check, self._changes, rounds=self._rounds, refused=self._refused, context=context)


class _Run(Invocation):
    def __init__(
        self, check: Check, changes: Changes, *, rounds: Rounds, refused: set[str], context: ToolContext
    ) -> None:
        self._check = check
        self._changes = changes
        self._rounds = rounds
        self._refused = refused
        self._context = context
        self.view = CallView(title=printable(check.line), kind="execute")
        self.accesses = (RunsCommand(line=check.line, cwd=check.root),)

    async def preview(self) -> tuple[ToolContent, ...]:
        """Note that a person is asked; that is a no for this session until it runs."""
        self._refused.add(self._check.name)
        return ()

    async def run(self) -> ToolResult:
        """Run the check; only new problems are shown."""
        self._refused.discard(self._check.name)
        context = self._context
        sandbox = context.port(CommandSandbox)
        result = await run_check(self._check, workspace=context.workspace, changes=self._changes, sandbox=sandbox)
        if result.note:
            return ToolResult(parts=(TextPart(text=f"This check found out nothing: {result.note}."),))
        old = f" (It also finds {result.old} that were there before.)" if result.old else ""
        return self._rounds.result(result.problems, clean=f"No new problems.{old}")


if TYPE_CHECKING:
    _conforms: type[Tool] = ProjectCheck
