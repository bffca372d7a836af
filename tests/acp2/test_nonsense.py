"""Whatever a client sends is answered with one result or one clear error, and the next request works."""

import random
from pathlib import Path
from typing import Any

import pytest

from claw_acp.acp.v2.methods import NOTIFICATIONS, REQUESTS
from tests.acp2.conftest import Spawn
from tests.support.editors.editor_v2 import EditorV2
from tests.support.editors.exchange import Json, RpcFailure
from tests.support.script_files import Script, say, turn

CALLS = 150
EXPECTED = {"result", -32602, -32600, -32002, -32000}
BLOCKS = [{"type": "text", "text": "hi"}]
VALUES: list[Any] = [
    None, True, 0, -1, 1.5, 2**70, "", "x", "\ud800", "/", "mode", [], {}, [[]], {"a": 1}, {"type": "start"}, BLOCKS,
]  # fmt: skip
KEYS = [
    "cwd", "prompt", "mcpServers", "additionalDirectories", "replayFrom", "configId", "type", "value", "toolCallId",
    "terminalId", "methodId", "title", "cursor", "archived", "systemPrompt", "providerId", "apiType", "baseUrl",
    "headers", "requestId", "serverId", "method", "_meta", "info", "protocolVersion", "capabilities",
]  # fmt: skip


@pytest.mark.case(18, 23)
@pytest.mark.parametrize("seed", [1, 2])
async def test_nonsense_is_refused_in_words(opened: Spawn, project: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with opened(script=Script(turn(say("ok")), loop=True)) as editor:
        for _ in range(CALLS):
            params = _params(chance, editor)
            answer = await _answer(editor, chance.choice([*REQUESTS, "initialize"]), params)
            assert answer in EXPECTED, params
            await editor.notify(chance.choice([*NOTIFICATIONS, "$/cancel_request"]), params)
        await editor.new_session()
        assert (await editor.run("hi")).text == "ok"


def _params(chance: random.Random, editor: EditorV2) -> Any:
    if chance.random() < 0.1:
        return chance.choice(VALUES)
    params: Json = {key: chance.choice(VALUES) for key in chance.sample(KEYS, chance.randint(0, 6))}
    if chance.random() < 0.7:
        params |= {"sessionId": editor.session, "cwd": str(editor.project)}
    return params


async def _answer(editor: EditorV2, method: str, params: Any) -> object:
    try:
        await editor.request(method, params)
    except RpcFailure as failure:
        return failure.code
    return "result"
