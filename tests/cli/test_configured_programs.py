"""What `doctor` says of configured MCP servers and agents."""

import sys
from pathlib import Path

import pytest

from claw_acp.cli.current_settings import settings_here
from claw_acp.cli.doctor.configured_programs import agent_checks, server_checks


@pytest.mark.parametrize(
    ("table", "level", "detail"),
    [
        (
            f'command = "{sys.executable}"\nargs = ["-c", "x"]',
            "ok",
            f"{sys.executable} -c x (started with each session)",
        ),
        ('url = "https://example.org/mcp"', "ok", "https://example.org/mcp (started with each session)"),
        ('command = "x"\nenabled = false', "ok", "x (switched off)"),
        ('command = "./server"', "warn", "home/server: there is no program"),
        ('command = "no-such-program"', "warn", "there is no program no-such-program on the PATH"),
        ('command = "/no/such/program"', "warn", "there is no program /no/such/program"),
        (f'command = "{sys.executable}"\ncwd = "/no/where"', "warn", "/no/where is no directory"),
        ('url = "http://x/"\nheaders = { A = "env:NOWHERE" }', "warn", "A: the environment variable NOWHERE"),
        ('url = "http://x/"\nheaders = { A = "command:exit 1" }', "ok", "http://x/"),
    ],
)
def test_a_configured_server_is_listed_and_not_started(home: Path, table: str, level: str, detail: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f"[mcp.tool]\n{table}\n")
    [check] = server_checks(settings_here())
    assert (check.subject, check.level) == ("mcp tool", level)
    assert detail in check.detail


@pytest.mark.parametrize(
    ("table", "level", "detail"),
    [
        (f'command = "{sys.executable}"', "ok", "runs in the sandbox, where you are asked about each host"),
        (f'command = "{sys.executable}"\nsandbox = false', "ok", "runs outside of the sandbox"),
        ('command = "x"\nenabled = false', "ok", "x (switched off)"),
        ('command = "no-such-program"', "warn", "there is no program no-such-program on the PATH"),
        (f'command = "{sys.executable}"\nenv = {{ A = "env:NOWHERE" }}', "warn", "A: the environment variable NOWHERE"),
        (f'command = "{sys.executable}"\nwritable = ["/no/where"]', "warn", "/no/where is no directory"),
    ],
)
def test_a_configured_agent_is_listed_and_not_started(home: Path, table: str, level: str, detail: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f"[agents.other]\n{table}\n")
    [check] = agent_checks(settings_here())
    assert (check.subject, check.level) == ("agent other", level)
    assert detail in check.detail
