"""Programs of the configuration, which the hub starts and keeps running."""

import json
import os
import shlex
import sys
from pathlib import Path

import anyio
import pytest

from claw_acp.config.model import EndpointSection
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.endpoints import supervised
from claw_acp.endpoints.attached import AttachedPrograms
from claw_acp.endpoints.program_plan import ProgramPlan, read_plans
from claw_acp.endpoints.supervised import MOST_ENDS, SupervisedProgram
from claw_acp.endpoints.supervision import Supervision
from tests.endpoints.program import NoFires
from tests.support.editors.editor_fixtures import Spawn
from tests.support.program.agent_process import eventually
from tests.support.program.processes import run_program
from tests.support.script_files import Script, call, expect, say, turn
from tests.support.servers.hub import Hub, environment_of

PROGRAMS = Path(__file__).parent.parent.parent / "protocol-schemas" / "endpoints" / "programs"
WORD_COUNT = PROGRAMS / "python" / "word_count.py"
RAW = (sys.executable, "-S", "-E", str(WORD_COUNT))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised, "FIRST_PAUSE", 0.001)


def supervised_program(*argv: str) -> tuple[SupervisedProgram, AttachedPrograms]:
    programs = AttachedPrograms(fires=NoFires(), clock=SYSTEM_CLOCK)
    plan = ProgramPlan(name="mine", argv=argv, env={})
    about = {"protocolVersion": 1, "hostInfo": {"name": "test"}}
    return SupervisedProgram(plan, programs, about=about, clock=SYSTEM_CLOCK), programs


@pytest.mark.forked
async def test_the_hub_starts_a_program_of_the_configuration_whose_tools_its_sessions_have(
    opened: Spawn, home: Path
) -> None:
    script = Script(
        turn(call("remote__word_count", text="one two")),
        turn(expect("2"), call("remote__word_count", text=7)),
        turn(expect("do not fit its schema: `text`: 7 is not of type 'string'"), say("done")),
    )
    argv = json.dumps(list(RAW[1:]))
    config = f'mode = "auto"\n[endpoints.counter]\ncommand = {json.dumps(RAW[0])}\nargs = {argv}\n'
    async with (
        Hub.started(home=home, script=script, config=config),
        opened(script=script, config=config) as editor,
    ):
        await eventually(lambda: "reference-python" in _status(home), what="the program is attached")
        assert "[endpoints.counter] running" in _status(home)
        outcome = await editor.prompt("go")
    assert outcome.text == "done"


NOTES = """import os
with open(os.environ["STARTS"], "a", encoding="utf-8") as starts:
    print(os.getpid(), file=starts)
"""


def noting(folder: Path, name: str, *, line: str = "") -> str:
    """A section of the configuration with a program of its own, which notes each of its starts in a file."""
    program = folder / f"{name}.py"
    if not program.exists():
        program.write_text(NOTES + WORD_COUNT.read_text(encoding="utf-8").replace("reference-python", name))
    argv, variables = json.dumps(sys.executable), f"{{ STARTS = {json.dumps(str(folder / f'{name}.starts'))} }}"
    return f"[endpoints.{name}]\ncommand = {argv}\nargs = {json.dumps([str(program)])}\nenv = {variables}\n{line}\n"


def starts(folder: Path, name: str) -> int:
    file = folder / f"{name}.starts"
    return len(file.read_text().split()) if file.exists() else 0


