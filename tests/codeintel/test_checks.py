"""A project's own checks: how their output is read, that only news count, and that they run like any command."""

import json
from pathlib import Path
from threading import Event

import pytest

from claw_acp.codeintel.changed_files import ChangedFile, Changes
from claw_acp.codeintel.check_table import CHECKS, CheckKind, checks_for
from claw_acp.codeintel.earlier_copy import copy_before
from tests.codeintel.conftest import Machine
from tests.support.editors.editor_fixtures import Spawn
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, expect, say, turn

OUTPUTS = Path(__file__).with_name("check_outputs.txt").read_text(encoding="utf-8").split("\n== ")[1:]
"""Each is the name of a check, what it printed, and the problems in it."""


def kind_of(name: str) -> CheckKind:
    return next(kind for kind in CHECKS if " ".join([kind.name, *kind.arguments[:1]]).startswith(name))


@pytest.mark.parametrize("text", OUTPUTS, ids=lambda text: text.partition("\n")[0])
def test_the_output_of_a_check_is_read(text: str) -> None:
    name, _, rest = text.partition("\n")
    output, _, expected = rest.partition("\n->\n")
    found = [problem.line_for(Path("/p")) for problem in kind_of(name).read(output, Path("/p"))]
    assert found == expected.strip().split("\n")


@pytest.mark.parametrize("output", ["", "[{", "[{}]", '[{"messages": 1, "filePath": "a"}]', "null", "Oops!"])
def test_eslint_may_print_anything(output: str) -> None:
    assert kind_of("eslint").read(output, Path("/p")) == []


def python_project(folder: Path) -> None:
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "sums.py").write_text("def double(number):\n    return number * 2\n")
    (folder / "tests").mkdir()
    (folder / "tests/test_sums.py").write_text(
        "from sums import double\n\n"
        "def test_double():\n    assert double(2) == 4\n\n"
        "def test_never():\n    assert double(2) == 5\n"
    )
    (folder / "conftest.py").write_text("")


EDIT = turn(call("shell", command="sed -i 's/number . 2/number * 3/' sums.py"))


async def test_a_test_that_fails_since_the_edit_is_shown_and_one_that_failed_before_is_not(
    opened: Spawn, project: Path, machine: Machine
) -> None:
    python_project(project)
    told = "tests/test_sums.py error test_double fails assert 6 == 4"
    mended = turn(call("shell", command="sed -i 's/number . 3/number * 2/' sums.py"))
    script = Script(EDIT, turn(say("done")), turn(expect(told), mended["steps"][0]), turn(say(" mended")))
    async with opened(script=script, config='mode = "auto"', env=machine("pytest", repair="checks")) as editor:
        outcome = await editor.prompt("go")
    assert (outcome.text, outcome.thoughts) == ("done mended", "")
    [check] = [each for each in outcome.calls if each["name"] == "project_check"]
    assert check["status"] == "failed"
    assert "test_never" not in json.dumps(check["content"])


async def test_a_check_is_asked_about_like_any_command(opened: Spawn, project: Path, machine: Machine) -> None:
    python_project(project)
    edits = [turn(call("write_file", path="sums.py", content=f"double = {number}\n")) for number in (1, 2)]
    script = Script(turn(call("read_file", path="sums.py")), edits[0], turn(say("done")), edits[1], turn(say("done")))
    async with opened(script=script, config='mode = "edit"', env=machine("pytest", repair="checks")) as editor:
        editor.will_answer("reject_once")
        outcome = await editor.prompt("go")
        editor.will_answer()  # a no holds for the session: another question would fail
        assert (await editor.prompt("go")).text == "done"
    assert outcome.text == "done"
    assert outcome.calls[-1]["title"].startswith("pytest -q")
    assert outcome.calls[-1]["status"] == "failed"
    assert not (project / "__pycache__").exists()  # it has not run


async def test_cancelling_the_prompt_ends_a_check_that_runs(opened: Spawn, project: Path, machine: Machine) -> None:
    python_project(project)
    endless = "import time\n\ndef test_endless():\n    open('began', 'w')\n    time.sleep(600)\n"
    script = Script(turn(call("write_file", path="test_endless.py", content=endless)), turn(say("done")))
    async with opened(script=script, config='mode = "auto"', env=machine("pytest", repair="checks")) as editor:
        prompt = await editor.start_prompt("go")
        await eventually((project / "began").exists, what="the check")
        await editor.cancel()
        assert (await prompt.outcome()).stop_reason == "cancelled"


def test_a_copy_that_is_not_wanted_any_more_ends(tmp_path: Path) -> None:
    python_project(tmp_path)
    stop = Event()
    stop.set()
    assert not copy_before(tmp_path, [], to=tmp_path / "copy", stop=stop)


async def test_an_edit_that_breaks_another_file_is_noticed(opened: Spawn, project: Path, machine: Machine) -> None:
    (project / "go.mod").write_text("module x\n\ngo 1.19\n")
    (project / "a.go").write_text("package x\n\nfunc Double(n int) int { return 2 * n }\n")
    (project / "b.go").write_text('package x\n\nvar Four = Double(2)\nvar bad int = "old"\n')
    script = Script(
        turn(call("shell", command="sed -i 's/n int/n string/; s/2 . n/2/' a.go")),
        turn(say("done")),
        turn(expect("b.go:3:19 error cannot use 2"), call("shell", command="sed -i 's/n string/n int/' a.go")),
        turn(say(" mended")),
    )
    async with opened(script=script, config='mode = "auto"', env=machine("go", repair="checks")) as editor:
        outcome = await editor.prompt("go")
    assert outcome.text == "done mended"


def test_the_name_of_a_file_is_never_an_option_of_a_check(tmp_path: Path) -> None:
    ruff = tmp_path / ".venv/bin/ruff"
    ruff.parent.mkdir(parents=True)
    ruff.touch(0o755)
    (tmp_path / "ruff.toml").touch()
    changed = ChangedFile(path=tmp_path / "--fix.py", root=tmp_path, before=None, after="")
    [check] = checks_for(Changes(files=(changed,)), roots=[tmp_path])
    assert check.line == ".venv/bin/ruff check --no-fix --output-format=concise ./--fix.py"
    assert check.line_before == ""  # there was no such file
