"""Another agent as a subagent: a program of the settings, whose requests are judged as calls of ours."""

import json
import sys
from pathlib import Path

from tests.subagents.test_delegate import shown
from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, Turn, call, expect, say, turn

PROGRAM = Path(__file__).with_name("program_agent.py")


def settings(*lines: str, mode: str = "auto", manner: str = "") -> str:
    """The settings with the agent `other`."""
    agent = [
        "[agents.other]",
        f"command = {json.dumps(sys.executable)}",
        f"args = {json.dumps([str(PROGRAM)])}",
        f"env = {{ AGENT = {json.dumps(manner)} }}",
        *lines,
    ]
    rules = f"[permissions]\nallow = [{json.dumps(f'shell({sys.executable} {PROGRAM})')}]"
    return "\n".join([f'mode = "{mode}"', *agent, rules])


def task(*does: str) -> Turn:
    """The turn in which the model has `other` do these things."""
    return turn(call("delegate", agent="other", title="work", task="\n".join(f"!{each}" for each in does)))


async def test_another_agent_reads_writes_and_runs_through_us(opened: Spawn, project: Path) -> None:
    (project / "a.txt").write_text("heron")
    script = Script(
        task("step looking", f"read {project}/a.txt", f"write {project}/b.txt crane", "run cat b.txt"),
        turn(expect("[heron][{}][crane]"), say("done")),
    )
    async with opened(script=script, config=settings()) as editor:
        answer = await editor.prompt("go")
        assert answer.text == "done"
        assert shown(answer)[:2] == ("Delegate to other: work", "completed")
        assert (project / "b.txt").read_text() == "crane"
