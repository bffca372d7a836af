"""A stored conversation as frames: those that its client received."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from claw_acp.acp.stored_frames import STORED_FRAMES
from claw_acp.core.events import Event
from claw_acp.session.journal import Journal
from tests.support.editors.editor import Editor
from tests.support.editors.editor_v2 import EditorV2
from tests.support.editors.exchange import Json
from tests.support.script_files import Script, call, fail, say, think, turn, usage

SCRIPT = Script(
    turn(think("A file."), say("Reading."), call("read_file", path="a.txt"), usage(input_tokens=9, output_tokens=2)),
    turn(call("write_file", path="new.txt", content="hello\n")),
    turn(say("Written."), usage(input_tokens=30, output_tokens=1)),
    turn(say("Half"), fail("RequestRejected")),
)
UNSTORED = {"available_commands_update", "session_info_update", "config_option_update", "current_mode_update"}


async def recorded(kind: type[Editor], project: Path, home: Path) -> Editor:
    """An editor that had a conversation: one turn with tools, and one that failed."""
    capabilities: Mapping[int, Json] = {1: {"session": {"notices": {}, "compaction": {}}}, 2: {}}
    async with kind.opened(
        project=project, home=home, script=SCRIPT, capabilities=capabilities[kind.version]
    ) as editor:
        editor.will_answer("allow_once")
        if isinstance(editor, EditorV2):
            await editor.run("Write it")
            await editor.run("And fail")
        else:
            await editor.prompt("Write it")
            await (await editor.start_prompt("And fail")).failure()
    return editor


async def stored(home: Path, session: str) -> Sequence[Event]:
    async with Journal.opened(home / "claw" / "claw.db") as journal:
        return await journal.read(session)


def is_passing(update: Json) -> bool:
    """A state other than the end of a turn: questions, which the journal does not know, make more of them."""
    return update.get("state") in {"running", "requires_action"}


def comparable(updates: Sequence[Json]) -> list[Json]:
    """Updates that the journal knows of, with adjacent chunks of a message as one."""
    plain: list[Json] = []
    known = [update for update in updates if update["sessionUpdate"] not in UNSTORED and not is_passing(update)]
    for update in ({key: value for key, value in each.items() if key != "capabilities"} for each in known):
        before: Json = plain[-1] if plain else {}
        if "chunk" in update["sessionUpdate"] and update.get("messageId") == before.get("messageId"):
            text = before["content"]["text"] + update["content"]["text"]
            plain[-1] = {**update, "content": {**update["content"], "text": text}}
        else:
            plain.append(update)
    return [update for update in plain if len(update) > 2]


def answers(frames: Sequence[Json]) -> list[Json]:
    """Answers without the ids, and without details of errors, which are not kept."""
    return [
        {"error": {**frame["error"], "data": None}} if "error" in frame else {"result": frame["result"]}
        for frame in frames
        if "id" in frame
    ]


@pytest.mark.parametrize("kind", [Editor, EditorV2])
async def test_the_frames_of_a_replay_are_those_that_the_client_received(
    kind: type[Editor], project: Path, home: Path
) -> None:
    editor = await recorded(kind, project, home)
    frames = STORED_FRAMES[kind.version](editor.session)
    replayed: list[Any] = [frame for event in await stored(home, editor.session) for frame in frames.frames(event)]
    seen = comparable([frame["params"]["update"] for frame in replayed if "params" in frame])
    if kind.version == 1:  # a client has shown its own prompts itself
        assert [update for update in seen if update["sessionUpdate"] == "user_message_chunk"]
        seen = [update for update in seen if update["sessionUpdate"] != "user_message_chunk"]
    assert seen == comparable(editor.updates())
    prompts = {frame.message["id"] for frame in editor.transcript if frame.message.get("method") == "session/prompt"}
    received = [frame.message for frame in editor.transcript if "method" not in frame.message]
    assert answers(replayed) == answers([message for message in received if message.get("id") in prompts])
