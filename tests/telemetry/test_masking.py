"""What no recording holds, whatever it looks like."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.core.redaction import REDACTED
from claw_acp.telemetry.masking import masked
from claw_acp.telemetry.trace import FrameTrace

Json = dict[str, Any]
PLAIN = "plain words"  # nothing that looks like a secret


def recorded(folder: Path, frame: object) -> Json:
    trace = FrameTrace(folder / "frames")
    trace.record("in", json.dumps(frame).encode())
    trace.close()
    return json.loads((folder / "frames").read_text().splitlines()[-1])["frame"]


def test_environments_and_headers_of_mcp_servers_are_left_out(tmp_path: Path) -> None:
    servers = [
        {"name": "a", "command": "x", "args": ["--keep"], "env": [{"name": "TOKEN", "value": PLAIN}]},
        {"type": "http", "name": "b", "url": "https://x", "headers": [{"name": "X-Team", "value": PLAIN}]},
    ]
    frame = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/x", "mcpServers": servers}}
    one, other = recorded(tmp_path, frame)["params"]["mcpServers"]
    assert one["env"] == [{"name": "TOKEN", "value": REDACTED}]
    assert other["headers"] == [{"name": "X-Team", "value": REDACTED}]
    assert (one["args"], other["url"]) == (["--keep"], "https://x")


@pytest.mark.parametrize(
    ("holder", "left"),
    [
        ({"env": {"A": PLAIN, "B": ""}}, {"env": {"A": REDACTED, "B": REDACTED}}),
        ({"headers": {"Authorization": PLAIN}}, {"headers": {"Authorization": REDACTED}}),
        ({"env": [PLAIN]}, {"env": [REDACTED]}),
        ({"env": None, "headers": 7}, {"env": None, "headers": 7}),
        ({"env": [{"name": "A", "value": {"deep": PLAIN}}]}, {"env": [{"name": "A", "value": REDACTED}]}),
        ({"environment": PLAIN, "value": PLAIN}, {"environment": PLAIN, "value": PLAIN}),
    ],
)
def test_both_shapes_are_known_wherever_they_stand(holder: Json, left: Json) -> None:
    assert masked({"params": {"deep": [holder]}}) == {"params": {"deep": [left]}}


def test_what_was_typed_into_a_form_is_left_out(tmp_path: Path) -> None:
    answer = {"jsonrpc": "2.0", "id": 3, "result": {"action": "accept", "content": {"key": PLAIN, "many": [PLAIN]}}}
    assert recorded(tmp_path, answer)["result"] == {"action": "accept", "content": {"key": REDACTED, "many": REDACTED}}


def test_other_results_are_recorded(tmp_path: Path) -> None:
    results: list[Any] = [
        {"content": PLAIN},
        {"action": "jump", "content": {"a": PLAIN}},
        {"action": "cancel"},
        None,
        [],
    ]
    for result in results:
        assert recorded(tmp_path, {"jsonrpc": "2.0", "id": 3, "result": result})["result"] == result


def test_a_frame_too_deep_to_look_through_is_not_recorded(tmp_path: Path) -> None:
    trace = FrameTrace(tmp_path / "frames")
    trace.record("in", b'{"a":' * 100_000 + b'{"env":{"K":"%s"}}' % PLAIN.encode() + b"}" * 100_000)
    trace.close()
    assert PLAIN not in (tmp_path / "frames").read_text()


Anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["env", "headers", "value", "name", "x"]), inner),
)


@given(Anything)
def test_any_frame_can_be_masked_and_again(frame: Any) -> None:
    once = masked(frame)
    assert masked(once) == once
