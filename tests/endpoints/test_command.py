"""`claw-acp verify tools` and `verify scheduler`: as they are called, and what they find wrong."""

import json
import sys
from pathlib import Path

import pytest

from claw_acp.cli.main import main
from claw_acp.verify.endpoint.vectors import VECTORS
from tests.endpoints.programs import PROGRAMS

GOOD = (sys.executable, "-S", "-E", str(PROGRAMS / "python" / "word_count.py"))

FAULTS = {
    "says it is a scheduler": ('"role": "tools"', '"role": "scheduler"', "initialize", "result.role is 'scheduler'"),
    "knows every method": ("raise Failure(NO_METHOD", "return (NO_METHOD", "unknown-method", "an error was due"),
    "registers a tool without a schema": ('"inputSchema"', '"schema"', "register", "tools.0.inputSchema: Field req"),
    "registers a tool with an invisible letter": ('"word_count"', '"word\\u200bcount"', "register", "tools.0.name"),
    "asks to log": ('method="tools/register"', 'method="log"', "register", "it called log, which no hub has"),
    "calls what no hub has": ("tools/register", "tools/offer", "register", "it called tools/offer, which no hub has"),
    "prints to its output": ("def take", "print('ready', flush=True)\n\n\ndef take", "initialize", "logs belong"),
    "stays after shutdown": ('return method != "shutdown"', "return True", "shutdown", "it was still there after 2 s"),
    "crashes at garbage": ("except ValueError", "except KeyError", "garbage", "JSONDecodeError"),
    "makes numbers of ids": ("write(id=request_id, result", "write(id=len(str(request_id)), result", "ids", "not sent"),
    "counts letters": ("len(text.split())", "len(text)", "reference-count", "text is '16' and not '3'"),
    "dies": ("READ, WRITE = connect()", "sys.exit('no key')", "initialize", "it wrote last: no key"),
}


def verify(*arguments: str, role: str = "tools") -> int:
    """The exit code."""
    return main(["verify", role, *arguments])


def test_a_good_program_is_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("--only", "*.ping", "--only", "*.reference-count", "--", *GOOD) == 0
    assert "reference-python (tools), protocol 1: 1 passed, 0 failed, 1 skipped" in capsys.readouterr().out


@pytest.mark.parametrize(("fault"), FAULTS)
def test_a_fault_is_found_and_named(fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right, wrong, rule, words = FAULTS[fault]
    source = Path(GOOD[-1]).read_text(encoding="utf-8")
    assert right in source
    program = tmp_path / "program.py"
    program.write_text(source.replace(right, wrong), encoding="utf-8")
    command = (*GOOD[:-1], str(program))
    assert verify("--reference", "--strict", "--timeout", "5", "--only", f"tools.{rule}", "--", *command) == 1
    assert words in capsys.readouterr().out


def test_a_lender_is_no_scheduler_and_the_report_says_so(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    only = "scheduler.initialize"
    assert verify("--only", only, "--json", str(file), "--", *GOOD, role="scheduler") == 1
    report = json.loads(file.read_text())
    assert (report["ok"], report["scheduler"], report["counts"]) == (False, "a program (scheduler)", {"fail": 1})


def test_a_scheduler_that_does_not_take_results_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program.py"
    program.write_text(Path(GOOD[-1]).read_text().replace('"role": "tools"', '"role": "scheduler"'))
    assert verify("--", *GOOD[:-1], str(program), role="scheduler") == 1
    assert "the request failed: no method schedule/finished" in capsys.readouterr().out


@pytest.mark.parametrize("role", ["tools", "scheduler"])
def test_the_rules_are_listed(role: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("--list", role=role) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [vector.id for vector in VECTORS if vector.role == role]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--", "/no/such"), "/no/such cannot be started"),
        ((), "claw-acp verify tools -- ./my-program"),
        (("--only", "none", "--", *GOOD), "no rule is called none"),
    ],
)
def test_a_wrong_usage_is_exit_code_2(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(*arguments) == 2
    assert words in capsys.readouterr().err
