"""One conversation by every way into the program: each leaves the same journal, whatever stands in front of it."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest
from anyio import to_thread

from claw_acp.config.locations import find_locations
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.events import Event, TextDelta
from claw_acp.core.value import as_dict, replace
from claw_acp.schedule.definition import parse_job
from claw_acp.schedule.opened import OpenSchedules
from claw_acp.session.codec import as_json
from claw_acp.session.journal import Journal
from tests.gateway.conftest import Serve
from tests.gateway.test_chat import chatting, post
from tests.support.editors.editor import Editor
from tests.support.editors.editor_v2 import EditorV2
from tests.support.editors.remote_wires import Profile, remote_editor
from tests.support.program.agent_process import POLL, TIMEOUT
from tests.support.program.processes import run_program
from tests.support.script_files import Script, call, say, think, turn, usage
from tests.support.servers.hub import environment_of
from tests.support.servers.remote_server import RemoteServer

pytestmark = pytest.mark.forked

FIRST, SECOND = "Greet somebody.", "And now?"
JOB = "first"
SCRIPT = Script(
    turn(
        think("A file."), say("Read", "ing."), call("read_file", path="a.txt"), usage(input_tokens=9, output_tokens=2)
    ),
    turn(call("write_file", path="new.txt", content="hello, you\n"), usage(input_tokens=20, output_tokens=4)),
    turn(say("Written."), usage(input_tokens=30, output_tokens=1)),
    turn(say("Nothing", " more."), usage(input_tokens=40, output_tokens=3)),
)


class House:
    """A home, the project that all work in, and perhaps a server of that home."""

    def __init__(self, home: Path, project: Path, server: RemoteServer | None = None) -> None:
        self.files = home / "claw"
        self.home = home
        self.project = project
        self._server = server

    @property
    def server(self) -> RemoteServer:
        assert self._server is not None
        return self._server


Way: TypeAlias = Callable[[House], Awaitable[str]]


async def talk(editor: Editor, mode: str | None = None) -> str:
    """The conversation in an editor that is connected; returns the session."""
    await editor.initialize()
    await editor.new_session()
    editor.will_answer("allow_once")
    if mode is not None:
        await editor.request("session/set_mode", {"sessionId": editor.session, "modeId": mode})
    for prompt in (FIRST, SECOND):
        await (editor.run(prompt) if isinstance(editor, EditorV2) else editor.prompt(prompt))
    return editor.session


async def over_stdio(house: House, kind: type[Editor] = Editor) -> str:
    async with kind.spawned(project=house.project, home=house.home, script=SCRIPT) as opened:
        return await talk(opened)


async def over_network(house: House, profile: Profile, mode: str | None = None) -> str:
    async with remote_editor(house.server, profile, project=house.project, script=SCRIPT) as opened:
        return await talk(opened, mode)


async def by_command(house: House) -> str:
    run = partial(run_program, cwd=house.project, env=environment_of(house.home))
    for prompt in (["--yes", FIRST], ["--continue", SECOND]):
        done = await to_thread.run_sync(partial(run, "run", "--json", *prompt))
        assert done.returncode == 0, done
    return json.loads(done.stdout.splitlines()[-1])["sessionId"]


async def by_websocket_chat(house: House) -> str:
    session: Mapping[str, str] = {"cwd": str(house.project)}
    async with chatting(house.server) as chat:
        for prompt in (FIRST, SECOND):
            await chat.send(type="message", message=prompt, **session)
            frame = await chat.next()
            session = {"session": frame["session"]}
            while frame["type"] != "done":
                if frame["type"] == "permission":
                    (once,) = (each["id"] for each in frame["options"] if each["kind"] == "allow_once")
                    await chat.send(type="permission", id=frame["id"], option=once)
                frame = await chat.next()
    return session["session"]


async def by_one_shot_chats(house: House) -> str:
    session: Mapping[str, str] = {"cwd": str(house.project), "mode": "edit"}
    async with house.server.http() as client:
        for prompt in (FIRST, SECOND):
            answer = await post(client, house.server, message=prompt, **session)
            session = {"session": answer.json()["session"]}
    return session["session"]


async def by_schedule(house: House) -> str:
    """A job with a session of its own, and another one that goes on in it."""
    session: Mapping[str, str] = {"mode": "edit"}
    async with OpenSchedules.opened(find_locations({"CLAW_ACP_HOME": str(house.files)})) as schedules:
        for name, prompt in ((JOB, FIRST), ("second", SECOND)):
            fields = {"cwd": str(house.project), "prompt": prompt, "every": "1h", **session}
            stored = await schedules.jobs.add(parse_job(name, fields, now=SYSTEM_CLOCK.now()), source="user")
            await schedules.jobs.request(stored)
            schedules.tell_of_changes()
            session = {"session": await _run_of(schedules, name)}
            await schedules.jobs.remove(stored.id)
    return session["session"]


async def _run_of(schedules: OpenSchedules, name: str) -> str:
    """The session of a job's run, once that has succeeded."""
    with anyio.fail_after(TIMEOUT):
        while True:
            runs = await schedules.history.of_name(name, limit=1)
            if runs and runs[0].status == "succeeded" and runs[0].session_id:
                return runs[0].session_id
            await anyio.sleep(POLL)


