"""The control interface over HTTP: sessions, questions that wait, jobs; and what a token of which scope may do."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from tests.gateway.conftest import Serve
from tests.support.editors.exchange import Json
from tests.support.program.agent_process import TIMEOUT
from tests.support.program.processes import run_program
from tests.support.script_files import Script, say, turn
from tests.support.servers.hub import environment_of
from tests.support.servers.remote_server import RemoteServer


class Control:
    """A client of `POST /rpc`."""

    def __init__(self, client: httpx.AsyncClient, base: str) -> None:
        self.client = client
        self.base = base

    async def post(self, content: Any, **headers: str) -> httpx.Response:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        named = {"content-type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return await self.client.post(f"{self.base}/rpc", content=body, headers=named)

    async def ask(self, method: str, **params: Any) -> Json:
        answer = (await self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).json()
        return answer.get("result", answer.get("error"))


def base_of(server: RemoteServer) -> str:
    return server.url.removesuffix("/acp")


@asynccontextmanager
async def control_of(server: RemoteServer, token: str | None = None) -> AsyncGenerator[Control]:
    async with server.http() as client:
        if token is not None:
            client.headers["authorization"] = f"Bearer {token}"
        yield Control(client, base_of(server))


def token_of(home: Path, name: str, scopes: Sequence[str], *more: str) -> str:
    """What `claw-acp serve token add` prints."""
    named = [word for scope in scopes for word in ("--scope", scope)]
    done = run_program("serve", "token", "add", name, *named, *more, cwd=home, env=environment_of(home))
    assert done.returncode == 0, done
    return done.stdout.strip()


@pytest.fixture
async def control(shared: RemoteServer) -> AsyncGenerator[Control]:
    async with control_of(shared) as control:
        yield control


# ---------------------------------------------------------------------- JSON-RPC


async def test_requests_and_notifications_travel_in_batches(control: Control) -> None:
    batch = [
        {"jsonrpc": "2.0", "id": "a", "method": "hub/status"},
        {"jsonrpc": "2.0", "method": "hub/status"},
        {"jsonrpc": "2.0", "id": 7, "method": "no/such"},
    ]
    answers = {answer["id"]: answer for answer in (await control.post(batch)).json()}
    assert answers.keys() == {"a", 7}
    assert answers["a"]["result"]["turns"] == 0
    assert answers[7]["error"]["code"] == -32601
    assert (await control.post(batch[1:2])).status_code == 204


async def test_a_request_that_is_none_does_not_spoil_its_batch(control: Control) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "hub/status"}
    first, second, third, fourth = (await control.post([3, request, [request], {"id": 2}])).json()
    assert {each["error"]["code"] for each in (first, third, fourth)} == {-32600}
    assert second["result"]["turns"] == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"NaN", -32700),
        (b'{"jsonrpc": "2.0", "id": 1e400, "method": "hub/status"}', -32700),
        (b"[" * 200_000, -32700),
        (b"[]", -32600),
        (b"3", -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "sessions/show"}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "sessions/show", "params": [1]}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "sessions/show", "params": {"sessionId": 4}}', -32602),
        (json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "hub/status"}] * 101).encode(), -32600),
    ],
)
async def test_what_is_no_request_is_answered_with_the_code_of_json_rpc(
    control: Control, body: bytes, code: int
) -> None:
    answer = await control.post(body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (200, code)


async def test_parameters_that_are_wrong_are_named(control: Control) -> None:
    assert "`messages`" in (await control.ask("sessions/show", sessionId="x", messages=-1))["message"]


async def test_a_body_of_another_kind_or_too_long_is_refused(control: Control) -> None:
    assert (await control.post(b"{}", content_type="text/plain")).status_code == 415
    assert (await control.post(b"\xff")).status_code == 400
    assert (await control.post(b" " * (1024 * 1024 + 1))).status_code == 413


# ---------------------------------------------------------------------- sessions


async def test_the_server_tells_about_itself(control: Control) -> None:
    status = await control.ask("hub/status")
    assert status["uptimeSeconds"] > 0
    health = await control.ask("hub/health")
    assert {"name": "store", "ok": True, "detail": ""} in health["checks"]


async def test_jobs_are_listed_paused_and_run(serve: Serve, home: Path) -> None:
    async with serve(script=Script(turn(say("done")), loop=True)) as server, control_of(server) as control:
        added = run_program(
            "cron", "add", "tea", "--every", "20h", "--prompt", "make tea", cwd=home, env=environment_of(home)
        )
        assert added.returncode == 0, added
        assert [job["name"] for job in (await control.ask("schedules/list"))["jobs"]] == ["tea"]
        assert await control.ask("schedules/pause", name="tea") == {}
        assert (await control.ask("schedules/list"))["jobs"][0]["paused"]
        assert "did you mean" in (await control.ask("schedules/resume", name="tee"))["message"]
        assert await control.ask("schedules/resume", name="tea") == {}
        assert await control.ask("schedules/run", name="tea") == {}
        with anyio.fail_after(TIMEOUT):
            while (await control.ask("schedules/list"))["jobs"][0].get("lastStatus") != "succeeded":
                pass


# ---------------------------------------------------------------------- scopes


async def test_a_token_does_what_its_scope_says_and_no_more(serve: Serve, home: Path) -> None:
    async with serve() as server:
        read, attach = token_of(home, "wall", ["read"]), token_of(home, "laptop", ["attach"])
        async with control_of(server, read) as control:
            assert (await control.ask("hub/status"))["turns"] == 0
            assert (await control.ask("hub/shutdown"))["message"] == "hub/shutdown needs a token with the scope control"
            assert (await control.client.post(server.url, json={})).status_code == 403
        async with control_of(server, attach) as control:
            refused = await control.post({"jsonrpc": "2.0", "id": 1, "method": "hub/status"})
            assert (refused.status_code, 'scope="read"' in refused.headers["www-authenticate"]) == (403, True)
        assert (home / "claw" / "serve-tokens.json").stat().st_mode & 0o777 == 0o600
        assert read not in (home / "claw" / "serve-tokens.json").read_text()
        run_program("serve", "token", "remove", "wall", cwd=home, env=environment_of(home))
        async with control_of(server, read) as control:
            assert (await control.post({})).status_code == 401
        log = (home / "claw" / "log" / "claw-acp.log").read_text()
        assert "the token is wrong" in log
        assert "does not have the scope read" in log
        assert read not in log
        assert attach not in log


async def test_a_page_of_another_origin_has_nothing_done_even_with_the_token(serve: Serve, home: Path) -> None:
    async with serve() as server, control_of(server) as control:
        request = {"jsonrpc": "2.0", "id": 1, "method": "hub/shutdown"}
        assert (await control.post(request, origin="https://evil.example")).status_code == 403
        assert (await control.ask("hub/status"))["turns"] == 0
        assert "https://evil.example" in (home / "claw" / "log" / "claw-acp.log").read_text()


# ---------------------------------------------------------------------- pairing


async def test_a_code_becomes_a_token_once(serve: Serve, home: Path) -> None:
    async with serve() as server, server.http() as client:
        done = run_program("serve", "pair", "--scope", "read", cwd=home, env=environment_of(home))
        code = done.stdout.split()[0]
        pair = {"code": f"{code[:4].lower()}-{code[4:]}", "name": "phone"}
        del client.headers["authorization"]
        given = await client.post(f"{base_of(server)}/pair", json=pair)
        assert given.json()["scopes"] == ["read"]
        again = await client.post(f"{base_of(server)}/pair", json=pair)
        assert again.status_code == 403
        async with control_of(server, given.json()["token"]) as control:
            assert (await control.ask("hub/status"))["turns"] == 0
        assert "phone  read" in run_program("serve", "token", "list", cwd=home, env=environment_of(home)).stdout


async def test_alive_is_told_without_a_token_and_nothing_else_is(shared: RemoteServer) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"{base_of(shared)}/healthz")).text == "ok\n"
        for path in ("/rpc", "/acp", "/api/chat"):
            assert (await client.post(base_of(shared) + path, json={})).status_code == 401, path
