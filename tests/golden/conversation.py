"""The conversation: everything that an editor usually sees, in the words of each protocol."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from tests.support.editors.editor import Editor
from tests.support.editors.editor_v2 import EditorV2
from tests.support.editors.exchange import Frame, Json
from tests.support.script_files import Script, call, fail, hold, say, think, turn, usage

TALK = Script(
    turn(
        think("Look first."), say("Looking. "), call("read_file", path="a.txt"), usage(inputTokens=100, outputTokens=9)
    ),
    turn(
        call("edit_file", path="a.txt", edits=[{"old_text": "hello", "new_text": "good day"}]),
        call("shell", command="echo $((40+2))"),
        call("read_file", path="missing.txt"),
        call("plan", entries=[{"content": "Finish", "priority": "high", "status": "in_progress"}]),
    ),
    turn(say("Done.")),
    turn(say("Half"), hold("never"), when="^Wait"),
    turn(call("write_file", path="new.txt", content="x\n"), when="^Write"),
    turn(say("As you wish."), when="^Write"),
    turn(fail("RequestRejected", message="the vendor said no"), when="^Fail"),
    contextWindow=1000,
)

Run: TypeAlias = Callable[[Path, Path], Awaitable[list[Frame]]]


async def in_protocol_1(project: Path, home: Path) -> list[Frame]:
    """The conversation in protocol 1."""
    async with Editor.spawned(project=project, home=home, script=TALK, capabilities=CAPABILITIES) as editor:
        await editor.initialize()
        await editor.new_session()
        await editor.wait_for(lambda: editor.updates("available_commands_update"), "the commands")
        editor.will_answer("allow_once")
        await editor.prompt("Work")
        waiting = await editor.start_prompt("Wait")
        await editor.wait_for_text("Half")
        await editor.cancel()
        await waiting.outcome()
        editor.will_answer("reject_once")
        await editor.prompt("Write it")
        await (await editor.start_prompt("Fail")).failure()
        await editor.prompt("/mode plan")
        await editor.load(editor.session)
        await editor.request("session/list", {"cwd": str(project)})
        await editor.request("session/close", {"sessionId": editor.session})
        return [*editor.transcript]


async def in_protocol_2(project: Path, home: Path) -> list[Frame]:
    """The same in protocol 2."""
    async with EditorV2.spawned(project=project, home=home, script=TALK) as editor:
        await editor.initialize()
        await editor.new_session()
        editor.will_answer("allow_once")
        await editor.run("Work")
        begin = len(editor.transcript)
        await editor.insert("Wait")
        await editor.wait_for_text("Half")
        await editor.cancel()
        await editor.ended(begin)
        editor.will_answer("reject_once")
        await editor.run("Write it")
        await editor.run("Fail")
        await editor.run("/mode plan")
        await editor.resume(replay=True)
        await editor.request("session/list", {"cwd": str(project)})
        await editor.request("session/close", {"sessionId": editor.session})
        return [*editor.transcript]


CAPABILITIES: Json = {"session": {"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}}, "plan": {}}

CONVERSATIONS: Mapping[str, Run] = {"protocol-1": in_protocol_1, "protocol-2": in_protocol_2}
"""By the name of their file."""


def prepare(folder: Path) -> tuple[Path, Path]:
    """A project and a home."""
    project, home = folder / "project", folder / "home"
    project.mkdir(parents=True)
    home.mkdir()
    (project / "a.txt").write_text("hello\n", encoding="utf-8")
    return project, home
