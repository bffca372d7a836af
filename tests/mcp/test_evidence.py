"""What is quoted of a server holds nothing that its settings keep secret."""

import pytest

from claw_acp.config.model import McpSection
from claw_acp.config.secret_cache import SecretCache
from claw_acp.contracts.mcp_server import HttpServer, McpServerSpec, StdioServer
from claw_acp.mcp.diagnostics import Diagnostics
from claw_acp.mcp.server_config import Configured

LONG = "tiger-lily-home"


@pytest.mark.parametrize(
    "spec",
    [
        StdioServer(name="s", command="x", env={"DATABASE_URL": LONG}),
        HttpServer(name="s", url="http://x", headers={"X-Tenant": LONG}),
        HttpServer(name="s", url="http://x", headers={"X-Tenant": f"Bearer {LONG}"}),
    ],
)
def test_any_longer_value_is_kept_back_whatever_its_name(spec: McpServerSpec) -> None:
    assert Diagnostics(spec).clean(f"cannot log in with {LONG}!") == "cannot log in with tige[redacted]!"


def test_short_values_are_ordinary_words() -> None:
    assert Diagnostics(StdioServer(name="s", command="x", env={"LEVEL": "debug"})).clean("debug it") == "debug it"


@pytest.mark.parametrize(
    "settings", [{"command": "x", "env": {"PIN": "env:PIN"}}, {"url": "http://x", "headers": {"X": "Bearer env:PIN"}}]
)
def test_what_was_kept_as_a_secret_is_one_however_short(settings: dict[str, object]) -> None:
    entry = McpSection.validated(settings)
    plan = Configured(name="s", entry=entry, environ={"PIN": "12345"})
    evidence = Diagnostics(plan.resolved(SecretCache()))
    assert evidence.clean("wrong PIN 12345") == "wrong PIN [redacted]"
