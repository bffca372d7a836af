"""Slash commands as an editor meets them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, spoken
from tests.support.foreign.models import conversation
from tests.support.script_files import Script, expect, say, turn
from tests.support.servers.model_server import ModelServer
from tests.support.trust import trust_all

NOTICES: Json = {"session": {"notices": {}}}


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _listed(editor: Editor) -> dict[str, Json]:
    return {
        command["name"]: command for command in editor.updates("available_commands_update")[-1]["availableCommands"]
    }


@asynccontextmanager
async def _model() -> AsyncGenerator[tuple[ModelServer, Json]]:
    """A model over HTTP, and how an editor is spawned that uses it."""
    async with ModelServer() as server:
        env = {"OPENAI_API_KEY": "sk-test-0123456789abcdef", "OPENAI_BASE_URL": server.openai_url}
        yield server, {"config": 'model = "openai/test-model"\n', "env": env}


def _told(server: ModelServer) -> list[str]:
    """The conversation in the last request, without the instructions and what the program tells of the moment."""
    return [str(message["content"]) for message in conversation(server.requests[-1])]


async def test_prompt_files_are_listed_with_our_own_commands(opened: Spawn, project: Path, home: Path) -> None:
    _write(project, ".claw/commands/git/fix.md", "---\ndescription: Fix\nargument-hint: [issue]\n---\nFix $1")
    _write(home, ".claude/commands/mine.md", "Mine")
    _write(home, "claw/commands/also.md", "Also")
    async with opened(script=Script(turn())) as editor:
        await editor.wait_for(lambda: editor.updates("available_commands_update"), "the commands")
        listed = _listed(editor)
        assert listed["git:fix"] == {"name": "git:fix", "description": "Fix (project)", "input": {"hint": "[issue]"}}
        assert {"help", "mine", "also"} < set(listed)
        assert len(editor.updates("available_commands_update")) == 1


async def test_the_model_is_told_what_a_command_stands_for_and_people_see_their_own_words(
    opened: Spawn, spawn: Spawn, project: Path, home: Path
) -> None:
    _write(project, ".claw/commands/fix.md", "Fix issue $1 of $ARGUMENTS.")
    trust_all(project, home=home)
    script = Script(turn(expect("Fix issue 12 of 12 today."), say("fixed")), turn(expect("and now?"), say("done")))
    async with opened(script=script) as editor:
        assert (await editor.prompt("/fix 12 today")).text == "fixed"
        assert (await editor.prompt("and now?")).text == "done"
        session = editor.session
        assert editor.updates("session_info_update")[-1]["title"] == "/fix 12 today"
        await editor.prompt("/export talk.md")
    async with spawn(script=script) as editor:
        await editor.initialize()
        _, replayed = await editor.load(session)
        assert spoken(replayed, "user_message_chunk") == "/fix 12 todayand now?/export talk.md"
    exported = (project / "talk.md").read_text()
    assert "/fix 12 today" in exported
    assert "What it stands for" in exported
    assert "Fix issue 12 of 12 today." in exported


async def test_what_a_command_stood_for_is_told_again_after_a_restart(
    opened: Spawn, spawn: Spawn, project: Path, home: Path
) -> None:
    _write(project, ".claw/commands/fix.md", "Fix issue $1.")
    trust_all(project, home=home)
    async with _model() as (server, options):
        server.will_say("fixed")
        server.will_say("yes")
        async with opened(**options) as editor:
            await editor.prompt("/fix 12")
        async with spawn(**options) as again:
            await again.initialize()
            await again.load(editor.session)
            await again.prompt("sure?")
        assert _told(server) == ["Fix issue 12.", "fixed", "sure?"]


async def test_what_is_attached_to_a_command_goes_with_it(opened: Spawn, project: Path, home: Path) -> None:
    _write(project, ".claw/commands/fix.md", "Fix issue $1.")
    trust_all(project, home=home)
    attached: Json = {"uri": "file:///x.txt", "mimeType": "text/plain", "text": "the text of the file"}
    async with _model() as (server, options), opened(**options) as editor:
        server.will_say("fixed")
        await editor.prompt([{"type": "text", "text": "/fix 12 "}, {"type": "resource", "resource": attached}])
        (told,) = _told(server)
        assert "Fix issue 12." in told
        assert "the text of the file" in told
        assert "/fix" not in told


async def test_a_prompt_file_that_changes_counts_with_the_next_prompt(opened: Spawn, project: Path, home: Path) -> None:
    script = Script(turn(say("hello")), turn(expect("New words"), say("done")), turn(say("what?")))
    async with opened(script=script) as editor:
        await editor.prompt("hi")
        assert "fix" not in _listed(editor)
        path = _write(project, ".claude/commands/fix.md", "New words")
        trust_all(project, home=home)
        assert (await editor.prompt("/fix")).text == "done"
        assert "fix" in _listed(editor)
        path.unlink()
        assert "There is no command /fix." in (await editor.prompt("/fix")).text
        assert "fix" not in _listed(editor)


async def test_broken_prompt_files_are_told_of_and_harm_nothing(opened: Spawn, project: Path, home: Path) -> None:
    folder = project / ".claw/commands"
    _write(folder, "good.md", "Good")
    trust_all(project, home=home)
    _write(folder, "review.md", "Mine")
    _write(folder, "head.md", "---\ndescription: x\n")
    (folder / "bytes.md").write_bytes(b"\xff\xff")
    async with opened(script=Script(turn(say("ok")), loop=True), capabilities=NOTICES) as editor:
        await editor.wait_for(lambda: editor.updates("available_commands_update"), "the commands")
        told = [notice["title"] for notice in editor.updates("notice")]
        assert [Path(text.partition(": ")[0]).name for text in told] == ["bytes.md", "head.md", "review.md"]
        assert _listed(editor)["review"]["description"].startswith("Review the uncommitted changes")
        assert (await editor.prompt("/good")).text == "ok"
        assert len(editor.updates("notice")) == 3
        _write(folder, "late.md", "")
        await editor.prompt("/good")
        assert editor.updates("notice")[3]["title"].endswith("late.md: it holds no prompt")


async def test_help_lists_commands_by_origin_and_says_how_the_session_is_set(
    opened: Spawn, project: Path, home: Path
) -> None:
    _write(project, ".claw/commands/fix.md", "---\ndescription: A | B\n---\nFix")
    _write(home, ".claude/commands/mine.md", "Mine")
    async with opened(script=Script(turn())) as editor:
        text = (await editor.prompt("/help")).text
        titles = [line for line in text.splitlines() if line.startswith("**")]
        origins = ["Built in", "Your own", "From this project", "From skills", "From subagents", "From memory"]
        assert titles == [f"**{origin}**" for origin in origins]
        assert "| `/fix` | A \\| B (project) |" in text
        assert "| `/mode [plan\\|ask\\|edit\\|auto]` | Show or switch the mode |" in text
        assert (
            f"This session: mode **ask**, model **scripted/play**, web access **on**, working folder `{project}`."
            in text
        )
        assert (await editor.prompt("/help /fix")).text == "`/fix`: A | B (project)"
        assert (await editor.prompt("/help nothing")).text == "There is no command /nothing."


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("/hlep", 'There is no command /hlep; did you mean "/help"? `/help` shows all commands.'),
        ("/xyzzy", "There is no command /xyzzy. `/help` shows all commands."),
        ("/new", "There is no command /new here: open a new session in your editor; this one is kept."),
        ("  /Help\n", 'There is no command /Help; did you mean "/help"? `/help` shows all commands.'),
    ],
)
async def test_a_command_that_is_none_is_answered_without_the_model(opened: Spawn, typed: str, answer: str) -> None:
    async with opened(script=Script(turn(say("the model")))) as editor:
        assert (await editor.prompt(typed)).text == answer
        assert (await editor.prompt("hi")).text == "the model"


@pytest.mark.parametrize("typed", ["/tmp", "/usr/bin fails", "/hlep me", "//", "/", "/1", "see /help", "/é"])
async def test_whatever_may_be_a_sentence_goes_to_the_model(opened: Spawn, typed: str) -> None:
    async with opened(script=Script(turn(expect(typed), say("the model")))) as editor:
        assert (await editor.prompt(typed)).text == "the model"


async def test_settings_can_be_shown_and_switched_by_commands(opened: Spawn) -> None:
    env = {"CLAW_ACP_MODEL": "scripted/claude-opus-4-5"}
    async with opened(script=Script(turn()), env=env) as editor:
        assert "- `high`: As much as it needs" in (await editor.prompt("/think")).text
        assert (await editor.prompt("/think high")).text == "Thinking is now **high**."
        assert "there is no thinking setting 'enormous'" in (await editor.prompt("/think enormous")).text
        assert (
            await editor.prompt("/web")
        ).text == "Web access **on**. To choose from:\n\n- `on`: Web on\n- `off`: Web off"
        assert (await editor.prompt("/web off")).text == "Web access is now **off**."
        shown = {
            option["id"]: option["currentValue"]
            for option in editor.updates("config_option_update")[-1]["configOptions"]
        }
        assert (shown["thought_level"], shown["web"]) == ("high", "off")
        assert (await editor.prompt("/mode plan")).text == "Mode is now **plan**."
        assert (await editor.prompt("/permissions")).text.startswith("Mode **plan**: Reads and plans; changes nothing.")
        await editor.prompt("/model offline/assistant")
        assert "has no setting for how long it thinks" in (await editor.prompt("/think high")).text


async def test_a_session_can_be_copied_and_both_go_on(opened: Spawn) -> None:
    script = Script(turn(say("one")), turn(say("two")), turn(say("three")), loop=True)
    async with opened(script=script) as editor:
        await editor.prompt("first words")
        text = (await editor.prompt("/fork")).text
        copy = text.split("`")[1]
        assert copy.startswith("ses_")
        assert copy != editor.session
        listed = {info["sessionId"]: info for info in (await editor.request("session/list", {}))["sessions"]}
        assert listed[copy]["title"] == "first words (fork)"
        assert (await editor.request("session/status", {"sessionId": copy}))["status"] == "saved"
        assert (await editor.prompt("here")).text == "two"
        _, replayed = await editor.load(copy)
        assert spoken(replayed, "user_message_chunk") == "first words"
        assert (await editor.prompt("there")).text == "two"


async def test_a_session_can_be_renamed_by_a_command(opened: Spawn) -> None:
    async with opened(script=Script(turn(say("hi")))) as editor:
        assert (await editor.prompt("/rename")).text == "It has no title yet."
        assert (await editor.prompt("/rename  My   plan ")).text == "This session is now called **My plan**."
        assert editor.updates("session_info_update")[-1]["title"] == "My plan"
        await editor.prompt("hello")
        assert (await editor.prompt("/rename")).text == "This session is called **My plan**."
        assert "Nothing changed: a title needs" in (await editor.prompt("/rename \u200b")).text
