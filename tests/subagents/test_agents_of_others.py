"""Agents made with the official SDKs carry out tasks of ours, in both protocols."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.subagents.test_foreign import is_alive, task
from tests.support.editors.editor_fixtures import Spawn
from tests.support.foreign.node import FOREIGN, foreign_modules, require_node
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, configure, expect, say, turn

TYPESCRIPT = {"typescript 1": "1", "typescript 2": "2"}


def command(name: str) -> list[str]:
    """The command of an agent."""
    if name not in TYPESCRIPT:
        return [sys.executable, str(FOREIGN / "python_agent.py")]
    foreign_modules()
    return [*require_node().node, str(FOREIGN / "agent.mjs"), TYPESCRIPT[name]]


def config(name: str) -> str:
    program, *args = command(name)
    agent = f"[agents.other]\ncommand = {json.dumps(program)}\nargs = {json.dumps(args)}\nmode = 'ask'"
    return f'mode = "auto"\n{agent}'


@pytest.mark.parametrize("name", ["typescript 1", "python"])
async def test_it_reads_and_writes_through_us(opened: Spawn, project: Path, name: str) -> None:
    (project / "a.txt").write_text("heron")
    script = Script(
        task(f"read {project}/a.txt", f"write {project}/b.txt crane"), turn(expect("[heron][written]"), say("done"))
    )
    async with opened(script=script, config=config(name)) as editor:
        editor.will_answer("allow_once")
        assert (await editor.prompt("go")).text == "done"
        assert (project / "b.txt").read_text() == "crane"


@pytest.mark.parametrize("name", [*TYPESCRIPT, "python"])
@pytest.mark.parametrize(("answer", "told"), [("allow_once", "[yes]"), ("reject_once", "[no]")])
async def test_our_user_answers_its_questions(opened: Spawn, project: Path, name: str, answer: str, told: str) -> None:
    script = Script(task(f"permit {project}/a.txt"), turn(expect(told), say("done")))
    async with opened(script=script, config=config(name)) as editor:
        editor.will_answer(answer)
        assert (await editor.prompt("go")).text == "done"


@pytest.mark.parametrize("name", [*TYPESCRIPT, "python"])
async def test_it_is_cancelled_with_our_turn(opened: Spawn, project: Path, name: str) -> None:
    here = project / "here"
    script = Script(task(f"wait {here}"))
    async with opened(script=script, config=config(name)) as editor:
        running = await editor.start_prompt("go")
        await eventually(lambda: here.exists() and here.read_text() != "", what="the agent at work")
        process = int(here.read_text())
        await editor.cancel()
        assert (await running.outcome()).stop_reason == "cancelled"
        await eventually(lambda: not is_alive(process), what="its end")


@pytest.mark.parametrize("name", TYPESCRIPT)
async def test_its_death_in_mid_turn_is_told(opened: Spawn, project: Path, name: str) -> None:
    here = project / "here"
    script = Script(task(f"wait {here}"), turn(expect("by signal 9"), say("done")))
    async with opened(script=script, config=config(name)) as editor:
        running = await editor.start_prompt("go")
        await eventually(lambda: here.exists() and here.read_text() != "", what="the agent at work")
        os.kill(int(here.read_text()), signal.SIGKILL)
        assert (await running.outcome()).text == "done"


async def test_our_own_program_works_for_itself_and_each_change_is_asked_about_once(
    opened: Spawn, project: Path, tmp_path: Path
) -> None:
    below = tmp_path / "below"
    configure(below, Script(turn(call("write_file", path="b.txt", content="crane")), turn(say("I made it."))))
    own = f'command = {json.dumps(sys.executable)}\nargs = ["-m", "claw_acp"]\nmode = \'ask\''
    more = f'mode = "auto"\n[agents.other]\n{own}\nenv = {{ CLAW_ACP_HOME = {json.dumps(str(below))} }}'
    script = Script(task("say anything"), turn(expect("I made it."), say("done")))
    async with opened(script=script, config=more) as editor:
        editor.will_answer("allow_once")
        assert (await editor.prompt("go")).text == "done"
        assert (project / "b.txt").read_text() == "crane"
        assert len(editor.received("session/request_permission")) == 1
