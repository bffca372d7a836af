"""What `doctor` says of sandboxes, and how it proves one."""

from collections.abc import Generator
from pathlib import Path

import pytest

from claw_acp.cli.current_settings import locations_here
from claw_acp.cli.doctor.command import main
from claw_acp.cli.doctor.sandbox import prove_sandbox, sandbox_check
from claw_acp.config.model import SandboxSection
from claw_acp.sandbox.attacks.attack import ATTACKS, Attack
from claw_acp.sandbox.machine import BACKENDS, findings
from tests.support.disk import directory_on_disk

NOTICED = "by no sandbox; noticed before your own programs ran: .idea: it can make other programs run commands"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A home outside of the temporary directories, which sandboxes replace."""
    with directory_on_disk() as directory:
        monkeypatch.setenv("CLAW_ACP_HOME", str(directory))
        yield directory


def working() -> list[str]:
    return [found.name for found in findings(locations_here().cache_dir) if not found.problem]


def attacks(*names: str) -> list[Attack]:
    return [attack for attack in ATTACKS if attack.name in names]


def test_the_sandbox_in_force_is_named(home: Path) -> None:
    check = sandbox_check(locations_here(), SandboxSection())
    names = working()
    assert (check.level, check.detail.partition(":")[0]) == (("ok", names[0]) if names else ("warn", check.detail))


def test_one_that_cannot_work_here_is_said_with_its_reason(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(home))
    check = sandbox_check(locations_here(), SandboxSection(backend="bubblewrap"))
    assert check.level == "warn"
    assert "none works here, so commands are asked about (bubblewrap: it is not there)" in check.detail
    assert "apt install bubblewrap" in check.advice


def test_containers_are_not_tried_without_an_image_and_that_is_said(home: Path) -> None:
    check = sandbox_check(locations_here(), SandboxSection(backend="docker"))
    assert "docker: it needs an image (`image` of [sandbox])" in check.detail


def test_none_is_said_where_the_settings_want_none(home: Path) -> None:
    assert sandbox_check(locations_here(), SandboxSection(use="off")).level == "warn"


def test_an_unknown_sandbox_is_answered_with_those_there_are(home: Path, capsys: Capture) -> None:
    assert main(["--prove", "--sandbox", "castle"]) == 1
    assert ", ".join(BACKENDS) in capsys.readouterr().out


def test_a_proof_says_what_stopped_each_attack(home: Path, capsys: Capture) -> None:
    if "bubblewrap" not in working():
        pytest.skip("bubblewrap does not work here")
    chosen = attacks("write outside", "replace a guarded link", "put a hook into git")
    assert prove_sandbox(locations_here(), name="bubblewrap", attacks=chosen) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:] == [
        "write outside           Read-only file system",
        "put a hook into git     Read-only file system",
        f"replace a guarded link  {NOTICED}",
        "",
        "3 attacks: 2 stopped, 1 noticed.",
    ]


@pytest.mark.parametrize("script", ["exit 124", "no-such-program"])
def test_an_attack_that_only_comes_to_nothing_proves_nothing(home: Path, capsys: Capture, script: str) -> None:
    if "bubblewrap" not in working():
        pytest.skip("bubblewrap does not work here")
    failing = Attack(name="fail by itself", against="writable", script=script)
    assert prove_sandbox(locations_here(), name="bubblewrap", attacks=[failing]) == 1
    assert "IN DOUBT: " in capsys.readouterr().out


def test_a_proof_fails_by_an_attack_that_gets_through(home: Path, capsys: Capture) -> None:
    if "landlock" not in working():
        pytest.skip("Landlock does not work here")
    assert prove_sandbox(locations_here(), name="landlock", attacks=attacks("put a hook into git")) == 1
    assert "NOT STOPPED: changed: post-checkout" in capsys.readouterr().out
