"""The inspecting commands as a person runs them, on machines with nothing prepared."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from claw_acp.core.version import VERSION
from tests.cli.support import claw

UNWRITABLE = "/dev/null/nowhere"  # not even the superuser can make a directory there
INSPECTIONS = [
    ("--version",),
    ("--help",),
    ("config", "show"),
    ("config", "show", "--json"),
    ("providers", "list"),
    ("providers", "list", "--json"),
    ("sessions", "list"),
]


@pytest.mark.parametrize("arguments", INSPECTIONS, ids=" ".join)
@pytest.mark.parametrize("home", ["empty", UNWRITABLE], ids=["empty", "unwritable"])
def test_inspecting_works_without_a_usable_home(arguments: tuple[str, ...], home: str, tmp_path: Path) -> None:
    place = tmp_path if home == "empty" else home
    answer = claw(*arguments, home=place)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout
    assert list(tmp_path.iterdir()) == []


def test_version_is_the_programs_own(tmp_path: Path) -> None:
    assert claw("--version", home=tmp_path).stdout == f"claw-acp {VERSION}\n"


def test_doctor_is_content_with_an_empty_home(tmp_path: Path) -> None:
    answer = claw("doctor", "--json", home=tmp_path)
    report = json.loads(answer.stdout)
    assert (answer.returncode, report["ok"]) == (0, True)
    assert {check["level"] for check in report["checks"]} <= {"ok", "warn"}
    assert list(tmp_path.iterdir()) == []


def test_doctor_fails_a_home_that_cannot_be_written_and_says_what_to_do() -> None:
    answer = claw("doctor", "--json", home=UNWRITABLE)
    failed = [check for check in json.loads(answer.stdout)["checks"] if check["level"] == "fail"]
    assert answer.returncode == 1
    assert {check["subject"] for check in failed} == {
        f"{name} directory" for name in ("config", "data", "state", "cache")
    }
    assert all("set CLAW_ACP_HOME to a directory you can write to" in check["advice"] for check in failed)


def test_doctor_on_a_pipe_is_plain_and_aligned(tmp_path: Path) -> None:
    lines = claw("doctor", home=tmp_path).stdout.splitlines()
    assert not any("\x1b" in line for line in lines)
    assert all(line.startswith(("ok    ", "warn  ", "      ")) for line in lines)


def test_a_wrong_command_names_the_nearest_and_exits_with_2(tmp_path: Path) -> None:
    answer = claw("docter", home=tmp_path)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == 'claw-acp: there is no command "docter"; did you mean "doctor"?\n'


def test_a_wrong_option_exits_with_2(tmp_path: Path) -> None:
    assert claw("--bogus", home=tmp_path).returncode == 2
    assert claw("doctor", "--bogus", home=tmp_path).returncode == 2


def test_a_closed_or_narrow_stdout_is_no_reason_to_fail(tmp_path: Path) -> None:
    program = f"{sys.executable} -m claw_acp"
    for line in (f"{program} config show >&-", f"PYTHONIOENCODING=ascii CLAW_ACP_MODEL=ä/b {program} config show"):
        answer = subprocess.run(
            ["bash", "-c", line],
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert (answer.returncode, answer.stderr) == (0, "")


def test_a_reader_that_leaves_is_no_reason_to_complain(tmp_path: Path) -> None:
    program = f"{sys.executable} -m claw_acp config show"
    answer = subprocess.run(
        ["bash", "-c", f"{program} 1> >(exec 0<&-; true)"],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert answer.stderr == ""
