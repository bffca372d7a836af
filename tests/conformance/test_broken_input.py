"""Random damage to good frames: whatever comes, the connection lives and every answer is a lawful one."""

import json
import random

import pytest

from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json
from tests.support.script_files import Script, say, turn

LINES = 400


def _good_frames(session: str, cwd: str) -> list[Json]:
    calls: list[tuple[str, Json]] = [
        ("session/list", {"cwd": cwd, "cursor": None}),
        ("session/set_mode", {"sessionId": session, "modeId": "plan"}),
        ("session/set_config_option", {"sessionId": session, "configId": "mode", "value": "ask"}),
        ("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]}),
        ("authenticate", {"methodId": "api-key"}),
        ("initialize", {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": True}}}),
        ("session/resume", {"sessionId": session, "cwd": cwd, "mcpServers": []}),
    ]
    frames: list[Json] = [{"jsonrpc": "2.0", "id": "", "method": method, "params": params} for method, params in calls]
    return [*frames, {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}]


def _damaged(frame: Json, chance: random.Random) -> bytes:
    named = frame | {"id": f"{chance.getrandbits(64):x}"} if "id" in frame else frame  # so that no two share an id
    data = bytearray(json.dumps(named, ensure_ascii=False).encode())
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(data))
        match chance.randrange(4):
            case 0:
                data[place] = chance.randrange(256)
            case 1:
                del data[place : place + chance.randint(1, 12)]
            case 2:
                data[place:place] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 5)))
            case _:
                data[place:place] = data[place : place + chance.randint(1, 30)]
        if not data:
            return b"{"
    return bytes(data).replace(b"\n", b" ").replace(b"\r", b" ")


async def _answered_again(editor: Editor) -> None:
    assert "sessions" in await editor.request("session/list", {})


@pytest.mark.rule("envelope.one-answer", "kit1.jsonrpc")
@pytest.mark.case(22, 23, 24)
@pytest.mark.parametrize("seed", range(3))
async def test_a_connection_outlives_any_damage_to_its_frames(spawn: Spawn, seed: int) -> None:
    chance = random.Random(seed)
    async with spawn(script=Script(turn(say("ok")), loop=True), late_cancel="allowed") as editor:
        await editor.initialize()
        await editor.new_session()
        good = _good_frames(editor.session, str(editor.project))
        for _ in range(LINES):
            await editor.send_bytes(_damaged(chance.choice(good), chance) + b"\n")
        await _answered_again(editor)
        await editor.request("session/close", {"sessionId": editor.session})
        await _answered_again(editor)
