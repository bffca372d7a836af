"""MCP servers of every kind, named by the official TypeScript SDK; one lives inside the client (`servers.mjs`)."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.mcp.http_server import http_server
from tests.mcp.support import RAW_SERVER
from tests.support.editors.exchange import Json, shown_text, spoken, tool_calls
from tests.support.foreign.desk import Desk
from tests.support.foreign.typescript import reported
from tests.support.script_files import Script, call, expect, say, turn

SCRIPT = Script(
    turn(
        call("inside__echo", text="grüße"),
        call("inside__fail"),
        call("inside__count"),
        call("bare__refuse"),
        call("web__echo", text="over http"),
        call("official__echo", text="over sse"),
        call("raw__echo", text="over stdio"),
        when="use all",
    ),
    turn(say("used"), when="use all"),
    turn(expect("Review a.txt thoroughly."), say("reviewed"), when="Review"),
    turn(call("inside__grown"), when="later"),
    turn(expect("grown was called"), say("used"), when="later"),
    turn(call("inside__slow"), when="wait"),
    turn(call("inside__echo", text="anybody?"), when="gone"),
    turn(say("nobody"), when="gone"),
)


@pytest.mark.case(40)
@pytest.mark.rule("mcp-over-acp.envelope", "session.mcp-stdio")
async def test_servers_of_every_kind_as_the_typescript_sdk_declares_and_serves_them(desk: Desk, tmp_path: Path) -> None:
    desk.plays(SCRIPT, config='mode = "auto"\n[permissions]\nallow = ["inside__grown", "inside__slow", "inside__echo"]')
    stdio: Json = {"name": "raw", "command": sys.executable, "args": [str(RAW_SERVER), "{}"], "env": []}
    async with http_server("sse", tmp_path) as server:
        report = await reported("servers.mjs", desk, servers=[server.declared(), stdio])
    assert report["kinds"] == {"http": True, "sse": True, "acp": True}
    check_the_tools(report["used"])
    assert spoken(report["review"], "agent_message_chunk") == "reviewed"
    assert [shown_text(it) for it in tool_calls(report["usedLater"]).values()] == ["grown was called"]
    assert report["cancelled"] == {"stopReason": "cancelled"}
    check_what_is_gone(report["usedGone"])
    check_the_envelopes([frame["message"] for frame in report["frames"][0] if not frame["sent"]])


def check_the_tools(updates: Sequence[Json]) -> None:
    calls = list(tool_calls(updates).values())
    shown = [(it["name"], it["status"], shown_text(it)) for it in calls]
    assert shown == [
        ("inside__echo", "completed", "grüße"),
        ("inside__fail", "failed", "the sky fell down"),
        ("inside__count", "completed", "counted"),
        ("bare__refuse", "failed", "The MCP server bare answered with an error: no refuse today"),
        ("web__echo", "completed", "over http"),
        ("official__echo", "completed", "over sse"),
        ("raw__echo", "completed", "over stdio"),
    ]
    assert "3 of 10: a third" in json.dumps(updates)
    assert spoken(updates, "agent_message_chunk") == "used"


def check_what_is_gone(updates: Sequence[Json]) -> None:
    (gone,) = tool_calls(updates).values()
    assert gone["status"] == "failed"
    assert "MCP server registration unavailable" in shown_text(gone)
    assert spoken(updates, "agent_message_chunk") == "nobody"


def check_the_envelopes(messages: Sequence[Json]) -> None:
    """Each request travels alone, under a name of its own, and says what MCP wants to know of who asks."""
    sent = [message["params"] for message in messages if message.get("method") == "mcp/message"]
    assert all("id" in message for message in messages if message.get("method") == "mcp/message")
    assert len({(envelope["serverId"], envelope["requestId"]) for envelope in sent}) == len(sent)
    assert {envelope["method"] for envelope in sent} == {
        "server/discover",
        "tools/list",
        "tools/call",
        "prompts/list",
        "prompts/get",
        "subscriptions/listen",
    }
    for envelope in sent:
        meta = envelope["params"]["_meta"]
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "claw-acp"
