"""A client that stops reading: the model waits, memory does not grow, and everything still works."""

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, hold, say, turn

pytestmark = pytest.mark.forked

CHUNK, CHUNKS = "x" * 20_000, 800  # 16 MB in all
MEBIBYTE = 1024 * 1024


@pytest.mark.case(29)
async def test_a_stalled_client_holds_the_model_and_can_still_cancel_it(opened: Spawn) -> None:
    script = Script(
        turn(say("start "), hold("gate"), say(*[CHUNK] * CHUNKS), when="flood"),
        turn(say("small"), when="small"),
    )
    async with opened(script=script) as editor:
        await editor.prompt("small")
        other, _ = editor.session, await editor.new_session()
        flood = await editor.start_prompt("flood")
        await editor.wait_for_text("start ")
        before = editor.process.memory().now
        editor.process.pause_reading()
        script.let_go("gate")
        await editor.process.idle()
        assert editor.process.memory().now - before < 8 * MEBIBYTE
        await editor.cancel()
        listing = await editor.start("session/list", {})
        quick = await editor.start_prompt("small", session=other)
        await editor.process.idle()
        editor.process.resume_reading()
        outcome = await flood.outcome()
        assert outcome.stop_reason == "cancelled"
        assert len(outcome.text) < CHUNKS * len(CHUNK) / 4
        assert len((await listing.result())["sessions"]) == 2
        assert (await quick.outcome()).text == "small"


@pytest.mark.case(29)
async def test_after_a_pause_nothing_is_missing(opened: Spawn) -> None:
    parts = [f"{number:05d}" * 2000 for number in range(400)]
    script = Script(turn(say("start "), hold("gate"), say(*parts)))
    async with opened(script=script) as editor:
        flood = await editor.start_prompt("flood")
        await editor.wait_for_text("start ")
        editor.process.pause_reading()
        script.let_go("gate")
        await editor.process.idle()
        editor.process.resume_reading()
        assert (await flood.outcome()).text == "start " + "".join(parts)
