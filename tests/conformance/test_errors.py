"""When something goes wrong, the person can read what, and what to do."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import shown_text
from tests.support.script_files import Script, call, expect, fail, raw_call, say, stop, turn

FAILURES = {
    "RateLimited": -31102,
    "ProviderAuthFailed": -31101,
    "QuotaExceeded": -31103,
    "ContextTooLong": -31104,
    "ProviderUnavailable": -31105,
    "ProviderUnreachable": -31107,
    "MalformedReply": -31109,
    "ModelNotFound": -31111,
    "RequestRejected": -31112,
}


@pytest.mark.rule("kit1.error")
@pytest.mark.case(48)
async def test_every_failure_of_a_model_ends_the_prompt_with_its_words_and_not_the_session(opened: Spawn) -> None:
    turns = [turn(fail(kind, message=f"words of {kind}"), when=kind) for kind in FAILURES]
    script = Script(*turns, turn(say("fine")), loop=True)
    async with opened(script=script) as editor:
        for kind, code in FAILURES.items():
            failure = await (await editor.start_prompt(kind)).failure()
            assert (failure.code, f"words of {kind}" in failure.message) == (code, True)
            assert {"kind": kind, "provider": "scripted"}.items() <= (failure.data or {}).items()
        assert (await editor.prompt("on")).text == "fine"


@pytest.mark.case(48)
async def test_an_answer_that_broke_off_stays_readable_and_the_next_prompt_works(opened: Spawn) -> None:
    script = Script(turn(say("half an"), fail("QuotaExceeded", message="no credit left")), turn(say("whole")))
    async with opened(script=script) as editor:
        prompt = await editor.start_prompt("go")
        assert "no credit left" in (await prompt.failure()).message
        assert "half an" in str(prompt.updates)
        assert (await editor.prompt("on")).stop_reason == "end_turn"


@pytest.mark.rule("prompt.stop-reason", "kit1.prompt")
@pytest.mark.case(48)
@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
async def test_the_models_reason_to_stop_is_the_turns(opened: Spawn, reason: str) -> None:
    async with opened(script=Script(turn(say("so far"), stop(reason)))) as editor:
        assert (await editor.prompt("go")).stop_reason == reason


@pytest.mark.case(48)
async def test_a_turn_that_never_ends_is_stopped_at_its_limit(opened: Spawn) -> None:
    script = Script(turn(call("read_file", path="a.txt")), loop=True)
    async with opened(script=script, config="[limits]\nmax_turn_requests = 3\n") as editor:
        outcome = await editor.prompt("go")
        assert (outcome.stop_reason, len(outcome.calls)) == ("max_turn_requests", 3)


@pytest.mark.rule("tool.status-order")
async def test_calls_that_make_no_sense_fail_with_words_the_model_can_act_on(opened: Spawn) -> None:
    script = Script(
        turn(
            call("no_such_tool", x=1),
            raw_call("read_file", '{"path": "a.t'),
            raw_call("read_file", "[1]"),
            call("read_file", path=7),
            call("read_file", path="missing.txt"),
            call("read_file"),
        ),
        turn(expect("path"), say("I see")),
    )
    async with opened(script=script) as editor:
        outcome = await editor.prompt("go")
    assert outcome.text == "I see"
    assert [tool["status"] for tool in outcome.calls] == ["failed"] * 6
    for tool, word in zip(outcome.calls, ("read_file", "JSON", "object", "path", "missing.txt", "path"), strict=True):
        assert word in shown_text(tool), tool


@pytest.mark.rule("prompt.unadvertised-content", "envelope.invalid-params", "kit1.promptcap")
@pytest.mark.case(41)
async def test_prompts_that_cannot_be_taken_are_refused_with_the_place_in_them(opened: Spawn) -> None:
    wrong: dict[str, Any] = {
        "empty": [],
        "audio": [{"type": "audio", "data": "AAAA", "mimeType": "audio/amr"}],
        "hologram": [{"type": "hologram"}],
        "text": [{"type": "text"}],
        "name": [{"type": "resource_link", "uri": "file:///a"}],
        "prompt": "just text",
        "type": [{}],
    }
    async with opened(script=Script(turn(say("ok")))) as editor:
        for word, prompt in wrong.items():
            failure = await editor.failing("session/prompt", {"sessionId": editor.session, "prompt": prompt})
            assert (failure.code, word in failure.message) == (-32602, True), failure
        assert (await editor.failing("session/prompt", {"prompt": []})).code == -32602
        assert (await editor.prompt("go")).text == "ok"


@pytest.mark.rule("prompt.text-and-links", "kit1.promptcap")
@pytest.mark.case(41)
async def test_every_kind_of_block_on_offer_is_taken_and_replayed(opened: Spawn, project: Path) -> None:
    link = {"type": "resource_link", "uri": f"file://{project}/a.txt", "name": "a.txt", "mimeType": "text/plain"}
    text = {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "embedded", "mimeType": "text/plain"}}
    blob = {"type": "resource", "resource": {"uri": "file:///c.bin", "blob": "AAAA"}}
    image = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    blocks = [{"type": "text", "text": "look at"}, link, text, blob, image]
    async with opened(script=Script(turn(say("seen")))) as editor:
        assert (await editor.prompt(blocks)).text == "seen"
        _, replayed = await editor.load(editor.session)
        asked = [update["content"] for update in replayed if update["sessionUpdate"] == "user_message_chunk"]
        assert asked == blocks


@pytest.mark.case(41)
async def test_images_are_refused_when_the_model_reads_none(opened: Spawn) -> None:
    image = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    async with opened(script=Script(turn(say("ok")), images=False)) as editor:
        failure = await (await editor.start_prompt([image])).failure()
        assert (failure.code, "scripted/play" in failure.message) == (-32602, True)
        assert (await editor.prompt("go")).text == "ok"


@pytest.mark.rule("kit1.error")
async def test_a_database_of_a_newer_version_is_refused_in_words_and_left_alone(spawn: Spawn, home: Path) -> None:
    database = home / "claw" / "claw.db"
    database.parent.mkdir(mode=0o700)
    database.write_bytes(b"this is no database at all, but somebody may still want it\n" * 50)
    before = database.read_bytes()
    async with spawn() as editor:
        await editor.initialize()
        for _ in range(2):
            failure = await editor.failing("session/new", {"cwd": str(editor.project), "mcpServers": []})
            assert (failure.code, str(database) in failure.message) == (-31020, True)
    assert database.read_bytes() == before


@pytest.mark.rule("session.baseline")
async def test_a_broken_configuration_never_stops_the_start(spawn: Spawn) -> None:
    async with spawn(config='mode = "turbo"\nmodell = "x"\n[limits\n') as editor:
        await editor.initialize()
        assert (await editor.new_session())["modes"]["currentModeId"] == "ask"
    assert "config.toml" in editor.process.stderr()
