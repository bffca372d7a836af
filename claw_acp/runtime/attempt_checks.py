"""The project's own checks on what attempts changed; a person is asked once for all of them."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread

from claw_acp.agent.relayed_questions import SharedQuestions
from claw_acp.codeintel.changed_files import ChangedFile, Changes, DeletedFile
from claw_acp.codeintel.check_run import run_check
from claw_acp.codeintel.check_table import Check, checks_for
from claw_acp.contracts.questions import Choice, PermissionQuestion
from claw_acp.contracts.tool import RunsCommand
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.errors import ToolError
from claw_acp.core.events import Attempt, PartContent, PathChange, PathState
from claw_acp.core.markdown import code_block
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import printable
from claw_acp.core.redaction import redact
from claw_acp.core.value import Value, replace
from claw_acp.security.policy import Policy, PolicyContext
from claw_acp.session.session import Session
from claw_acp.store.contents import ContentStore

if TYPE_CHECKING:
    from claw_acp.agent.command_sandboxes import CommandSandboxes

AT_ONCE: Final = 2  # attempts that are checked side by side
TOOL: Final = "check"
MOST_FILES: Final = 30  # changed files that checks are told of

_CHOICES: Final = (
    Choice(id="run", label="Run the checks", kind="allow_once"),
    Choice(id="leave", label="Compare without checks", kind="reject_once"),
)


class CheckedCopy(Value):
    """The copy that an attempt left: its folder and that of the session in it, its files and programs, its bounds."""

    folder: Path
    root: Path
    workspace: Workspace
    context: PolicyContext


class AttemptChecks:
    """Runs the checks of one set of attempts.

    Args:
        session: The session that started them.
        project: The folder that they are copies of.
        questions: Asks the person.
        policy: Decides what may run unasked.
        store: Has the contents of changed files.
        record: Puts a command on record before it runs.
        sandboxes: Confine the checks; None: nothing does on this system.
    """

    def __init__(
        self, session: Session, *, project: Path, questions: SharedQuestions, policy: Policy, store: ContentStore,
        record: Callable[..., Awaitable[None]], sandboxes: "CommandSandboxes | None",
    ) -> None:  # fmt: skip
        self._session = session
        self._project = project
        self._questions = questions
        self._policy = policy
        self._store = store
        self._record = record
        self._sandboxes = sandboxes

    async def run(self, ended: Sequence[tuple[Attempt, CheckedCopy]]) -> Sequence[Attempt]:
        """The attempts with their checks counted."""
        if self._sandboxes is not None:
            found = self._sandboxes.found
            ended = [(attempt, replace(copy, context=await found(copy.context))) for attempt, copy in ended]
        changes = [await to_thread.run_sync(self._changes, attempt, copy) for attempt, copy in ended]
        checks = [
            [check for check in checks_for(changed, roots=(copy.root,)) if self._verdict(check, copy) != "deny"]
            for changed, (_, copy) in zip(changes, ended, strict=True)
        ]
        asked = [
            check.line
            for found, (_, copy) in zip(checks, ended, strict=True)
            for check in found
            if self._verdict(check, copy) == "ask"
        ]
        if asked and not await self._may_run(list(dict.fromkeys(asked))):
            checks = [
                [check for check in found if self._verdict(check, copy) == "allow"]
                for found, (_, copy) in zip(checks, ended, strict=True)
            ]
        results = {attempt.number: attempt for attempt, _ in ended}
        limiter = anyio.CapacityLimiter(AT_ONCE)

        async def one(attempt: Attempt, copy: CheckedCopy, found: Sequence[Check], changed: Changes) -> None:
            async with limiter:
                for check in found:
                    await self._record(attempt=attempt.number, command=redact(check.line))
                results[attempt.number] = await self._counted(attempt, copy, found, changes=changed)

        async with anyio.create_task_group() as tasks:
            for (attempt, copy), found, changed in zip(ended, checks, changes, strict=True):
                tasks.start_soon(one, attempt, copy, found, changed)
        return [results[attempt.number] for attempt, _ in ended]

    async def _counted(
        self, attempt: Attempt, copy: CheckedCopy, checks: Sequence[Check], *, changes: Changes
    ) -> Attempt:
        """The attempt with the checks that told something."""
        for check in checks:
            try:
                sandbox = None if self._sandboxes is None else await self._sandboxes.in_project(copy.context)
                result = await run_check(check, workspace=copy.workspace, changes=changes, sandbox=sandbox)
            except ToolError:
                continue
            if result.problems:
                attempt = replace(attempt, failed=attempt.failed + 1)
            elif not result.note:
                attempt = replace(attempt, passed=attempt.passed + 1)
        return attempt

    def _verdict(self, check: Check, copy: CheckedCopy) -> str:
        access = RunsCommand(line=check.line, cwd=check.root)
        mode = self._session.mode
        return self._policy.decide(tool=TOOL, accesses=(access,), mode=mode, context=copy.context).verdict

    async def _may_run(self, lines: Sequence[str]) -> bool:
        text = code_block("\n".join(printable(line) for line in lines))
        question = PermissionQuestion(
            session="",
            call_id="",
            title="Check the attempts",
            reason="The checks of the project run its code. They run in the copies that the attempts left.",
            content=(PartContent(part=TextPart(text=text)),),
            choices=_CHOICES,
            kind="execute",
        )
        choice = await self._questions.permission(question)
        return choice is not None and choice.id == "run"

    def _changes(self, attempt: Attempt, copy: CheckedCopy) -> Changes:
        files: list[ChangedFile] = []
        deleted: list[DeletedFile] = []
        for change in attempt.changes[:MOST_FILES]:
            path = copy.folder / Path(change.path).relative_to(self._project)
            before, after = self._texts(change)
            if not path.is_relative_to(copy.root) or (before is None and after is None):
                continue
            if after is not None:
                files.append(ChangedFile(path=path, root=copy.root, before=before, after=after))
            elif before is not None:
                deleted.append(DeletedFile(path=path, root=copy.root, before=before))
        return Changes(files=tuple(files), deleted=tuple(deleted))

    def _texts(self, change: PathChange) -> tuple[str | None, str | None]:
        return self._text(change.before), self._text(change.after or PathState())

    def _text(self, state: PathState) -> str | None:
        """The text of a state; None if it is no file, or no text."""
        if state.kind != "file" or not state.kept:
            return None
        try:
            return self._store.get(state.digest).decode("utf-8-sig")
        except (ToolError, UnicodeDecodeError):
            return None
