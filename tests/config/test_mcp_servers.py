"""`[mcp.NAME]`: servers that every session has."""

import json
from pathlib import Path

import pytest

from claw_acp.cli.config.show import effective_values
from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.secret_text import SecretText
from claw_acp.core.errors import ConfigError
from tests.config.support import Desk, texts


def test_a_program_and_an_address_are_read_with_their_defaults(desk: Desk) -> None:
    desk.user_says(
        '[mcp.files]\ncommand = "npx"\nargs = ["-y", "server", ""]\ncwd = "work"\ntimeout = 5\n'
        '[mcp.docs]\nurl = "https://example.org/mcp/"\ntype = "sse"\nenabled = false\n'
    )
    settings = desk.settings({"HOME": "/home/me"})
    assert settings.diagnostics == ()
    files, docs = settings.mcp["files"], settings.mcp["docs"]
    assert (files.command, files.args, files.timeout, files.start_timeout) == ("npx", ("-y", "server", ""), 5, 30)
    assert files.cwd == desk.locations.config_file.parent / "work"
    assert (docs.url, docs.type, docs.enabled, docs.timeout) == ("https://example.org/mcp/", "sse", False, 120)
    assert settings.origin("mcp.files.command").text() == f"user file {desk.locations.config_file}:2"


def test_a_command_in_the_home_directory_is_found_there(desk: Desk) -> None:
    desk.user_says('[mcp.own]\ncommand = "~/bin/server"\n')
    assert desk.settings({"HOME": "/home/me"}).mcp["own"].command == "/home/me/bin/server"


def test_variables_and_headers_may_stand_elsewhere(desk: Desk) -> None:
    (desk.locations.config_file.parent).mkdir(parents=True)
    (desk.locations.config_file.parent / "token").write_text("from-a-file\n")
    desk.user_says(
        '[mcp.a]\ncommand = "x"\nenv = { KEY = "env:REAL", MODE = "fast", EMPTY = "" }\n'
        '[mcp.b]\nurl = "http://127.0.0.1:1/mcp"\nheaders = { Authorization = "Bearer file:token" }\n'
    )
    settings = desk.settings({"REAL": "from-a-variable"})
    assert settings.diagnostics == ()
    env = {name: text.get(settings.environ, SecretCache()) for name, text in settings.mcp["a"].env.items()}
    assert env == {"KEY": "from-a-variable", "MODE": "fast", "EMPTY": ""}
    [header] = settings.mcp["b"].headers.values()
    assert header.get(settings.environ, SecretCache()) == "Bearer from-a-file"


def test_a_variable_that_is_not_set_is_named(desk: Desk) -> None:
    desk.user_says('[mcp.a]\ncommand = "x"\nenv = { KEY = "env:NOWHERE" }\n')
    settings = desk.settings()
    with pytest.raises(ConfigError, match="NOWHERE"):
        settings.mcp["a"].env["KEY"].get(settings.environ, SecretCache())


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("[mcp.a]\nargs = []", "config.toml:1: mcp.a: needs either `command`, for a program, or `url`"),
        ('[mcp.a]\ncommand = "x"\nurl = "http://x/"', "config.toml:1: mcp.a: needs either `command`"),
        ('[mcp.a]\ncommand = "x"\nheaders = { A = "b" }', "mcp.a: `headers` cannot stand beside `command`"),
        ('[mcp.a]\nurl = "http://x/"\nenv = { A = "b" }', "mcp.a: `env` cannot stand beside `url`"),
        ('[mcp.a]\nurl = "ftp://x/"', "config.toml:2: mcp.a.url: must be an address with http:// or https://"),
        ('[mcp.a]\ncommand = "x"\nenv = { PORT = 8080 }', "config.toml:3: mcp.a.env.PORT: must be text"),
        ('[mcp.a]\ncommand = "x"\ntimeot = 3', 'mcp.a.timeot: unknown key; did you mean "timeout"?'),
        ('[mcp.a]\ncommand = "x"\ntimeout = 0', "mcp.a.timeout: must be more than 0"),
        ('[mcp."a b"]\ncommand = "x"', "mcp.a b: an MCP server's name is made of letters"),
    ],
)
def test_a_mistake_is_told_with_its_place(desk: Desk, text: str, finding: str) -> None:
    desk.user_says(text + "\n")
    assert any(finding in told for told in texts(desk.settings()))


def test_a_mistake_in_one_server_leaves_the_others(desk: Desk) -> None:
    desk.user_says('[mcp.bad]\n[mcp.good]\ncommand = "x"\n')
    assert list(desk.settings().mcp) == ["good"]


def test_a_project_cannot_name_a_server(desk: Desk) -> None:
    desk.user_says('[mcp.mine]\ncommand = "mine"\n')
    desk.project_says('[mcp.evil]\ncommand = "evil"\n[mcp.mine]\ncommand = "other"\n')
    settings = desk.settings()
    assert {name: entry.command for name, entry in settings.mcp.items()} == {"mine": "mine"}
    assert [(found.severity, found.key) for found in settings.diagnostics] == [
        ("warning", "mcp.evil"),
        ("warning", "mcp.mine"),
    ]


def test_what_is_shown_of_a_server_holds_no_secret(desk: Desk) -> None:
    desk.user_says(
        '[mcp.a]\ncommand = "x"\nenv = { KEY = "hunter2hunter2", OTHER = "env:REAL" }\n'
        '[mcp.b]\nurl = "http://x/"\nheaders = { Authorization = "Bearer env:TOKEN", X = "hunter2hunter2" }\n'
    )
    settings = desk.settings()
    shown = {key: value for key, value in effective_values(settings) if key.startswith("mcp.")}
    assert shown["mcp.a.env"] == {"KEY": "•••", "OTHER": "env:REAL"}
    assert shown["mcp.b.headers"] == {"Authorization": "Bearer env:TOKEN", "X": "•••"}
    assert "hunter2" not in json.dumps(shown) + repr(settings)


def test_only_a_scheme_of_headers_may_stand_before_a_reference() -> None:
    assert SecretText.parse("see file:x").reference.kind == "text"
    assert SecretText.parse("Token env:X").describe() == "Token env:X"


def test_a_relative_secret_file_is_one_of_the_configuration(desk: Desk) -> None:
    text = SecretText.parse("file:token").below(Path("/etc/claw"), home="")
    assert text.describe() == "file:/etc/claw/token"
