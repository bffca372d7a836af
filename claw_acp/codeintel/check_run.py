"""One run of a project's check: the problems it finds now, less those that it finds in the files as they were."""

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final

import anyio
from anyio import to_thread

from claw_acp.codeintel.changed_files import ChangedFile, Changes, DeletedFile, moved
from claw_acp.codeintel.check_table import Check
from claw_acp.codeintel.earlier_copy import copy_before
from claw_acp.codeintel.problem import Problem, new_problems
from claw_acp.contracts.launch import CommandSandbox
from claw_acp.contracts.workspace import Command, ExitStatus, Workspace, ending
from claw_acp.core.environment import current_environment
from claw_acp.core.errors import ToolError
from claw_acp.core.printable import printable
from claw_acp.core.screen_text import readable
from claw_acp.core.value import Value, replace
from claw_acp.process.child_process import running_child
from claw_acp.process.output_tail import OutputTail
from claw_acp.workspace.environment import SHELL, command_environment
from claw_acp.workspace.process_host import confined

CHECK_SECONDS: Final = 120.0
"""Seconds that a check may take."""

RELEASE_SECONDS: Final = 5.0
"""Seconds to release a command; an editor that owns the terminal may be slow to answer."""

_OUTPUT: Final = 1024 * 1024  # bytes of output that are read, the last ones


class CheckResult(Value):
    """The new problems that a check found, and the number of old ones. `note` says why it found out nothing."""

    problems: tuple[Problem, ...] = ()
    old: int = 0
    note: str = ""


async def run_check(
    check: Check, *, workspace: Workspace, changes: Changes, sandbox: CommandSandbox | None = None
) -> CheckResult:
    """Run a check on the files as they are and, if it finds something, on a copy with the files as they were.

    Both times it runs in the sandbox, if there is one.

    Raises:
        ToolError: It cannot be started.
    """
    output, status = await _run(check, workspace, sandbox)
    if status is None:
        return CheckResult(note=f"it took more than {CHECK_SECONDS:g} s and was stopped")
    found = await to_thread.run_sync(check.kind.read, output, check.root)
    if not found:
        last = next((line for line in reversed(output.splitlines()) if line.strip()), "")
        told = f"it ended with {ending(status)}: {printable(last.strip())[:300]}"
        return CheckResult(note="" if status.code == 0 else told)
    before = await _problems_before(check, changes, sandbox)
    if before is None:
        return CheckResult(note=f"it finds {len(found)} problems, and which of them are new cannot be told")
    new = tuple(new_problems(found, before=before))
    return CheckResult(problems=new, old=len(found) - len(new))


async def _run(check: Check, workspace: Workspace, sandbox: CommandSandbox | None) -> tuple[str, ExitStatus | None]:
    """The output of the check, and how it ended; None: it was stopped."""
    process = await workspace.start(Command(line=check.line, cwd=check.root, output_limit=_OUTPUT, sandbox=sandbox))
    try:
        status = None
        with anyio.move_on_after(CHECK_SECONDS):
            status = await process.wait()
        return readable((await process.output()).text), status
    finally:
        with anyio.move_on_after(RELEASE_SECONDS, shield=True):
            await process.release()


async def _problems_before(check: Check, changes: Changes, sandbox: CommandSandbox | None) -> Sequence[Problem] | None:
    """The problems that the same check finds in the files as they were; None when that cannot be found out."""
    if not check.line_before:
        return ()
    if sandbox is not None and not sandbox.profile.writable:
        return None
    above = None if sandbox is None else sandbox.profile.writable[-1]  # a cache: what is temporary is not seen inside
    folder = Path(await to_thread.run_sync(tempfile.mkdtemp, None, "claw-acp-check-", above))
    try:
        own = [file for file in (*changes.files, *changes.deleted) if file.root == check.root]
        project = folder / check.root.name
        if not await _copied(check.root, own, to=project):
            return None
        output = await _run_in_copy(check, project, sandbox)
        if output is None:
            return None
        found = await to_thread.run_sync(check.kind.read, output, project)
        in_place = [replace(problem, path=_original(problem.path, project, check.root)) for problem in found]
        return moved(in_place, changes.files)
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(partial(shutil.rmtree, folder, ignore_errors=True))


async def _copied(root: Path, files: Sequence[ChangedFile | DeletedFile], *, to: Path) -> bool:
    """Make the copy; False if it cannot be made. Cancelling ends it soon."""
    stop, is_whole = Event(), False

    async def stop_when_cancelled() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            stop.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stop_when_cancelled)
        with suppress(OSError):
            is_whole = await to_thread.run_sync(partial(copy_before, root, files, to=to, stop=stop))
        tasks.cancel_scope.cancel()
    return is_whole


async def _run_in_copy(check: Check, project: Path, sandbox: CommandSandbox | None) -> str | None:
    """The output of the check in a copy of the project; None if it took too long."""
    paths = {"PYTHONPATH": f"{project}{os.pathsep}{project / 'src'}", "CARGO_TARGET_DIR": str(check.root / "target")}
    inside: Mapping[str, str] = {} if sandbox is None else sandbox.env
    environment = command_environment(current_environment(), extra={**inside, **paths})
    tail = OutputTail(limit=_OUTPUT)
    command = Command(line=f"({check.line_before}) 2>&1", cwd=project, sandbox=sandbox)
    argv = [SHELL, "-c", "--", command.line]
    try:
        with confined(command, "us") as sandboxed:
            async with running_child(argv, env=environment, cwd=project, stderr="null", sandbox=sandboxed) as child:
                with anyio.move_on_after(CHECK_SECONDS):
                    assert child.stdout is not None
                    async for chunk in child.stdout:
                        tail.add(chunk)
                    await child.wait()
                    return readable(tail.text(ended=True))
    except OSError as error:
        raise ToolError(f"{check.kind.name} cannot be started: {error.strerror or error}") from error
    return None


def _original(path: Path, project: Path, root: Path) -> Path:
    for copy in (project, project.resolve()):
        if path.is_relative_to(copy):
            return root / path.relative_to(copy)
    return path
