"""The two corpora of command lines: nothing of one may run unasked, nothing of the other may ask."""

from pathlib import Path

import pytest

from claw_acp.security.policy import Mode
from tests.fuzz.commands import tree
from tests.fuzz.commands.judge import MODES, decide, unasked
from tests.security.corpus import classes, everyday, must_not_run


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project full of traps; the policy looks at its files."""
    base = tmp_path_factory.mktemp("hostile").resolve()
    tree.plant(base)
    return base / "project"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project as most are."""
    base = tmp_path_factory.mktemp("plain").resolve()
    tree.plant_plain(base)
    return base / "project"


def allowed(line: str, *, mode: Mode, project: Path) -> bool:
    return mode in unasked(line, cwd=project)


@pytest.mark.parametrize("mode", MODES)
def test_no_hostile_line_runs_without_a_question(mode: Mode, hostile: Path) -> None:
    assert [line for line in must_not_run() if allowed(line, mode=mode, project=hostile)] == []


@pytest.mark.parametrize("mode", ["ask", "plan"])
def test_what_agents_look_at_all_day_needs_no_question(mode: Mode, plain: Path) -> None:
    assert [line for line in everyday() if not allowed(line, mode=mode, project=plain)] == []


def test_harmless_lines_that_are_listed_as_asked_about_still_are(plain: Path) -> None:
    listed = [line for lines in classes("asks_today").values() for line in lines]
    assert [line for line in listed if decide(line, mode="ask", cwd=plain).verdict != "ask"] == []
