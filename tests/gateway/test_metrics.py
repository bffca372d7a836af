"""Figures for Prometheus."""

from pathlib import Path

import httpx

from tests.gateway.conftest import Serve
from tests.gateway.test_control import base_of, control_of, token_of
from tests.support.script_files import Script, call, fail, say, turn, usage
from tests.support.servers.remote_server import RemoteServer

SCRIPT = Script(
    turn(call("read_file", path="a.txt"), usage(input_tokens=50, output_tokens=5)),
    turn(call("write_file", path="b.txt", content="x")),
    turn(say("done"), usage(input_tokens=70, output_tokens=9)),
    turn(fail("ProviderUnavailable"), when="break"),
)


async def figures(client: httpx.AsyncClient, server: RemoteServer, accept: str = "") -> tuple[dict[str, float], str]:
    """The figures by name and labels, and the content type."""
    while (answer := await client.get(f"{base_of(server)}/metrics", headers={"accept": accept})).status_code == 503:
        pass  # the engine starts
    lines = [line.rpartition(" ") for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}, answer.headers["content-type"]


async def test_turns_tokens_tools_and_requests_are_counted(serve: Serve, project: Path) -> None:
    (project / "a.txt").write_text("hello")
    async with serve(script=SCRIPT) as server, server.http() as client:
        before, _ = await figures(client, server)
        assert before["claw_acp_sessions_open"] == 0
        for message in ("go", "break"):
            content = {"message": message, "cwd": str(project)}
            await client.post(f"{base_of(server)}/api/chat", json=content)
        found, kind = await figures(client, server)
        assert kind.startswith("text/plain; version=")
        assert found['claw_acp_turns_total{outcome="end_turn"}'] == 1
        assert found['claw_acp_turns_total{outcome="error"}'] == 1
        assert found['claw_acp_tokens_total{kind="input",model="scripted/play"}'] == 120
        assert found['claw_acp_tool_calls_total{outcome="completed",tool="read_file"}'] == 1
        assert found['claw_acp_tool_calls_total{outcome="refused",tool="write_file"}'] == 1
        assert found['claw_acp_model_requests_total{outcome="answered",provider="scripted"}'] == 3
        assert found['claw_acp_model_requests_total{outcome="failed",provider="scripted"}'] == 1
        assert found["claw_acp_turn_seconds_count"] == 2
        assert found["claw_acp_first_text_seconds_count"] == 1


async def test_the_format_is_the_one_that_was_asked_for(shared: RemoteServer) -> None:
    async with shared.http() as client:
        _, kind = await figures(client, shared, "application/openmetrics-text; version=1.0.0")
        assert kind.startswith("application/openmetrics-text")


async def test_figures_need_a_token_that_reads(serve: Serve, home: Path) -> None:
    async with serve() as server:
        async with control_of(server, token_of(home, "web", ["chat"])) as chat:
            assert (await chat.client.get(f"{base_of(server)}/metrics")).status_code == 403
        async with control_of(server, token_of(home, "prometheus", ["read"])) as reader:
            await figures(reader.client, server)
            assert "claw_acp_info" in (await reader.ask("hub/metrics"))["text"]