ATTENDED: Mapping[str, Way] = {
    "a bridge": over_stdio,
    "a bridge, protocol 2": partial(over_stdio, kind=EditorV2),
    "claw-acp run": by_command,
    "WebSocket": partial(over_network, profile="websocket"),
    "HTTP": partial(over_network, profile="http2"),
    "/ws/chat": by_websocket_chat,
}
UNATTENDED: Mapping[str, Way] = {"/api/chat": by_one_shot_chats, "a schedule": by_schedule}


async def story(house: House, way: Way) -> list[Any]:
    """The facts and the journal of the session that one way leaves, without ids, times and the title of a job."""
    (house.project / "new.txt").unlink(missing_ok=True)
    session = await way(house)
    assert (house.project / "new.txt").read_text() == "hello, you\n"
    async with Journal.opened(house.files / "claw.db") as journal:
        record, events = await journal.get(session), await journal.read(session)
    facts = as_dict(record)
    for name in ("id", "created_at", "updated_at", "archived"):
        del facts[name]
    if record.title == JOB:
        facts["title"] = FIRST
    names = {record.id: "the session"}
    return [facts, *(_plain(event, names) for event in _merged(events))]


def _merged(events: Sequence[Event]) -> list[Event]:
    """Events whose adjacent pieces of text are one: what is committed together is stored together."""
    merged: list[Event] = []
    for event in events:
        before = merged[-1] if merged else None
        if isinstance(event, TextDelta) and isinstance(before, TextDelta) and before.item == event.item:
            merged[-1] = replace(before, text=before.text + event.text)
        else:
            merged.append(event)
    return merged


def _plain(event: Event, names: dict[str, str]) -> dict[str, Any]:
    """An event with numbers for ids, and without the time of day."""
    kind, body = as_json(event)
    names.setdefault(event.item, f"{kind} {len(names)}")
    text = json.dumps({"type": kind, "item": event.item, **body}, sort_keys=True)
    for known, name in names.items():
        text = text.replace(known, name) if known else text
    return json.loads(re.sub(r"It is \w+ [-\d]+ [:\d]+ ", "It is then ", text))


async def test_a_conversation_leaves_the_same_journal_by_all_ways(
    serve: Serve, project: Path, home: Path, tmp_path: Path
) -> None:
    alone = House(tmp_path / "alone", project)
    alone.home.mkdir()
    expected = await story(alone, over_stdio)
    kinds = [event["type"] for event in expected[1:]]
    assert {kind: kinds.count(kind) for kind in ("message", "usage", "files", "state")} == {
        "message": 6, "usage": 4, "files": 2, "state": 4
    }  # fmt: skip
    assert await story(alone, partial(over_stdio, kind=EditorV2)) == expected
    async with serve(script=SCRIPT) as server:
        house = House(home, project, server)
        for name, way in ATTENDED.items():
            assert await story(house, way) == expected, name
        unasked = await story(house, partial(over_network, profile="websocket", mode="edit"))
        for name, way in UNATTENDED.items():
            assert await story(house, way) == unasked, name
        log = (house.files / "log" / "claw-acp.log").read_text()
        assert log.count('"role": "editor"') == 4, "the bridges, and the agents of two commands"
