"""Killed at any point of a turn: what the client was told is there, and the conversation goes on."""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from claw_acp.core.messages import Message
from claw_acp.session.history import History
from claw_acp.session.journal import Journal
from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, spoken, tool_calls
from tests.support.judges.session_order import BETWEEN_TURNS
from tests.support.script_files import Script, call, say, think, turn

pytestmark = pytest.mark.forked

KILLS = 5  # for each seed
FRAMES = 30  # a whole turn has about as many

SCRIPT = Script(
    turn(think("hm ", "well "), say("let ", "me ", "see "), call("read_file", path="a.txt"), call("glob", pattern="*")),
    turn(say("now "), call("edit_file", path="a.txt", edits=[{"old_text": "END", "new_text": "line\nEND"}])),
    turn(call("shell", command="echo ran >> log.txt"), call("read_file", path="missing.txt")),
    turn(say("all ", "done ", "now ")),
    loop=True,
)


class Told:
    """What one client was told before the crash, as far as it may count on it."""

    def __init__(self, prompt: str, updates: list[Json], *, ended: bool) -> None:
        certain = updates if ended else updates[: _last_commit(updates)]
        self.calls = {
            name: call["status"]
            for name, call in tool_calls(certain).items()
            if call["status"] in {"completed", "failed"}
        }
        self.text = _by_message(certain)
        self.prompt = prompt if any(update["sessionUpdate"] not in BETWEEN_TURNS for update in updates) else None


def _last_commit(updates: list[Json]) -> int:
    """Everything up to the last change of a call that runs or ran: it is shown only once it is kept."""
    kept = [n for n, update in enumerate(updates, 1) if update.get("status") in {"in_progress", "completed", "failed"}]
    return max(kept, default=0)


def _by_message(updates: list[Json]) -> dict[str, str]:
    said: dict[str, str] = {}
    for update in updates:
        if update["sessionUpdate"] in {"agent_message_chunk", "agent_thought_chunk"}:
            said[update["messageId"]] = said.get(update["messageId"], "") + update["content"]["text"]
    return said


def _check(told: Iterable[Told], replayed: list[Json]) -> None:
    """Nothing that was told is missing, and nothing is left open."""
    calls, text = tool_calls(replayed), _by_message(replayed)
    prompts = spoken(replayed, "user_message_chunk")
    assert {call["status"] for call in calls.values()} <= {"completed", "failed"}
    for client in told:
        assert client.calls.items() <= {name: call["status"] for name, call in calls.items()}.items()
        for message, said in client.text.items():
            assert text.get(message, "").startswith(said)
        assert client.prompt is None or client.prompt in prompts


def _check_history(messages: Iterable[Message]) -> None:
    """Every call has exactly one result, right after it: the one rule that all vendors share."""
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert message.tool_call_id is not None
            waiting.remove(message.tool_call_id)
            continue
        assert waiting == []
        waiting = [call.id for call in message.tool_calls]
    assert waiting == []


async def _run_into_the_crash(editor: Editor, prompt: str, frames: int) -> Told:
    editor.will_answer("allow_once")
    running = await editor.start_prompt(prompt)
    start = len(editor.received())
    await editor.wait_for(lambda: running.answered or len(editor.received()) - start >= frames, "the point to crash at")
    await editor.kill()
    return Told(prompt, running.updates, ended=running.answered)


@pytest.mark.case(47)
@pytest.mark.parametrize("seed", range(5))
async def test_a_crash_at_any_point_loses_nothing_that_was_told(
    spawn: Spawn, project: Path, home: Path, seed: int
) -> None:
    chance = random.Random(seed)
    (project / "a.txt").write_text("hello\nEND\n")
    told: list[Told] = []
    session = ""
    options: dict[str, Any] = {"script": SCRIPT, "config": 'mode = "edit"'}
    for crash in range(KILLS):
        async with spawn(**options) as editor:
            await editor.initialize()
            if session:
                _, replayed = await editor.load(session)
                _check(told, replayed)
            else:
                session = (await editor.new_session())["sessionId"]
            told.append(await _run_into_the_crash(editor, f"prompt {seed}.{crash};", chance.randrange(FRAMES)))
    async with spawn(**options) as editor:
        await editor.initialize()
        _, replayed = await editor.load(session)
        _check(told, replayed)
        editor.will_answer("allow_once")
        assert (await editor.prompt("finish")).stop_reason == "end_turn"
    async with Journal.opened(home / "claw" / "claw.db") as journal:
        history = History()
        for event in await journal.read(session):
            history.apply(event)
        _check_history(history.messages())
