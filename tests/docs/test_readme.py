"""The README is true: its commands exist, its settings load, its rules parse, its demo looks like that."""

import re
import subprocess
import sys
from importlib.metadata import entry_points
from itertools import groupby
from pathlib import Path

import pytest

from claw_acp.cli.main import COMMANDS, main
from claw_acp.config import locations
from claw_acp.config.credentials import PASSPHRASE
from claw_acp.config.environment import variables
from claw_acp.config.load import load_settings
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.mode import MODES
from claw_acp.providers.registry.services import SERVICES
from claw_acp.runtime.web_services import KEY_VARIABLES
from claw_acp.schedule.job_store import JobStore
from claw_acp.schedule.jobs_file import take_over
from claw_acp.security.rules import RuleVerdict, parse_rule
from claw_acp.security.shell_pattern import ShellPattern
from claw_acp.store.database import Database
from tests.docs import settings_table
from tests.docs.pages import PAGES, README, ROOT, Block, blocks, first_cells, prose_of, pyproject, section, text_of
from tests.support.program.forked_process import forked_python

SET_UP = "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/claw-acp demo\n"
CHECK = "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]' && .venv/bin/poe check\n"
CONFIGURATIONS = [
    block for block in blocks("toml") if not re.search(r"^\[(project\]|jobs\.)", block.body, re.MULTILINE)
]
JOBS = [block for block in blocks("toml") if block.body.startswith("[jobs.")]
LEFT_OUT = "  …"


def test_the_two_commands_are_there_as_promised() -> None:
    assert [block.body for block in blocks("sh", README)][:2] == [SET_UP, CHECK]
    assert "dev" in pyproject()["project"]["optional-dependencies"]
    assert pyproject()["project"]["scripts"] == {"claw-acp": "claw_acp.acp.boot:main"}
    assert ".venv/bin/poe check" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_task_that_is_named_exists() -> None:
    tasks = {task for page in PAGES for task in re.findall(r"\.venv/bin/poe (\w+)", text_of(page))}
    assert tasks == {"check", "bench"}
    assert tasks <= set(pyproject()["tool"]["poe"]["tasks"])


def test_the_table_of_commands_is_complete() -> None:
    listed = [words[1] for row in first_cells(section(README, "Commands")) if len(words := row.split()) > 1]
    assert sorted(listed) == sorted(COMMANDS)


def test_every_command_that_a_page_names_can_explain_itself(capsys: pytest.CaptureFixture[str]) -> None:
    named = re.compile(r"(?<=claw-acp )(?:sessions \w+|config \w+|providers \w+|[a-z]+)(?=[ `\n])")
    calls = {found for page in PAGES for found in named.findall(_code(page))}
    assert {"demo", "doctor", "config show", "sessions list"} <= calls
    for call in calls:
        with pytest.raises(SystemExit) as ended:
            main([*call.split(), "--help"])
        assert ended.value.code == 0, call
    assert capsys.readouterr().out


def test_the_slash_commands_are_the_ones_that_exist() -> None:
    sentence = next(part for part in text_of(README).split("\n\n") if part.startswith("In the chat:"))
    assert set(re.findall(r"`/(\w+)`", sentence)) == {point.name for point in entry_points(group="claw_acp.commands")}


