"""Requests of a long session begin with the very bytes of the one before, so that vendors' caches hit."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn, home, opened, project, spawn
from tests.support.editors.editor_v2 import EditorV2
from tests.support.servers.model_replies import Call, Family, ReceivedRequest, Say, Stall, Tokens
from tests.support.servers.model_server import ModelServer

__all__ = ["home", "opened", "project", "spawn"]

MARK = b',"cache_control":{"type":"ephemeral"}'
MARKS = 4
LOOKBACK = 20
"""Anthropic takes at most four marks, and looks for what it cached before in at most 20 blocks before a mark.

https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
"""
TURNS = 32
KEY = "key-0123456789"
FILES = ("a.txt", "AGENTS.md", "key.txt")
READS = tuple(Call(name="read_file", arguments={"path": name}, id=f"v{name}") for name in FILES)
IN_WORDS = "I look.\n" + "\n".join(
    f'<tool_call>\n{{"name": "read_file", "arguments": {call.json}}}\n</tool_call>' for call in READS
)
LOOKS = {"natively": Say(text=("I look.",), calls=READS, thinking=("Hm.",)), "in words": Say(text=(IN_WORDS,))}
IMAGE = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}


def config(family: Family, server: ModelServer, *, more: str = "") -> dict[str, Any]:
    url = server.openai_url if family == "openai" else server.anthropic_url
    model = "gpt-4o" if family == "openai" else "claude-sonnet-4-5"  # both see
    text = (
        f'model = "acme/{model}"\n[providers.acme]\nkind = "{family}"\nbase_url = "{url}"\napi_key = "{KEY}"\n'
        f'models = ["{model}"]\n{more}'
    )
    return {"config": text}


def conversation(raw: bytes) -> bytes:
    """The bytes of a body from the beginning to the end of its messages, without marks, which vendors do not count."""
    text = raw.replace(MARK, b"").decode()
    start = text.index("[", text.index('"messages":['))
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[: end - 1].encode()


def standing(raw: bytes) -> tuple[bytes, bytes]:
    """The instructions and tools that stand apart from the messages."""
    body = json.loads(raw)
    return json.dumps(body.get("system")).encode(), json.dumps(body.get("tools")).encode()


def put(project: Path, name: str, text: str) -> None:
    (project / name).write_text(text)


class AnthropicCache:
    """What the vendor has cached: all that stood before a mark of some request."""

    def __init__(self) -> None:
        self._entries: set[str] = set()

    def ask(self, request: ReceivedRequest) -> tuple[int, int, int]:
        """Take a request: how many of its blocks were cached, how many there are, and how many marks."""
        body: Any = request.json
        blocks = [*body["tools"], *body["system"], *(block for turn in body["messages"] for block in turn["content"])]
        marks = [index for index, block in enumerate(blocks) if block.pop("cache_control", None)]
        prefixes = [json.dumps(blocks[: index + 1]) for index in range(len(blocks))]
        hits = [
            index + 1
            for mark in marks
            for index in range(mark, max(-1, mark - LOOKBACK), -1)
            if prefixes[index] in self._entries
        ]
        self._entries |= {prefixes[mark] for mark in marks}
        return max(hits, default=0), len(blocks), len(marks)


@pytest.mark.timeout(30)  # some forty requests through the whole program
@pytest.mark.parametrize("tools", LOOKS)
async def test_a_long_session_is_a_growing_prefix_through_modes_tools_and_changed_files(
    opened: Spawn, spawn: Spawn, server: ModelServer, project: Path, family: Family, tools: str
) -> None:
    settings = config(family, server, more="[providers.acme.quirks]\ntools = false\n" if tools == "in words" else "")
    put(project, "key.txt", f"the key is {KEY}\n")
    async with opened(**settings) as editor:
        session = editor.session
        for number in range(TURNS):
            if number % 3 == 0:
                server.will_reply(LOOKS[tools])
            server.will_reply(Say(text=(f"Answer {number}.",)))
            put(project, "a.txt", f"now {number}\n")
            put(project, "AGENTS.md", f"Be {number}.\n")
            mode = ("ask", "plan", "edit", "auto")[number % 4]
            await editor.request("session/set_mode", {"sessionId": session, "modeId": mode})
            prompt = [{"type": "text", "text": f"prompt {number}"}, *([IMAGE] if number == 5 else [])]
            assert (await editor.prompt(prompt)).stop_reason == "end_turn"
        server.will_reply(Say(text=("Hel", "lo"), insert={4: Stall()}))
        broken = await editor.start_prompt("stop this")
        await editor.wait_for_text("Hel")
        await editor.cancel()
        assert (await broken.outcome()).stop_reason == "cancelled"
    async with spawn(**settings) as editor:
        put(project, "AGENTS.md", "Be 0.\n")
        await editor.initialize()
        await editor.load(session)
        server.will_say("Still here.")
        await editor.prompt("another process")
    requests = server.requests
    assert len(requests) == TURNS + -(-TURNS // 3) + 2
    assert KEY.encode() not in requests[-1].body
    for before, after in pairwise(requests):
        assert conversation(after.body).startswith(conversation(before.body))
        assert standing(after.body) == standing(before.body)


@pytest.mark.parametrize("calls", [1, 12, 30])
async def test_each_request_to_anthropic_hits_all_that_the_one_before_wrote(
    opened: Spawn, server: ModelServer, calls: int
) -> None:
    reads = tuple(Call(name="read_file", arguments={"path": "a.txt"}, id=f"v{number}") for number in range(calls))
    async with opened(**config("anthropic", server)) as editor:
        for number in range(4):
            server.will_reply(Say(text=("I look.",), calls=reads), Say(text=("Done.",)))
            await editor.prompt(f"prompt {number}")
    cache, written = AnthropicCache(), 0
    for request in server.requests:
        hit, size, marks = cache.ask(request)
        assert hit == written
        assert 0 < marks <= MARKS
        written = size


@pytest.mark.parametrize("client", [Editor, EditorV2])
async def test_what_a_cache_saved_is_told_to_the_client(
    server: ModelServer, family: Family, client: type[Editor], project: Path, home: Path
) -> None:
    tokens = Tokens(input=7, output=3, cache_read=100, cache_write=20 if family == "anthropic" else 0)
    server.will_reply(Say(text=("Hi.",), usage=tokens), Say(text=("Ho.",), usage=tokens))
    async with client.opened(project=project, home=home, **config(family, server)) as editor:
        for _ in range(2):
            turn: Any = await (editor.run("hi") if isinstance(editor, EditorV2) else editor.prompt("hi"))
            counts = turn.end["usage"] if isinstance(editor, EditorV2) else turn.result["usage"]
            assert counts["cachedReadTokens"] == 100
            assert counts.get("cachedWriteTokens", 0) == tokens.cache_write
            assert counts["inputTokens"] == 107 + tokens.cache_write
