"""The families of Responses and Gemini in the real program: rounds of calls, pictures, and a session loaded again."""

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.support.editors.editor_fixtures import Spawn, home, opened, project, spawn
from tests.support.servers import gemini_replies, responses_replies
from tests.support.servers.gemini_replies import event
from tests.support.servers.model_replies import Call, Raw, ReceivedRequest, Say
from tests.support.servers.model_server import ModelServer

__all__ = ["home", "opened", "project", "spawn"]

READ_TEXT = Call(name="read_file", arguments={"path": "a.txt"}, id="v1")
READ_PICTURE = Call(name="read_file", arguments={"path": "p.png"}, id="v2")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


DOT = b"\x89PNG\r\n\x1a\n" + b"".join(
    (
        _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
        _chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")),
        _chunk(b"IEND", b""),
    )
)
PICTURE = base64.b64encode(DOT).decode()
PROMPT: list[dict[str, Any]] = [
    {"type": "text", "text": "compare "},
    {"type": "image", "data": PICTURE, "mimeType": "image/png"},
]


def settings(kind: str, model: str, server: ModelServer) -> dict[str, Any]:
    version = "/v1" if kind == "responses" else ""
    config = (
        f'model = "acme/{model}"\n[providers.acme]\nkind = "{kind}"\napi_key = "key-0123456789"\n'
        f'base_url = "http://127.0.0.1:{server.port}{version}"\nmodels = ["{model}"]\n'
    )
    return {"config": config, "env": {}}


async def converse(
    spawn: Spawn, opened: Spawn, server: ModelServer, project: Path, *, asked: dict[str, Any], replies: list[Raw]
) -> list[ReceivedRequest]:
    """Three rounds in one turn, the first of two calls; then a turn of the session loaded by another process."""
    (project / "p.png").write_bytes(DOT)
    server.will_reply(*replies)
    async with opened(**asked) as editor:
        session = editor.session
        outcome = await editor.prompt(PROMPT)
        assert (outcome.stop_reason, outcome.text) == ("end_turn", "Looking.Again.Alike.")
        assert [call["status"] for call in outcome.calls] == ["completed"] * 3
    async with spawn(**asked) as editor:
        await editor.initialize()
        await editor.request("session/load", {"sessionId": session, "cwd": str(project), "mcpServers": []})
        assert (await editor.prompt("sure?", session=session)).text == "Yes."
    assert len(server.requests) == 4
    return server.requests


async def test_a_conversation_with_gemini_keeps_its_signatures_in_the_journal(
    spawn: Spawn, opened: Spawn, project: Path
) -> None:
    """What must come back: https://ai.google.dev/gemini-api/docs/thought-signatures."""
    async with ModelServer() as server:
        asked = settings("gemini", "gemini-3.5-flash", server)
        both = Say(thinking=("Hm.",), text=("Looking.",), calls=(READ_TEXT, READ_PICTURE), signature="S1")
        again = Say(text=("Again.",), calls=(Call(name="read_file", arguments={"path": "a.txt"}, id="v3"),))
        last = [event({"text": "Alike"}), event({"text": ".", "thoughtSignature": "T"}, finish="STOP")]
        replies = [gemini_replies.answered(both), gemini_replies.answered(again), gemini_replies.streamed(last)]
        replies.append(gemini_replies.answered(Say(text=("Yes.",))))
        requests = await converse(spawn, opened, server, project, asked=asked, replies=replies)

    contents: Any = requests[-1].json["contents"]
    assert [content["role"] for content in contents] == ["user", "model"] * 2 + ["user", "model", "user"]
    first, calls, results, _, _, said, _ = [content["parts"] for content in contents]
    assert {"inlineData": {"mimeType": "image/png", "data": PICTURE}} in first
    assert [(part.get("functionCall", {}).get("id"), part.get("thoughtSignature")) for part in calls] == [
        (None, None),
        ("v1", "S1"),
        ("v2", None),
    ]
    assert [part["functionResponse"]["id"] for part in results] == ["v1", "v2"]
    assert "hello" in results[0]["functionResponse"]["response"]["output"]
    assert results[1]["functionResponse"]["parts"] == [{"inlineData": {"mimeType": "image/png", "data": PICTURE}}]
    assert said == [{"text": "Alike"}, {"text": ".", "thoughtSignature": "T"}]
    before: Any = requests[-2].json["contents"]
    assert contents[: len(before)] == before  # nothing of the beginning changed, so it stays in the vendor's cache


async def test_a_conversation_with_responses_keeps_its_reasoning_in_the_journal(
    spawn: Spawn, opened: Spawn, project: Path
) -> None:
    """What must come back: https://developers.openai.com/api/docs/guides/reasoning."""
    async with ModelServer() as server:
        asked = settings("responses", "gpt-5.1", server)
        both = Say(thinking=("Hm.",), text=("Looking.",), calls=(READ_TEXT, READ_PICTURE), signature="E1")
        again = Say(thinking=("Ha.",), text=("Again.",), calls=(READ_TEXT,), signature="E2")
        said = (both, again, Say(thinking=("So.",), signature="E3", text=("Alike.",)), Say(text=("Yes.",)))
        replies = [responses_replies.answered(say) for say in said]
        requests = await converse(spawn, opened, server, project, asked=asked, replies=replies)

    given: Any = requests[-1].json["input"]
    kinds = [item.get("role") or item["type"] for item in given]
    calls = ["function_call"] * 2
    assert kinds == [
        "user", "reasoning", "assistant", *calls, "function_call_output", "function_call_output",
        "reasoning", "assistant", "function_call", "function_call_output", "reasoning", "assistant", "user",
    ]  # fmt: skip
    assert [item["encrypted_content"] for item in given if item["type"] == "reasoning"] == ["E1", "E2", "E3"]
    assert [item["call_id"] for item in given[3:5]] == [item["call_id"] for item in given[5:7]]
    assert {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}", "detail": "auto"} in given[6][
        "output"
    ]
    before: Any = requests[-2].json["input"]
    assert given[: len(before)] == before
    assert len({request.json["prompt_cache_key"] for request in requests}) == 1


@pytest.mark.parametrize(("kind", "model"), [("responses", "gpt-5.1"), ("gemini", "gemini-3.5-flash")])
async def test_a_session_begun_with_another_vendor_goes_on(opened: Spawn, project: Path, kind: str, model: str) -> None:
    async with ModelServer() as server:
        asked = settings(kind, model, server)
        asked["config"] += (
            f'[providers.before]\nkind = "anthropic"\nbase_url = "{server.anthropic_url}"\napi_key = "k-0123456789"\n'
            'models = ["claude-opus-4-5"]\n'
        )
        asked["config"] = asked["config"].replace(f"acme/{model}", "before/claude-opus-4-5", 1)
        server.will_reply(
            Say(thinking=("Hm.",), text=("Looking.",), calls=(READ_TEXT,)),
            Say(text=("Read.",)),
        )
        async with opened(**asked) as editor:
            assert (await editor.prompt("read")).text == "Looking.Read."
            await editor.request(
                "session/set_config_option",
                {"sessionId": editor.session, "configId": "model", "value": f"acme/{model}"},
            )
            answer = responses_replies.answered if kind == "responses" else gemini_replies.answered
            server.will_reply(answer(Say(text=("Yes.",))))
            assert (await editor.prompt("sure?")).text == "Yes."
        sent = json.dumps(server.requests[-1].json)
    assert "Hm." not in sent
    assert '"sig"' not in sent
    assert ("skip_thought_signature_validator" in sent) == (kind == "gemini")
