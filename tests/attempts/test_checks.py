"""Attempts are compared by the checks of the project first, then by the size of what they changed."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from claw_acp.sandbox.machine import sandbox_of_this_machine
from tests.attempts.conftest import Git
from tests.attempts.test_try import AUTO, acts
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import shown_text
from tests.support.script_files import Script, call, say, turn

BAD = "import os\n"
GOOD = "one = 1\ntwo = 2\n"


@pytest.fixture
def programs(tmp_path: Path, project: Path, git: Git) -> dict[str, str]:
    """A machine with ruff, and a project that uses it."""
    found = shutil.which("ruff", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        pytest.skip("ruff is not here")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ruff").symlink_to(found)
    (project / "pyproject.toml").write_text("[tool.ruff]\n")
    return {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "CLAW_ACP_REPAIR": "diagnostics"}


def script() -> Script:
    return Script(
        *acts(1, turn(call("write_file", path="b.py", content=BAD)), turn(say("Short."))),
        *acts(2, turn(call("write_file", path="b.py", content=GOOD)), turn(say("Clean."))),
    )


async def test_one_that_fails_a_check_comes_behind_a_longer_one_that_passes(
    opened: Spawn, programs: dict[str, str], home: Path
) -> None:
    async with opened(script=script(), config=AUTO, env=programs) as editor:
        editor.will_answer("allow_once")
        rows = (await editor.prompt("/try 2 write b")).text.splitlines()[2:4]
        assert rows == [
            "| 2 | `scripted/play` | 1 passed | 1 | +2 -0 |  | Clean. |",
            "| 1 | `scripted/play` | 1 failed, 0 passed | 1 | +1 -0 |  | Short. |",
        ]
    recorded = [json.loads(line) for line in (home / "claw" / "audit" / "audit.jsonl").read_bytes().splitlines()]
    checks = [line for line in recorded if line["kind"] == "check"]
    assert sorted((line["attempt"], "ruff check" in line["command"]) for line in checks) == [(1, True), (2, True)]
    assert {line["attempt_of"] for line in recorded if "attempt_of" in line} == {checks[0]["session"]}


async def test_checks_run_in_the_sandbox(opened: Spawn, programs: dict[str, str], tmp_path: Path, home: Path) -> None:
    if sandbox_of_this_machine(cache=tmp_path / "cache") is None:
        pytest.skip("no sandbox works on this machine")
    ruff = tmp_path / "bin" / "ruff"
    real = ruff.readlink()
    ruff.unlink()
    ruff.write_text(f'#!/bin/sh\ntouch {home / "made"}\nexec {real} "$@"\n')
    ruff.chmod(0o755)
    env = {**programs, "PATH": f"{programs['PATH']}:{real.parent}", "CLAW_ACP_SANDBOX": "on"}
    async with opened(script=script(), config=AUTO, env=env) as editor:
        editor.will_answer("allow_once")
        assert "| 1 passed |" in (await editor.prompt("/try 2 write b")).text
    assert not (home / "made").exists()


@pytest.mark.parametrize(("answer", "told"), [("allow_once", "1 passed"), ("reject_once", "|  |")])
async def test_where_the_mode_asks_the_person_is_asked_once_for_all_checks(
    opened: Spawn, programs: dict[str, str], answer: str, told: str
) -> None:
    async with opened(script=script(), config='mode = "edit"', env=programs) as editor:
        editor.will_answer(answer)
        tried = await editor.prompt("/try 2 write b")
        (asked,) = [frame["params"]["toolCall"] for frame in editor.received("session/request_permission")]
        assert asked["title"] == "Check the attempts"
        assert shown_text(asked).count("ruff check") == 1
        assert told in tried.text


async def test_without_repair_nothing_is_checked(opened: Spawn, programs: dict[str, str]) -> None:
    async with opened(script=script(), config=AUTO, env=programs | {"CLAW_ACP_REPAIR": "off"}) as editor:
        assert "passed" not in (await editor.prompt("/try 2 write b")).text
