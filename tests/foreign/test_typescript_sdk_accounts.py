"""Logging in and out and setting providers, as the official TypeScript SDK does (`accounts.mjs`)."""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence

import pytest
from anyio import to_thread

from tests.support.editors.exchange import Json
from tests.support.editors.terminal import at_terminal
from tests.support.file_keyring import NO_KEYRING
from tests.support.foreign.desk import Desk
from tests.support.foreign.typescript import reported
from tests.support.servers.model_server import ModelServer
from tests.support.servers.vendors_here import PROGRAM, vendors_here

KEY = "sk-right-0123456789abcdef"


@pytest.mark.case(42)
@pytest.mark.rule("auth.required", "auth.logout", "auth.terminal-gated", "auth.terminal-not-callable")
@pytest.mark.rule("auth.status-never-refused", "auth.status-update", "elicitation.no-secrets")
@pytest.mark.rule("providers.no-secrets", "providers.unknown-protocol", "providers.required")
async def test_accounts_as_the_typescript_sdk_sees_them(desk: Desk) -> None:
    (desk.claw / "config.toml").write_text('model = "openai/test-model"\n', encoding="utf-8")
    async with ModelServer() as server:
        server.serves_only(KEY)
        for _ in range(3):
            server.will_say("hello")
        env = {**NO_KEYRING, **vendors_here(server.port)}
        gateway = f"{server.openai_url}/gateway"
        report = await reported("accounts.mjs", desk, python=PROGRAM, env=env, key=KEY, gateway=gateway)
        check_the_login(report)
        check_the_providers(report, server, gateway)
        assert kept(desk) == {}
        (login,) = [method for method in report["methods"] if method.get("type") == "terminal"]
        await to_thread.run_sync(log_in, login["args"], desk, {**env, "OPENAI_BASE_URL": server.openai_url})
    assert kept(desk) == {"openai": {"key": KEY}}
    told = [frame["message"] for frames in report["frames"] for frame in frames if not frame["sent"]]
    assert KEY not in json.dumps(told)


def kept(desk: Desk) -> Json:
    file = desk.claw / "credentials.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def check_the_login(report: Json) -> None:
    assert [method["id"] for method in report["methods"]] == ["api-key", "login"]
    assert report["before"] == {"state": "unauthenticated"}
    assert [report["refused"]["code"], report["wrongMethod"]["code"]] == [-32000, -32602]
    assert report["authenticated"] == {}
    assert [page["status"] for page in report["pages"]] == [200, 200]
    assert [form["mode"] for form in report["forms"]] == ["url", "url"]
    assert report["completed"] == [form["elicitationId"] for form in report["forms"]]
    account = {"label": "OpenAI API key (claw-acp login)", "active": True}
    assert report["loggedIn"] == {"state": "authenticated", "accounts": [account]}
    assert report["prompted"]["stopReason"] == report["promptedStable"]["stopReason"] == "end_turn"
    assert (report["loggedOut"], report["after"]) == ({}, {"state": "unauthenticated"})
    assert report["refusedAgain"]["code"] == -32000


def check_the_providers(report: Json, server: ModelServer, gateway: str) -> None:
    def shown(name: str) -> list[tuple[str, bool, str | None]]:
        return [(row["providerId"], row["required"], row.get("current", {}).get("baseUrl")) for row in report[name]]

    assert shown("providers") == [("anthropic", False, server.anthropic_url), ("openai", True, server.openai_url)]
    assert shown("set") == [("anthropic", False, None), ("openai", True, gateway)]
    assert [report["wrongApi"]["code"], report["required"]["code"]] == [-32602, -32602]
    asked = [(request.path, request.headers.get("x-team")) for request in server.requests if request.method == "POST"]
    chat = "/chat/completions"
    assert asked == [(f"/v1{chat}", None), (f"/v1/gateway{chat}", "blue"), (f"/v1{chat}", None)]


def log_in(args: Sequence[str], desk: Desk, env: Mapping[str, str]) -> None:
    """Do in a terminal what the method says, as a client would have it done."""
    environ = {**os.environ, **env, "HOME": str(desk.home), "CLAW_ACP_HOME": str(desk.claw)}
    with at_terminal(*args, environ=environ, cwd=desk.home) as terminal:
        terminal.wait_for("Number or name")
        terminal.type("openai\n")
        terminal.wait_for("Key for openai")
        terminal.type(f"{KEY}\n")
        terminal.wait_for("It works.")
        terminal.wait_for("Number: ")
        terminal.type("plain\n")
        assert terminal.ended() == 0
