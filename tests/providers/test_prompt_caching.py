"""Requests of a long session begin with the very bytes of the one before, so that vendors' caches hit."""

import json
from collections.abc import AsyncGenerator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import Editor
from tests.support.editor_fixtures import Spawn, home, opened, project, spawn
from tests.support.editor_v2 import EditorV2
from tests.support.model_replies import Call, Family, ReceivedRequest, Say, Tokens
from tests.support.model_server import ModelServer

__all__ = ["home", "opened", "project", "spawn"]

MARK = b',"cache_control":{"type":"ephemeral"}'
MARKS = 4
LOOKBACK = 20
"""Anthropic takes at most four marks, and looks for what it cached before in at most 20 blocks before a mark.

https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
"""
TURNS = 32


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture(params=["openai", "anthropic"])
def family(request: pytest.FixtureRequest) -> Family:
    return request.param


def config(family: Family, server: ModelServer) -> dict[str, Any]:
    url = server.openai_url if family == "openai" else server.anthropic_url
    text = f'model = "acme/m"\n[providers.acme]\nkind = "{family}"\nbase_url = "{url}"\napi_key = "key-0123456789"\n'
    return {"config": text + 'models = ["m"]\n'}


def conversation(raw: bytes) -> bytes:
    """The bytes of a body from the beginning to the end of its messages, without marks, which vendors do not count."""
    text = raw.replace(MARK, b"").decode()
    start = text.index("[", text.index('"messages":['))
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[: end - 1].encode()


def standing(raw: bytes) -> tuple[bytes, bytes]:
    """The instructions and tools that stand apart from the messages."""
    body = json.loads(raw)
    return json.dumps(body.get("system")).encode(), json.dumps(body["tools"]).encode()


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
async def test_a_long_session_is_a_growing_prefix_through_modes_tools_and_changed_files(
    opened: Spawn, spawn: Spawn, server: ModelServer, project: Path, family: Family
) -> None:
    reads = tuple(Call(name="read_file", arguments={"path": name}, id=f"v{name}") for name in ("a.txt", "AGENTS.md"))
    async with opened(**config(family, server)) as editor:
        session = editor.session
        for number in range(TURNS):
            if number % 3 == 0:
                server.will_reply(Say(text=("I look.",), calls=reads, thinking=("Hm.",)))
            server.will_reply(Say(text=(f"Answer {number}.",)))
            (project / "a.txt").write_text(f"now {number}\n")
            (project / "AGENTS.md").write_text(f"Be {number}.\n")
            mode = ("ask", "plan", "edit", "auto")[number % 4]
            await editor.request("session/set_mode", {"sessionId": session, "modeId": mode})
            assert (await editor.prompt(f"prompt {number}")).stop_reason == "end_turn"
    requests = server.requests
    assert len(requests) == TURNS + -(-TURNS // 3)
    for before, after in pairwise(requests):
        assert conversation(after.body).startswith(conversation(before.body))
        assert standing(after.body) == standing(before.body)
    async with spawn(**config(family, server)) as editor:
        (project / "AGENTS.md").write_text("Be 0.\n")
        await editor.initialize()
        await editor.load(session)
        server.will_say("Still here.")
        await editor.prompt("another process")
    assert conversation(requests[-1].body).startswith(conversation(requests[-2].body))
    assert standing(requests[-1].body) == standing(requests[-2].body)


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
