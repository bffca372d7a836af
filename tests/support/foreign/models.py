"""The program with a model server over real HTTP: its configuration, and the validity of its requests.

A vendor refuses a request whose tool calls lack results or whose roles do not alternate, and with it every later
request of the session; so every request of a test is checked for that.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, cast

from claw_acp.providers.registry.service import ANTHROPIC, OPENAI
from tests.support.foreign.desk import Desk
from tests.support.servers.model_replies import ReceivedRequest
from tests.support.servers.model_server import ModelServer

Family = Literal["openai", "anthropic"]
FAMILIES: Sequence[Family] = ("openai", "anthropic")
KEYS: Mapping[Family, str] = {"openai": "sk-test-0123456789abcdef", "anthropic": "sk-ant-test-0123456789abcdef"}
DEFAULT_MODELS: Mapping[Family, str] = {
    "openai": f"openai/{OPENAI.roles[0].last_resort}",
    "anthropic": f"anthropic/{ANTHROPIC.roles[0].last_resort}",
}

Message = dict[str, Any]


def powered(desk: Desk, family: Family, url: str) -> Desk:
    """A desk whose program uses this service, configured only by the usual variables."""
    name = family.upper()
    desk.env.update({f"{name}_API_KEY": KEYS[family], f"{name}_BASE_URL": url})
    return desk


def address(server: ModelServer, family: Family) -> str:
    """The address of the server for this family."""
    return server.openai_url if family == "openai" else server.anthropic_url


def conversation(request: ReceivedRequest) -> list[Message]:
    """The messages of a request, without the system's, and without the program's facts."""
    spoken = re.sub(r"<facts>It is .*?</facts>(?:\\n)*", "", json.dumps(request.json["messages"]))
    messages = cast("list[Message]", json.loads(spoken))
    return [message for message in messages if message["role"] != "system"]


def check_valid(request: ReceivedRequest) -> None:
    """Fail if a vendor would refuse the conversation."""
    messages = conversation(request)
    assert messages[0]["role"] == "user", f"the first message is of the {messages[0]['role']}"
    assert messages[-1]["role"] in {"user", "tool"}, "the last message is the model's own"
    (_check_openai if request.family == "openai" else _check_anthropic)(messages)


def _check_openai(messages: Sequence[Message]) -> None:
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, "a tool result without its call just before"
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting, f"tool calls without results: {waiting}"
        calls = cast("list[Message]", message.get("tool_calls") or [])
        waiting = [call["id"] for call in calls]
        assert message.get("content") or calls, f"an empty message of the {message['role']}"


def _check_anthropic(messages: Sequence[Message]) -> None:
    roles = [message["role"] for message in messages]
    assert all(one != other for one, other in pairwise(roles)), f"roles do not alternate: {roles}"
    waiting: list[str] = []
    for message in messages:
        content = message["content"]
        blocks: list[Message] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        assert blocks, f"an empty message of the {message['role']}"
        assert all(block["text"].strip() for block in blocks if block["type"] == "text"), "an empty block of text"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert sorted(results) == sorted(waiting), f"calls {waiting} were answered by {results}"
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
