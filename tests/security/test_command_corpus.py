"""The two corpora of command lines: nothing of one may run unasked, nothing of the other may ask."""

from pathlib import Path

import pytest

from claw_acp.contracts.tool import RunsCommand
from claw_acp.core.mode import MODES
from claw_acp.security.policy import Policy, PolicyContext
from tests.fuzz.commands import tree
from tests.fuzz.commands.judge import decide, unasked
from tests.security.corpus import by_mode, classes, everyday


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


@pytest.mark.parametrize("kind", classes("must_not_run"))
def test_no_hostile_line_runs_without_a_question(kind: str, hostile: Path) -> None:
    modes = {line: unasked(line, cwd=hostile) for line in classes("must_not_run")[kind]}
    assert {line: allowing for line, allowing in modes.items() if allowing} == {}


def test_what_agents_look_at_all_day_needs_no_question(plain: Path) -> None:
    modes = {line: unasked(line, cwd=plain) for line in everyday()}
    assert {line: allowing for line, allowing in modes.items() if not {"ask", "plan"} <= set(allowing)} == {}


def test_harmless_lines_that_are_listed_as_asked_about_still_are(plain: Path) -> None:
    listed = [line for lines in classes("asks_today").values() for line in lines]
    assert [line for line in listed if decide(line, mode="ask", cwd=plain).verdict != "ask"] == []


def test_commands_of_a_working_day_come_to_what_is_written_in_each_mode_and_reach_as_far(plain: Path) -> None:
    context = PolicyContext(roots=(plain,), home=plain.parent / "home", commands="sandboxed")
    found: dict[str, str] = {}
    for line in by_mode():
        access = RunsCommand(line=line, cwd=plain)
        judged = [Policy().decide(tool="shell", accesses=[access], mode=mode, context=context) for mode in MODES]
        found[line] = " ".join([*(decision.verdict for decision in judged), judged[1].reach or "-"])
    assert found == by_mode()