@pytest.mark.parametrize("example", CONFIGURATIONS, ids=str)
def test_every_example_of_settings_loads_without_a_finding(example: Block, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(example.body, encoding="utf-8")
    places = locations.find_locations({"CLAW_ACP_HOME": str(tmp_path)})
    settings = load_settings(locations=places, environ={"HOME": str(tmp_path)}, cwd=None)
    assert settings.diagnostics == ()
    verdicts: tuple[RuleVerdict, ...] = ("allow", "ask", "deny")
    for verdict in verdicts:
        for text in getattr(settings.permissions, verdict):
            parse_rule(text, verdict=verdict)  # raises for one that is none


async def test_the_example_of_jobs_is_taken_over_without_a_finding(tmp_path: Path) -> None:
    [example] = JOBS
    file = tmp_path / "schedules.toml"
    file.write_text(example.body, encoding="utf-8")
    async with Database.opened(tmp_path / "claw.db") as database:
        assert await take_over(file, JobStore(database, clock=SYSTEM_CLOCK), clock=SYSTEM_CLOCK) == []


def test_the_table_of_settings_is_that_of_the_program() -> None:
    assert settings_table.between_the_marks() == settings_table.markdown(), "run python -m tests.docs.settings_table"


def test_the_rules_that_are_explained_parse_and_mean_what_is_said() -> None:
    cells = first_cells(section(README, "Permissions"))
    modes, rules = cells[: len(MODES)], cells[len(MODES) :]
    assert tuple(modes) == MODES
    parsed = {text: parse_rule(text, verdict="allow") for text in rules}
    exact, open_ended = parsed["shell(npm test)"].pattern, parsed["shell(npm run *)"].pattern
    assert isinstance(exact, ShellPattern)
    assert isinstance(open_ended, ShellPattern)
    assert exact.covers(["npm", "test"])
    assert not exact.covers(["npm", "test", "--watch"])
    assert open_ended.covers(["npm", "run", "lint", "--fix"])
    assert parse_rule("shell(npm test)", verdict="deny").matches_words(["npm", "test", "--watch"]) == "yes"
    roots, home = [Path("/p")], Path("/home/you")
    assert parsed["write(src/**)"].matches_path(Path("/p/src/deep/a.py"), roots=roots, home=home)
    assert not parsed["write(src/**)"].matches_path(Path("/p/lib/src/a.py"), roots=roots, home=home)
    assert parsed["fetch(*.python.org)"].matches_host("docs.python.org")
    assert not parsed["fetch(*.python.org)"].matches_host("python.org")
    assert parsed["think"].pattern is None


def test_variables_that_pages_name_are_read_by_the_program() -> None:
    ours = {locations.HOME_VARIABLE, PASSPHRASE, *(variable.name for variable in variables().values())}
    vendors = {name for service in SERVICES.values() for name in (*service.key_variables, service.url_variable)}
    vendors |= {*KEY_VARIABLES.values()}
    text = "\n".join(text_of(page) for page in PAGES)
    assert set(re.findall(r"\bCLAW_ACP_[A-Z_]+\b", text)) == ours
    assert set(re.findall(r"\b[A-Z]+_(?:API_KEY|BASE_URL)\b", text)) <= vendors


@pytest.mark.skipif(sys.platform != "linux", reason="the column for Linux")
def test_files_are_where_the_table_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    places = locations.find_locations({})
    files = (places.config_file, places.database, places.permissions_file, places.log_dir / "claw-acp.log")
    table = section(README, "Files and troubleshooting")
    for file in files:
        assert f"`~/{file.relative_to(Path.home())}`" in table


def test_the_demo_prints_what_the_readme_shows() -> None:
    command = [forked_python(), "-m", "claw_acp", "demo", "--yes"]
    where = " It would run in the sandbox, without network."  # where there is one
    printed = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True).stdout.replace(where, "")
    shown = next(block.body for block in blocks("text", README) if "»" in block.body).replace(where, "")
    pieces = ["\n".join(lines) for cut, lines in groupby(shown.splitlines(), LEFT_OUT.__eq__) if not cut]
    assert len(pieces) > 3
    at = 0
    for piece in pieces:
        found = f"\n{printed}".find(f"\n{piece}\n", at)
        assert found >= 0, f"not in the output of the demo, or not in this order:\n{piece}"
        at = found + len(piece)


def test_the_place_for_measured_figures_is_marked_once() -> None:
    text = text_of(README)
    assert text.count("<!-- benchmarks:start -->") == text.count("<!-- benchmarks:end -->") == 1
    assert text.index("<!-- benchmarks:start -->") < text.index("<!-- benchmarks:end -->")


def _code(page: Path) -> str:
    """Inline code and what a shell would be given: where a command is meant as one."""
    inline = re.findall(r"`([^`\n]+)`", prose_of(page))
    return "\n".join([*inline, *(block.body for block in blocks("sh", page)), ""])
