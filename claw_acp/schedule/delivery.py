"""Delivery of results: to a session, to a command of the person, to a webhook."""

import json
import os
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import anyio

from claw_acp.contracts.schedule import JobRunner, ResultTaker, RunResult
from claw_acp.core.child_environment import without_keys
from claw_acp.core.errors import ToolError
from claw_acp.core.money import to_dollars
from claw_acp.net.address_guard import AddressGuard
from claw_acp.process.child_process import ChildProcess, start_child
from claw_acp.process.output_tail import OutputTail
from claw_acp.registry.reference import Ref
from claw_acp.schedule.run_history import Run

WITHIN: Final = 30.0
"""Seconds that a delivery may take."""

_AGAIN_AFTER: Final = (30.0, 300.0, 1800.0)
_AGAIN_FOR_A_WEEK: Final = (*_AGAIN_AFTER, *(21_600.0,) * 28)

_TOLD: Final = 500  # bytes of a command's errors that are told


class Post(Protocol):
    """Sends a body to a URL; see `net.fetch.post`."""

    def __call__(self, url: str, *, body: bytes, guard: AddressGuard, within: float) -> Coroutine[Any, Any, int]:
        """Send it; returns the status of the answer. Raises ToolError when there is none."""
        ...


_POST: Final[Ref[Post]] = Ref("claw_acp.net.fetch:post")  # httpx takes 100 ms, and few deliver so


def again_after(run: Run) -> float | None:
    """Seconds until a delivery that failed is tried again; None: it is not. A program may come back within days."""
    pauses = _AGAIN_FOR_A_WEEK if run.deliver_to.kind == "program" else _AGAIN_AFTER
    return pauses[run.deliver_attempt] if run.deliver_attempt < len(pauses) else None


async def deliver(run: Run, *, runner: JobRunner, programs: ResultTaker | None) -> str:
    """Deliver the result of a run; returns the outcome for people.

    Raises:
        ClawError: It could not be delivered; the text says why.
    """
    match run.deliver_to.kind:
        case "none":
            return ""
        case "session":
            await runner.tell(run.deliver_to.target, title=f"Scheduled job {run.job_name}", text=result_text(run))
            return "shown in the session"
        case "command":
            return await _to_command(run)
        case "webhook":
            url = run.deliver_to.target
            # A person wrote this address, so it may also be one of this machine or a private network.
            guard = AddressGuard(allow_hosts=(urlsplit(url).hostname or "",))
            status = await _POST.load()(url, body=json.dumps(_report(run)).encode(), guard=guard, within=WITHIN)
            if not 200 <= status < 300:
                raise ToolError(f"the webhook answered with status {status}")
            return f"taken with status {status}"
        case "program":
            if programs is None:
                raise ToolError("programs cannot attach to the process that runs schedules")
            return await programs.take_result(run.deliver_to.target, _result(run))


def _result(run: Run) -> RunResult:
    return RunResult(status=run.status, text=run.text, detail=run.detail, session_id=run.session_id, cost=run.cost)


def result_text(run: Run) -> str:
    """The result of a run for people."""
    ended = "" if run.status == "succeeded" else f"The job {run.job_name} has {_ENDINGS[run.status]}."
    return "\n\n".join(part for part in (ended, run.text.strip(), run.detail.strip()) if part) or "Done."


_ENDINGS: Final = {
    "failed": "failed",
    "cancelled": "been cancelled",
    "interrupted": "been interrupted",
    "skipped": "been skipped",
    "running": "not ended",
}


async def _to_command(run: Run) -> str:
    variables = {
        "CLAW_ACP_JOB": run.job_name,
        "CLAW_ACP_RUN": run.id,
        "CLAW_ACP_STATUS": run.status,
        "CLAW_ACP_RUN_SESSION": run.session_id or "",
    }
    env = {**without_keys(os.environ), **variables}
    try:
        argv = ["/bin/sh", "-c", run.deliver_to.target]
        child = await start_child(argv, env=env, cwd=Path.home(), stdin="pipe", stdout="null")
    except OSError as error:
        raise ToolError(f"the command cannot be started: {error.strerror or error}") from error
    complaints = OutputTail(limit=_TOLD)
    try:
        with anyio.move_on_after(WITHIN):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(child.drain_stderr, complaints.add)
                await _feed(child, f"{result_text(run)}\n".encode(errors="replace"))
                await child.wait()
                tasks.cancel_scope.cancel()
        code = child.exit_code
    finally:
        await child.end(terminate=0)
    if code is None:
        raise ToolError(f"the command did not end within {WITHIN:g} s and was stopped")
    if code:
        why = complaints.text(ended=True).strip()
        raise ToolError(f"the command ended with exit code {code}{f': {why}' if why else ''}")
    return "the command took it"


async def _feed(child: ChildProcess, data: bytes) -> None:
    """Write the input of a command, which need not read it."""
    assert child.stdin is not None
    try:
        await child.stdin.send(data)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return
    child.stdin.close()


def _report(run: Run) -> dict[str, object]:
    """The body of a webhook."""
    return {
        "job": run.job_name,
        "run": run.id,
        "status": run.status,
        "text": run.text,
        "detail": run.detail,
        "sessionId": run.session_id,
        "scheduledFor": _iso(run.scheduled_for),
        "startedAt": _iso(run.started_at),
        "endedAt": None if run.ended_at is None else _iso(run.ended_at),
        "attempt": run.attempt + 1,
        "usage": {"inputTokens": run.input_tokens, "outputTokens": run.output_tokens},
        "cost": to_dollars(run.cost),
    }


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, tz=UTC).isoformat(timespec="seconds")