@pytest.mark.forked
async def test_a_running_hub_follows_its_configuration_and_its_programs_on_disk(home: Path, tmp_path: Path) -> None:
    one, two = noting(tmp_path, "one"), noting(tmp_path, "two")
    async with Hub.started(home=home, script=Script(), config=one):
        file = home / "claw" / "config.toml"
        usual = file.read_text(encoding="utf-8").replace(one, "") + "\n"

        async def shown(text: str, *parts: str) -> None:
            file.write_text(usual + text, encoding="utf-8")
            await eventually(lambda: all(part in _status(home) for part in parts), what=f"{parts}")

        await shown(one, "[endpoints.one] running")
        await shown(one + two, "[endpoints.two] running")
        bad = one + noting(tmp_path, "two", line='enabled = "yes"')
        line = (usual + bad).count("\n")
        await shown(bad, "[endpoints.one] running", f"[endpoints.two] running: {file}:{line}: endpoints.two.enabled")
        await shown(one + two + "]", "[endpoints.one] running", "[endpoints.two] running", "lends remote__word_count")
        assert (starts(tmp_path, "one"), starts(tmp_path, "two")) == (1, 1)
        file.write_text(usual + one + two, encoding="utf-8")
        (tmp_path / "one.new").write_text((tmp_path / "one.py").read_text() + "\n# newer\n")
        (tmp_path / "one.new").rename(tmp_path / "one.py")
        await eventually(lambda: starts(tmp_path, "one") == 2, what="the newer program")
        file.write_text(usual + one, encoding="utf-8")
        await eventually(lambda: "two" not in _status(home), what="the end of the other one")
        assert (starts(tmp_path, "one"), starts(tmp_path, "two")) == (2, 1)


def _status(home: Path) -> str:
    return run_program("serve", "--status", cwd=home, env=environment_of(home)).stdout


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (("/no/such/program",), "it cannot be started: "),
        ((sys.executable, "-c", "import sys; sys.exit('no config file')"), "no config file"),
        ((sys.executable, "-c", "print('hello', flush=True); input()"), "the first line has to be the answer"),
        (("sh", "-c", "read line"), "it left before it answered"),
    ],
)
async def test_a_program_that_ends_again_and_again_is_given_up_with_the_reason(
    argv: tuple[str, ...], reason: str
) -> None:
    program, _ = supervised_program(*argv)
    with anyio.fail_after(60):
        await program.run()
    assert program.state == "given up"
    assert reason in program.reason


async def test_a_program_that_was_given_up_is_started_when_its_file_changes(tmp_path: Path) -> None:
    program = tmp_path / "program.sh"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    settings = Settings(endpoints={"mine": EndpointSection(command=str(program))})
    programs = AttachedPrograms(fires=NoFires(), clock=SYSTEM_CLOCK)
    async with anyio.create_task_group() as tasks:
        supervision = Supervision(programs, about={"protocolVersion": 1}, clock=SYSTEM_CLOCK, tasks=tasks)
        for lines, state in (("exit 3", "given up"), (f"exec {shlex.join(RAW)}", "running")):
            program.write_text(f"#!/bin/sh\n{lines}\n")
            supervision.follow(read_plans(settings, SecretCache()))
            await eventually(lambda s=state: supervision.rows()[0]["state"] == s, what=state)
        tasks.cancel_scope.cancel()


async def test_a_killed_program_is_started_again_and_lends_its_tools_again(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    program, programs = supervised_program("sh", "-c", 'echo $$ >> "$0"; exec "$@"', str(starts), *RAW)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(program.run)
        for number in range(1, MOST_ENDS):
            await eventually(lambda: _tools(programs) == ["remote__word_count"], what="the tool")
            ids = starts.read_text().split()
            assert len(ids) == number
            os.kill(int(ids[-1]), 9)
            await eventually(lambda n=number: len(starts.read_text().split()) > n, what="the next start")
        tasks.cancel_scope.cancel()
    assert program.reason.startswith(("it ended with exit code -9", "it closed its output"))


def _tools(programs: AttachedPrograms) -> list[object]:
    return [tool for row in programs.rows() for tool in row["tools"]]  # type: ignore[union-attr]


async def test_pauses_between_starts_double_up_to_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []

    async def sleep(seconds: float) -> None:
        paused.append(seconds)

    monkeypatch.setattr(supervised, "FIRST_PAUSE", 1.0)
    monkeypatch.setattr(supervised, "MOST_ENDS", 9)
    monkeypatch.setattr(supervised.anyio, "sleep", sleep)
    program, _ = supervised_program("/no/such/program")
    await program.run()
    assert paused == [1, 2, 4, 8, 16, 32, 60, 60]
