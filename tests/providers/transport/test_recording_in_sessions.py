"""Recording and replaying in the real program, as somebody does it who reports a defect."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.editors.editor_fixtures import Spawn, home, opened, project, spawn
from tests.support.editors.exchange import RpcFailure
from tests.support.servers.model_replies import Call, Say
from tests.support.servers.model_server import ModelServer

__all__ = ["home", "opened", "project", "spawn"]

KEY = "sk-test-0123456789abcdef"


def config(line: str) -> dict[str, Any]:
    return {"config": f'model = "openai/m"\n[providers.openai]\nmodels = ["m"]\n{line}\n'}


async def test_a_session_is_recorded_without_its_key_and_replayed_without_key_and_network(
    opened: Spawn, server: ModelServer, tmp_path: Path
) -> None:
    file = tmp_path / "report.jsonl"
    read = Call(name="read_file", arguments={"path": "a.txt"}, id="v1")
    server.will_reply(Say(text=("I look.",), calls=(read,)), Say(text=("It says hello.",)))
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.openai_url}
    async with opened(**config(f'record = "{file}"'), env=env) as editor:
        recorded = await editor.prompt("what does a.txt say?")
    written = file.read_bytes()
    assert KEY.encode() not in written
    assert written.count(b"\n") == len(server.requests) == 2
    async with opened(**config(f'replay = "{file}"')) as editor:
        replayed = await editor.prompt("what does a.txt say?")
        assert (replayed.text, len(replayed.calls)) == (recorded.text, 1) == ("I look.It says hello.", 1)
        failure = await (await editor.start_prompt("something else")).failure()
    assert "none of its 2 answers to POST /chat/completions is to this request" in failure.message
    assert len(server.requests) == 2


async def test_a_full_disk_is_said_once_and_fails_no_turn(opened: Spawn, server: ModelServer) -> None:
    server.always(Say(text=("Hi.",)))
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.openai_url}
    async with opened(**config('record = "/dev/full"'), env=env) as editor:
        for _ in range(3):
            assert (await editor.prompt("hi")).stop_reason == "end_turn"
        shown = str([update for update in editor.updates() if "could not be recorded" in str(update)])
    assert shown.count("could not be recorded in /dev/full") == 1


async def test_a_provider_without_http_has_nothing_to_record(spawn: Spawn, tmp_path: Path) -> None:
    line = f'[providers.play]\nkind = "scripted"\nscript = "x"\nrecord = "{tmp_path}/r"\n'
    async with spawn(config=f'model = "play/x"\n{line}') as editor:
        await editor.initialize()
        await editor.new_session()
        with pytest.raises(RpcFailure, match="exchanges nothing over HTTP"):
            await editor.prompt("hi")
