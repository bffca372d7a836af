"""Prompts of servers as slash commands, and their resources as two tools."""

import pytest

from claw_acp.mcp.prompts import bound
from claw_acp.mcp.server_catalog import PromptArgument
from tests.mcp.support import AUTO, methods, official, raw, ready
from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, shown_text
from tests.support.script_files import Script, call, expect, say, turn

NOTES = [
    {"uri": "note:///1", "name": "first", "description": "The first\nnote", "mimeType": "text/plain"},
    {"uri": "note:///2", "name": "second"},
]
TEMPLATES = [{"uriTemplate": "note:///{id}", "name": "any note"}]
TWO = (PromptArgument(name="file", required=True), PromptArgument(name="style"))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", {}),
        ("a.py", {"file": "a.py"}),
        ("a.py short", {"file": "a.py", "style": "short"}),
        ("a.py very very short", {"file": "a.py", "style": "very very short"}),
        ('"my file.py" short', {"file": "my file.py", "style": "short"}),
        ("style=short a.py", {"file": "a.py", "style": "short"}),
        ('style="very short" file=a.py', {"file": "a.py", "style": "very short"}),
        ("file=a.py file=b.py", {"file": "a.py", "style": "file=b.py"}),
        ("other=1", {"file": "other=1"}),
        ("it's fine", {"file": "it's", "style": "fine"}),
    ],
)
def test_what_follows_a_prompt_is_bound_to_its_arguments(text: str, values: dict[str, str]) -> None:
    assert bound(text, TWO) == values


@pytest.mark.parametrize(
    ("text", "value"),
    [("fix it's bug", "fix it's bug"), ('"all of it"', "all of it"), ("what=this and that", "this and that")],
)
def test_one_argument_alone_is_the_whole_text(text: str, value: str) -> None:
    assert bound(text, (PromptArgument(name="what"),)) == {"what": value}


def _listed(editor: Editor, name: str) -> Json:
    [*_, update] = editor.updates("available_commands_update")
    return next(command for command in update["availableCommands"] if command["name"] == name)


async def test_a_prompt_is_a_command_whose_answer_goes_to_the_model(spawn: Spawn) -> None:
    script = Script(turn(expect("prompt greet(how=very loudly, who=Ada)"), say("hello Ada")))
    async with spawn(script=script) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor)])
        await ready(editor)
        greet = _listed(editor, "raw:greet")
        assert (greet["description"], greet["input"]) == ("Greets (raw)", {"hint": "who [how]"})
        assert (await editor.prompt("/raw:greet Ada very loudly")).text == "hello Ada"


async def test_a_prompt_that_lacks_an_argument_explains_itself(spawn: Spawn) -> None:
    async with spawn(script=Script()) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor)])
        await ready(editor)
        outcome = await editor.prompt("/raw:greet how=loudly")
        assert "prompts/get" not in methods(editor)
    assert "`/raw:greet` needs `who`" in outcome.text
    assert "- `who`: Whom" in outcome.text
    assert "`/raw:greet who=…`" in outcome.text


async def test_a_prompt_that_fails_says_why(spawn: Spawn) -> None:
    async with spawn(script=Script()) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, refuses="prompts/get")])
        await ready(editor)
        assert "the moon is in the wrong house" in (await editor.prompt("/raw:ready")).text


async def test_names_of_prompts_can_be_typed(spawn: Spawn) -> None:
    odd = [{"name": "two words"}, {"name": "two\twords"}, {"name": "größe"}]
    script = Script(turn(expect("prompt two\twords()"), say("done")))
    async with spawn(script=script) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, prompts=odd)])
        await ready(editor)
        names = {command["name"] for command in editor.updates("available_commands_update")[-1]["availableCommands"]}
        assert {"raw:two-words", "raw:two-words_2", "raw:größe"} <= names
        assert (await editor.prompt("/raw:two-words_2")).text == "done"


async def test_resources_are_listed_and_read(spawn: Spawn) -> None:
    script = Script(
        turn(call("mcp_list_resources")),
        turn(call("mcp_read_resource", server="raw", uri="note:///1")),
        turn(say("done")),
    )
    async with spawn(script=script) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, resources=NOTES, templates=TEMPLATES), raw(editor, "plain")])
        await ready(editor, "raw", "plain")
        editor.will_answer("allow_once")
        outcome = await editor.prompt("go")
        [asked] = editor.received("session/request_permission")
    assert "allow_always" not in {option["kind"] for option in asked["params"]["options"]}
    listed, read = outcome.calls
    assert shown_text(listed) == (
        "Server raw:\n"
        "- note:///1 (first): text/plain; The first note\n"
        "- note:///2 (second)\n"
        "- pattern note:///{id} (any note)"
    )
    assert asked["params"]["toolCall"]["toolCallId"] == read["toolCallId"]
    assert read["content"][0]["content"]["resource"]["text"] == "text of note:///1"
    assert outcome.text == "done"


async def test_why_a_resource_cannot_be_read_is_the_servers_words(spawn: Spawn) -> None:
    read = call("mcp_read_resource", server="raw", uri="note:///1")
    script = Script(turn(read), turn(expect("not instructions"), expect("wrong house"), say("done")))
    async with spawn(script=script, config=AUTO) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, resources=NOTES, refuses="resources/read")])
        await ready(editor)
        assert (await editor.prompt("go")).text == "done"


async def test_without_resources_there_are_no_tools_for_them(spawn: Spawn) -> None:
    script = Script(turn(call("mcp_list_resources")), turn(say("done")))
    async with spawn(script=script) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor)])
        await ready(editor)
        outcome = await editor.prompt("go")
    assert "There is no tool named mcp_list_resources" in shown_text(outcome.calls[0])


async def test_a_wrong_server_is_answered_with_the_right_ones(spawn: Spawn) -> None:
    script = Script(
        turn(
            call("mcp_read_resource", server="nobody", uri="note:///1"),
            call("mcp_read_resource", server="raw"),
            call("mcp_list_resources", server="nobody"),
        ),
        turn(say("done")),
    )
    async with spawn(script=script, config=AUTO) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, resources=NOTES)])
        await ready(editor)
        outcome = await editor.prompt("go")
    assert [tool["status"] for tool in outcome.calls] == ["failed"] * 3
    assert "must be one of those that have resources: raw" in shown_text(outcome.calls[0])
    assert "needs `uri`" in shown_text(outcome.calls[1])


async def test_prompts_and_resources_of_an_official_server_work(spawn: Spawn) -> None:
    read = call("mcp_read_resource", server="official", uri="user://Ada/profile")
    script = Script(
        turn(expect("Review a.py in a short way."), call("mcp_list_resources"), read),
        turn(say("done")),
    )
    async with spawn(script=script, config=AUTO) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[official(editor)])
        await ready(editor, "official")
        outcome = await editor.prompt("/official:review a.py short")
    assert outcome.text == "done"
    assert outcome.calls[1]["content"][0]["content"]["resource"]["text"] == "Ada likes tea"
    assert "note://hello" in shown_text(outcome.calls[0])
    assert "pattern user://{name}/profile" in shown_text(outcome.calls[0])
