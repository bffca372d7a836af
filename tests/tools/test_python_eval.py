"""Python of a model, in a process of its own: what it returns, where it ends, and what it cannot reach."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from claw_acp.contracts.tool import EvaluatesCode
from claw_acp.core.value import replace
from claw_acp.sandbox.machine import sandbox_of_this_machine
from claw_acp.security.policy import Mode, Policy
from claw_acp.security.rules import parse_rule
from claw_acp.tools.python.python_eval import PythonEval
from tests.security.conftest import House, house
from tests.support.editors.editor_fixtures import Spawn, home, opened, project
from tests.support.editors.exchange import shown_text
from tests.support.script_files import Script, call, say, turn
from tests.support.servers.loopback import Answered, Loopback, serving
from tests.support.tool_bench import Bench, said

__all__ = ["home", "house", "opened", "project"]

MODES: tuple[Mode, ...] = ("plan", "ask", "edit", "auto")
LETTERS = {"allow": "a", "ask": "?", "deny": "x"}


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("x = 6\nx * 7", "42"),
        ("print('a'); None", "a"),
        ("import statistics; statistics.mean([1, 2])", "1.5"),
        ("print('ü'); 'é'", "ü\n'é'"),
        ("x = 1", "(it printed nothing)"),
        ("def f(): return [f.__name__]\nf()", "['f']"),
    ],
)
async def test_what_it_prints_and_its_last_value_come_back(bench: Bench, code: str, told: str) -> None:
    result = await bench.call(PythonEval(), code=code)
    assert (said(result), result.failed) == (told, False)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("1 +", "SyntaxError: invalid syntax"),
        ("def f():\n    1 / 0\nf()", 'File "<code>", line 2, in f'),
        ("import sys; sys.exit(3)", "[exit code 3]"),
        ("import claw_acp", "ModuleNotFoundError"),
        ("b'x' * 8 * 1024**3", "MemoryError"),
        ("print('y' * 100_000)", "stopped after 30,000 bytes of output"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "[killed by SIGKILL]"),
    ],
)
async def test_its_failures_are_told(bench: Bench, code: str, told: str) -> None:
    result = await bench.call(PythonEval(), code=code)
    assert told in said(result)
    assert result.failed
    assert "evaluation.py" not in said(result)


async def test_code_without_an_end_is_stopped(bench: Bench) -> None:
    result = await bench.call(PythonEval(), code="print('begun', flush=True)\nwhile True: pass", timeout=1)
    assert said(result) == "begun\n[stopped after 1 s; ask for more with timeout]"


@pytest.mark.parametrize(
    ("commands", "allowed", "verdicts"),
    [
        ("sandboxed", (), "???a"),
        ("sandboxed", ("python_eval",), "aaaa"),
        ("open", (), "x???"),
        ("open", ("python_eval", "shell"), "x???"),
        ("unprotected", ("python_eval",), "x???"),
    ],
)
def test_without_a_sandbox_each_run_is_asked_about(
    house: House, commands: str, allowed: Sequence[str], verdicts: str
) -> None:
    policy = Policy([parse_rule(text, verdict="allow") for text in allowed])
    context = replace(house.context, commands=commands)
    decisions = [
        policy.decide(tool="python_eval", accesses=[EvaluatesCode(code="1")], mode=mode, context=context)
        for mode in MODES
    ]
    assert "".join(LETTERS[decision.verdict] for decision in decisions) == verdicts
    assert {decision.remember for decision in decisions if commands != "sandboxed"} <= {()}


async def test_in_the_sandbox_it_writes_nothing_and_reaches_nobody(
    opened: Spawn, project: Path, tmp_path: Path
) -> None:
    if sandbox_of_this_machine("auto", cache=tmp_path / "sandboxes") is None:
        pytest.skip("no sandbox works here")
    (project / "data.txt").write_text("1\n2\n")
    reading = "sum(map(int, open('data.txt')))"
    writing = "open('made.txt', 'w')"
    server = Loopback(lambda _asked: Answered())
    reaching = f"import urllib.request; urllib.request.urlopen({server.url!r}, timeout=5)"
    script = Script(turn(*(call("python_eval", code=code) for code in (reading, writing, reaching))), turn(say("done")))
    environment = {"CLAW_ACP_SANDBOX": "on"}
    with serving(server):
        async with opened(script=script, config='mode = "auto"', env=environment) as editor:
            outcome = await editor.prompt("go")
            assert editor.received("session/request_permission") == []
    total, written, reached = map(shown_text, outcome.calls)
    assert "3" in total
    assert "Error" in written
    assert "URLError" in reached
    assert server.asked == []
    assert not (project / "made.txt").exists()
