"""A client's trace context goes on to the programs that work for it."""

import json
from pathlib import Path

import pytest

from claw_acp.core.json_value import JsonObject
from claw_acp.telemetry.trace_context import current_trace, trace_from, trace_in, trace_meta
from tests.mcp.in_editor import ServerInEditor
from tests.mcp.support import ready
from tests.support.editors.editor_fixtures import Spawn
from tests.support.servers.loopback import Answered, Loopback, serving

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
VALID = f"00-{TRACE}-{PARENT}-01"


@pytest.mark.parametrize(
    ("parent", "valid"),
    [
        (VALID, True),
        (f"cc-{TRACE}-{PARENT}-00-what-the-future-is-like", True),
        (f"00-{TRACE}-{PARENT}-01-more", False),
        (f"ff-{TRACE}-{PARENT}-01", False),
        (f"00-{'0' * 32}-{PARENT}-01", False),
        (f"00-{TRACE}-{'0' * 16}-01", False),
        (VALID.upper(), False),
        (f"{VALID}\n", False),
        (f"00-{TRACE[:-1]}-{PARENT}-01", False),
        (f"cc-{TRACE}-{PARENT}-00-{'x' * 600}", False),
        ("", False),
        (7, False),
        (None, False),
    ],
)
def test_only_a_valid_parent_is_carried(parent: JsonObject, valid: bool) -> None:  # noqa: FBT001
    assert trace_in({"traceparent": parent}) == ({"traceparent": parent} if valid else {})


@pytest.mark.parametrize("state", ["", "x" * 513, "a=b\r\nx: y", "ü", 7, None])
def test_a_state_that_cannot_be_passed_on_is_left_out(state: JsonObject) -> None:
    assert trace_in({"traceparent": VALID, "tracestate": state, "baggage": "a=b"}) == {"traceparent": VALID}
    assert trace_in({"tracestate": "a=b"}) == {}


def test_a_trace_ends_with_its_block() -> None:
    with trace_from({"traceparent": VALID}):
        assert trace_meta() == {"_meta": current_trace()}
        with trace_from(None):
            assert trace_meta() == {}
    assert trace_meta() == {}


PROGRAM = """\
cat >> {log}
if [ "$(wc -l < {log})" -gt 1 ]; then echo '{{"jsonrpc":"2.0","id":1,"result":{{"content":"done"}}}}'; exit; fi
echo '{{"jsonrpc":"2.0","id":1,"result":{{"content":"","tool_calls":[{call}]}}}}'
"""
CALL = '{"id":"1","name":"inside__echo","arguments":"{\\"text\\":\\"hi\\"}"}'


@pytest.mark.forked
@pytest.mark.parametrize("exported", [False, True])
async def test_a_provider_program_and_an_mcp_server_get_the_trace(spawn: Spawn, home: Path, exported: bool) -> None:  # noqa: FBT001
    log, program = home / "asked", home / "program.sh"
    program.write_text(PROGRAM.format(log=log, call=CALL))
    config = (
        'model = "mine/m"\nmode = "auto"\n[providers.mine]\nkind = "binary"\nprotocol = "oneshot"\n'
        f'command = "/bin/sh"\nargs = ["{program}"]\n'
    )
    collector = Loopback(lambda _: Answered())
    with serving(collector):
        if exported:
            config += f'[telemetry]\nendpoint = "{collector.url}"\n'
        async with spawn(config=config) as editor:
            server = ServerInEditor(editor)
            await editor.initialize()
            await editor.new_session(mcpServers=[server.declared])
            await ready(editor, "inside")
            editor.will_answer("allow_once")
            prompt = [{"type": "text", "text": "go"}]
            params = {"sessionId": editor.session, "prompt": prompt, "_meta": {"traceparent": VALID}}
            await editor.request("session/prompt", params)
    asked = [json.loads(line)["params"]["_meta"] for line in log.read_text().splitlines() if line]
    (called,) = (envelope["params"]["_meta"] for envelope in server.heard if envelope["method"] == "tools/call")
    parents = [meta["traceparent"] for meta in (*asked, called)]
    assert len(asked) == 2
    assert {parent.split("-")[1] for parent in parents} == {TRACE}
    assert len(set(parents)) == (3 if exported else 1)
    assert bool(collector.asked) == exported
