"""`claw-acp run "/try ..."`: without an editor, and `take` in another program."""

import os
from pathlib import Path

from tests.attempts.conftest import Git
from tests.attempts.test_try import AUTO, two_ways
from tests.support.program.processes import run_program
from tests.support.quiet import QUIET
from tests.support.script_files import configure


def test_the_table_is_printed_and_an_attempt_taken_by_another_run(project: Path, home: Path, git: Git) -> None:
    configure(home, two_ways(), more=AUTO)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAW_ACP_")}
    environment = kept | QUIET | {"CLAW_ACP_HOME": str(home)}
    tried = run_program("run", "/try 2 change something", cwd=project, env=environment, text="")
    assert tried.returncode == 0
    assert "| 2 | `scripted/play` |  | 2 | +2 -1 |  | I went the second way. |" in tried.stdout
    assert "Attempt 2: scripted/play" in tried.stderr
    taken = run_program("run", "--continue", "/try take 2", cwd=project, env=environment, text="")
    assert taken.returncode == 0
    assert (project / "b.txt").read_text() == "x\ny\n"
    assert git("worktree", "list").count("\n") == 1
