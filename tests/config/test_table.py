"""The table of the configuration: no key of it is left out of what is shown, or ignored silently."""

import re

import pytest

from claw_acp.cli.config.show import effective_values
from claw_acp.config.documentation import KeyRow, key_rows
from claw_acp.config.settings import Settings
from tests.config.support import Desk

EXAMPLES = {
    "a number": "1",
    "a list": '["x"]',
    "a table": '{ NAME = "x" }',
    "an address": '"http://127.0.0.1:1/v1"',
}
NEEDS = {
    "rules": 'routes = { NAME = "x" }\n[[rules]]\nroute = "NAME"',
    "hook_commands": '[[hook_commands]]\nevent = "Stop"\ncommand = "true"',
    "prices": "[prices.NAME]\ninput = 1\noutput = 1",
    "mcp": '[mcp.NAME]\ncommand = "x"',
    "agents": '[agents.NAME]\ncommand = "x"',
    "endpoints": '[endpoints.NAME]\ncommand = "x"',
    "request_secrets": '[request_secrets.NAME]\nsecret = "x"\nhosts = ["x"]',
    "mcp.NAME.type": '[mcp.NAME]\nurl = "http://x/"',
    "mcp.NAME.headers": '[mcp.NAME]\nurl = "http://x/"',
    "mcp.NAME.url": "[mcp.NAME]",
}
ROWS = list(key_rows())
OF_FILES = pytest.mark.parametrize("row", [row for row in ROWS if row.in_file], ids=lambda row: row.key)
OF_VARIABLES = pytest.mark.parametrize("row", [row for row in ROWS if row.variable], ids=lambda row: row.key)


def example(row: KeyRow) -> str:
    """A valid value that is not the default, as TOML; of words the first, which is the strictest."""
    if row.takes == "true or false":
        return "false" if row.default == "true" else "true"
    word = row.takes.partition(" | ")[0]
    return EXAMPLES.get(row.takes, f'"{word if " | " in row.takes else "x"}"')


def file_with(row: KeyRow) -> str:
    """A file in which one key is set, and what must stand beside it."""
    table, _, name = row.key.rpartition(".")
    head = NEEDS.get(row.key) or NEEDS.get(row.key.partition(".")[0]) or (f"[{table}]" if table else "")
    return head if re.search(rf"^{name} =", head, re.MULTILINE) else f"{head}\n{name} = {example(row)}"


def shown(settings: Settings, row: KeyRow) -> dict[str, object]:
    """The values that `config show` has for a key."""
    values = {re.sub(r"\[\d+\]", "", key): (key, value) for key, value in effective_values(settings)}
    return {key: value for plain, (key, value) in values.items() if plain == row.key or plain.startswith(f"{row.key}.")}


@OF_FILES
def test_a_key_of_the_users_file_is_shown_with_its_line(desk: Desk, row: KeyRow) -> None:
    desk.user_says(file_with(row))
    settings = desk.settings()
    assert settings.diagnostics == ()
    found = shown(settings, row)
    assert found
    assert {settings.origin(key).kind for key in found} == {"user file"}


@OF_FILES
def test_a_key_of_a_projects_file_narrows_or_is_named(desk: Desk, row: KeyRow) -> None:
    before = dict(effective_values(desk.settings()))
    desk.project_says(file_with(row))
    settings = desk.settings()
    changed = {key for key, value in effective_values(settings) if before.get(key) != value}
    assert {settings.origin(key).kind for key in changed} == ({"project file"} if row.project else set())
    if not row.project:
        assert any(f"{row.key}.".startswith(f"{found.key}.") for found in settings.diagnostics)


@OF_VARIABLES
def test_a_variable_overrides_the_file_and_is_named(desk: Desk, row: KeyRow) -> None:
    text = {"true or false": "off", "a table": "ollama=127.0.0.1:1", "text": "x"}.get(
        row.takes, row.takes.partition(" ")[0]
    )
    settings = desk.settings({row.variable: text})
    assert settings.diagnostics == ()
    assert {settings.origin(key).text() for key in shown(settings, row)} == {f"environment variable {row.variable}"}


@OF_VARIABLES
def test_an_unusable_variable_is_named(desk: Desk, row: KeyRow) -> None:
    settings = desk.settings({row.variable: "\nno such = thing"})
    reported = {found.file for found in settings.diagnostics}
    taken = any(settings.origin(key).place == row.variable for key in shown(settings, row))
    assert taken or reported == {row.variable}


def test_what_a_key_says_of_itself_is_complete() -> None:
    rows = {row.key: row for row in ROWS}
    assert rows["mode"].facts == 'plan | ask | edit | auto; default "ask"; CLAW_ACP_MODE; a project may narrow it'
    assert rows["providers.NAME.options.top_p"].facts == "a number"
    assert all(row.text for row in ROWS)
    assert not rows["log_level"].in_file
