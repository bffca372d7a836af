"""Scripts of `tests/foreign` that drive the program through the official TypeScript SDK, and their reports."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anyio import to_thread

from tests.support.editors.exchange import Json
from tests.support.foreign.desk import Desk
from tests.support.foreign.node import FOREIGN, foreign_modules, require_node
from tests.support.judges.official_schema import Judge, OfficialSchema
from tests.support.program.forked_process import forked_python

TIMEOUT = 50.0  # seconds for a whole script; a test may take 60


async def reported(
    script: str,
    desk: Desk,
    *,
    python: Sequence[str] = ("-m", "claw_acp"),
    env: Mapping[str, str] | None = None,
    **plan: Any,
) -> Json:
    """Run a script made with `strict_client.mjs`; returns its report.

    Fails on every complaint of the SDK, and on every frame that the protocol does not allow.
    """
    foreign_modules()
    whole = {"command": [forked_python(), *python], "project": str(desk.project), **plan}
    command = [*require_node().node, str(FOREIGN / script), json.dumps(whole)]
    environment = {**os.environ, "HOME": str(desk.home), "CLAW_ACP_HOME": str(desk.claw), **(env or {})}
    report = json.loads(await to_thread.run_sync(_run, command, desk.home, environment))
    assert report["complaints"] == [], "\n".join(report["complaints"])
    assert set(report["exits"]) == {0}
    for frames in report["frames"]:
        _judge(frames)
    return report


def _run(command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> bytes:
    """Run it to its end; returns its output, which must be all that it prints."""
    try:
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"the script does not end:\n{(error.stderr or b'').decode()}") from None
    errors = done.stderr.decode()
    assert (done.returncode, errors) == (0, ""), errors
    return done.stdout


def _judge(frames: Sequence[Json]) -> None:
    judge = Judge(OfficialSchema.load())
    for frame in frames:
        (judge.client_sent if frame["sent"] else judge.agent_sent)(frame["message"])
    assert judge.unanswered == []
