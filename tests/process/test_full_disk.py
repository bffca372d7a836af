"""A store that cannot be written for a while: the limit of file sizes is as real as a full disk, and can be lifted."""

import resource
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, RpcFailure
from tests.support.script_files import Script, call, hold, say, turn

pytestmark = pytest.mark.spawned


@contextmanager
def _full_disk(editor: Editor) -> Generator[None]:
    """No file of the agent can grow."""
    _limit(editor, 1)
    yield
    _limit(editor, resource.RLIM_INFINITY)


def _limit(editor: Editor, size: int) -> None:
    resource.prlimit(editor.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def _said(updates: list[Json]) -> list[str]:
    return [update["content"]["text"] for update in updates if update["sessionUpdate"].endswith("message_chunk")]


async def _refused(editor: Editor, prompt: str) -> RpcFailure:
    failure = await (await editor.start_prompt(prompt)).failure()
    assert (failure.code, "space" in failure.message) == (-31020, True), failure
    return failure


@pytest.mark.parametrize("failing", [1, 3])
async def test_after_a_failed_write_prompts_are_refused_in_plain_words_until_it_works_again(
    opened: Spawn, failing: int
) -> None:
    broken = turn(say("be", "gun"), hold("gate"), say(", then"), call("read_file", path="a.txt"), when="second")
    script = Script(broken, turn(say("fine")), loop=True)
    async with opened(script=script) as editor:
        await editor.prompt("first")
        prompt = await editor.start_prompt("second")
        await editor.wait_for_text("begun")
        with _full_disk(editor):
            editor.script.let_go("gate")
            failure = await prompt.failure()  # of the audit log, or of the journal
            assert (failure.code in {-31024, -31020}, "space" in failure.message) == (True, True), failure
            for _ in range(failing):
                await _refused(editor, "lost")
            assert _said((await editor.load(editor.session))[1])[:3] == ["first", "fine", "second"]
        assert [(await editor.prompt(text)).text for text in ("third", "fourth")] == ["fine", "fine"]
        _, replayed = await editor.load(editor.session)
    conversation = ["first", "fine", "second", "begun, then", "third", "fine", "fourth", "fine"]
    assert _said(replayed) == conversation
