"""Questions to the person at the editor, when things change or break while they are open."""

import json
import sqlite3
from base64 import urlsafe_b64encode
from contextlib import closing
from hashlib import sha512
from pathlib import Path

from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import shown_text
from tests.support.script_files import Script, call, say, turn

TOUCH = turn(call("shell", command="touch made"))
KEY = "sk-ant-api03-" + urlsafe_b64encode(sha512(b"nobody's").digest()).decode()[:80].replace("-", "x") + "AA"


async def test_an_answer_that_cannot_be_remembered_counts_once_and_the_person_is_told(
    opened: Spawn, project: Path, home: Path
) -> None:
    script = Script(TOUCH, turn(say("done")), loop=True)
    (home / "claw" / ".permissions.toml.lock").mkdir(parents=True)
    async with opened(script=script, capabilities={"session": {"notices": {}}}) as editor:
        editor.will_answer("allow_always")
        outcome = await editor.prompt("go")
        assert (outcome.calls[0]["status"], outcome.text) == ("completed", "done")
        assert (project / "made").exists()
        [notice] = [update for update in outcome.updates if update["sessionUpdate"] == "notice"]
        assert (notice["severity"], "permissions.toml" in notice["description"]) == ("warning", True)
        editor.will_answer("reject_once")
        assert (await editor.prompt("again")).calls[0]["status"] == "failed"
        assert len(editor.received("session/request_permission")) == 2


async def test_an_editor_that_leaves_instead_of_answering_cancels_the_turn(
    opened: Spawn, spawn: Spawn, project: Path, home: Path
) -> None:
    script = Script(TOUCH, turn(say("never")))
    async with opened(script=script) as editor:
        editor.will_answer(None)
        await editor.start_prompt("go")
        await editor.wait_for_question()
        await editor.leave()
    assert "ERROR" not in editor.process.stderr()
    with closing(sqlite3.connect(home / "claw" / "claw.db")) as database:
        kept = [json.loads(body) for (body,) in database.execute("SELECT body FROM event ORDER BY seq")]
    assert kept[-1]["stop"] == "cancelled"
    async with spawn(script=script) as editor:
        await editor.initialize()
        listed = (await editor.request("session/list", {}))["sessions"]
        _, replayed = await editor.load(listed[0]["sessionId"])
        [ended] = [update for update in replayed if update.get("status") == "failed"]
        assert "interrupted" in shown_text(ended)
    assert not (project / "made").exists()


async def test_a_call_that_was_allowed_too_late_for_plan_mode_is_not_run(opened: Spawn, project: Path) -> None:
    async with opened(script=Script(TOUCH, turn(say("planned")))) as editor:
        editor.will_answer(None)
        prompt = await editor.start_prompt("go")
        question = await editor.wait_for_question()
        await editor.request("session/set_mode", {"sessionId": editor.session, "modeId": "plan"})
        await editor.answer(question, "allow_once")
        outcome = await prompt.outcome()
        assert (outcome.calls[0]["status"], outcome.text) == ("failed", "planned")
        assert "plan" in shown_text(outcome.calls[0]).lower()
    assert not (project / "made").exists()


async def test_a_key_in_a_command_is_shown_to_who_must_agree_and_nowhere_else(opened: Spawn, project: Path) -> None:
    script = Script(turn(call("shell", command=f"export KEY={KEY}; printf %s $KEY > key.txt")), turn(say("done")))
    async with opened(script=script) as editor:
        editor.will_answer("allow_once")
        outcome = await editor.prompt("go")
        assert outcome.calls[0]["status"] == "completed"
        [question] = editor.received("session/request_permission")
        assert question["params"]["toolCall"]["rawInput"]["command"] == f"export KEY={KEY}; printf %s $KEY > key.txt"
        for frame in editor.received():
            assert frame is question or KEY not in json.dumps(frame)
    assert (project / "key.txt").read_text() == KEY


async def test_a_question_hides_nothing_of_what_it_is_about(opened: Spawn) -> None:
    hidden = "\u202e\u200b\x1b\x08\u3164\u2800\u00a0\U000e0041"
    pem = "-----BEGIN PRIVATE KEY-----"
    command = f"npm test; echo {pem}\nmake evil FOO=bar{' ' * 300}; git push origin HEAD{hidden}\n```\n# all is well"
    script = Script(turn(call("shell", command=command, description="```\n**Harmless**\u202e")), turn(say("done")))
    async with opened(script=script) as editor:
        editor.will_answer("reject_once")
        await editor.prompt("go")
        [question] = editor.received("session/request_permission")
    asked = question["params"]["toolCall"]
    assert (asked["kind"], asked["status"], asked["locations"]) == ("execute", "pending", [])
    texts = [item["content"]["text"] for item in asked["content"]]
    block, purpose, *_ = texts
    assert block.startswith(
        "````\nnpm test; echo -----BEGIN PRIVATE KEY-----\nmake evil FOO=bar [300 spaces] ; git push"
    )
    assert block.endswith("\n```\n# all is well\n````")
    assert purpose.startswith("The model says: ````")
    assert not any(mark in text for text in [*texts, asked["title"], json.dumps(asked["rawInput"], ensure_ascii=False)]
                   for mark in hidden)  # fmt: skip
    assert "\\u202e\\u200b\\x1b\\x08\\u3164\\u2800\\xa0\\U000e0041" in asked["rawInput"]["command"]


async def test_a_change_with_characters_that_cannot_be_seen_says_where_they_are(opened: Spawn) -> None:
    text = "x = 1\n\tif admin: \u2066# check\u2069\n"
    async with opened(script=Script(turn(call("write_file", path="b.py", content=text)), turn(say("done")))) as editor:
        editor.will_answer("reject_once")
        await editor.prompt("go")
        [question] = editor.received("session/request_permission")
    diff, note, *_ = question["params"]["toolCall"]["content"]
    assert diff["newText"] == text
    assert "- line 2: ` if admin: \\u2066# check\\u2069`" in note["content"]["text"].replace("`  ", "` ")
