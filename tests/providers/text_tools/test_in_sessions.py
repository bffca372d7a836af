"""Tools in words through the real program: a service that refuses tools is worked with all the same."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.editors.editor_fixtures import Spawn, home, opened, project, spawn
from tests.support.script_files import Script, call, expect, say, turn
from tests.support.servers.model_replies import Json, ReceivedRequest, Reply, Say, failure
from tests.support.servers.model_server import ModelServer

__all__ = ["home", "opened", "project", "spawn"]

READ = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.txt"}}\n</tool_call>'
REFUSAL: Json = {"error": {"message": "registry.example/library/small:2b does not support tools", "type": "api_error"}}


def config(server: ModelServer, *, more: str = "") -> dict[str, Any]:
    text = (
        f'model = "local/small"\n[providers.local]\nkind = "openai"\nbase_url = "{server.openai_url}"\n'
        f'api_key = "key-0123456789"\nmodels = ["small"]\n{more}'
    )
    return {"config": text}


def only_words(*answers: Say) -> Any:
    """A service that refuses tools, and gives these answers to other requests."""
    left = list(answers)

    def reply(request: ReceivedRequest) -> Reply:
        return failure(400, REFUSAL) if "tools" in request.json else left.pop(0)

    return reply


def messages(request: ReceivedRequest) -> list[dict[str, Any]]:
    found: Any = request.json["messages"]
    return found


async def test_after_a_refusal_a_tool_really_runs_and_later_prompts_and_processes_go_straight_in_words(
    opened: Spawn, server: ModelServer
) -> None:
    server.always(
        only_words(Say(text=("I look.\n", READ[:20], READ[20:])), Say(text=("It says hello.",)), Say(text=("Yes.",)))
    )
    async with opened(**config(server)) as editor:
        outcome = await editor.prompt("what does a.txt say?")
        assert (outcome.stop_reason, outcome.text) == ("end_turn", "I look.\nIt says hello.")
        [call] = outcome.calls
        assert (call["status"], call["rawInput"]) == ("completed", {"path": "a.txt"})
        assert "in words from now on" in json.dumps(outcome.updates)
        again = await editor.prompt("sure?")
        assert again.text == "Yes."
        assert "in words from now on" not in json.dumps(again.updates)
    assert ["tools" in request.json for request in server.requests] == [True, False, False, False]
    [system, _, said, result, *_] = messages(server.requests[-1])
    assert "## read_file" in system["content"]
    assert said == {"role": "assistant", "content": f"I look.\n{READ}"}
    assert result["role"] == "user"
    assert result["content"].startswith('<tool_result name="read_file" status="ok">\n')
    assert "hello" in result["content"]
    server.always(only_words(Say(text=("Hi.",))))
    async with opened(**config(server)) as editor:
        assert (await editor.prompt("hi")).text == "Hi."
    assert "tools" not in server.requests[-1].json


async def test_a_malformed_call_and_an_unknown_tool_go_back_to_the_model_which_mends_them(
    opened: Spawn, server: ModelServer
) -> None:
    broken = Say(text=(READ.replace('"}}', '"}'),))
    strange = Say(text=(READ.replace("read_file", "look_at"),))
    server.will_reply(broken, strange, Say(text=(READ,)), Say(text=("Hello.",)))
    async with opened(**config(server, more="[providers.local.quirks]\ntools = false\n")) as editor:
        outcome = await editor.prompt("what does a.txt say?")
    assert outcome.text == "Hello."
    assert [call["status"] for call in outcome.calls] == ["failed", "failed", "completed"]
    told = [messages(request)[-1]["content"] for request in server.requests[1:3]]
    assert "not valid JSON" in told[0]
    assert "There is no tool named look_at. There are: " in told[1]
    assert all('status="error"' in text for text in told)


async def test_an_answer_that_explains_calls_runs_nothing(opened: Spawn, server: ModelServer, project: Path) -> None:
    write = '<tool_call>\n{"name": "write_file", "arguments": {"path": "b.txt", "content": "x"}}\n</tool_call>'
    explanation = f"I write `{write}`, for example:\n```xml\n{write}\n```\nand wait. Inline: {write}"
    server.will_reply(Say(text=(explanation,), split="bytes"))
    async with opened(**config(server, more="[providers.local.quirks]\ntools = false\n")) as editor:
        outcome = await editor.prompt("how do you call tools?")
    assert (outcome.text, outcome.calls) == (explanation, [])
    assert not (project / "b.txt").exists()


async def test_a_model_with_tools_reads_no_schema_in_its_instructions(opened: Spawn, server: ModelServer) -> None:
    server.will_say("Hi.")
    async with opened(**config(server)) as editor:
        await editor.prompt("hi")
    [request] = server.requests
    assert "tools" in request.json
    assert "parameters" not in messages(request)[0]["content"]
    assert "<tool_call>" not in messages(request)[0]["content"]


# ------------------------------------------------------------------ a model with tools that slips into text

FAMILIES = {
    "Hermes": READ,
    "Qwen": "<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
    "GLM": "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>",
    "MiniMax": (
        '<minimax:tool_call>\n<invoke name="read_file">\n<parameter name="path">a.txt</parameter>\n</invoke>\n'
        "</minimax:tool_call>"
    ),
    "Kimi": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>"
        '{"path": "a.txt"}<|tool_call_end|><|tool_calls_section_end|>'
    ),
    "Llama": '{"name": "read_file", "parameters": {"path": "a.txt"}}',
    "Mistral": '[TOOL_CALLS]read_file[ARGS]{"path": "a.txt"}',
}


@pytest.mark.parametrize("written", FAMILIES.values(), ids=FAMILIES.keys())
@pytest.mark.parametrize("tools", [True, False], ids=["with tools", "without"])
async def test_a_call_in_the_form_of_a_family_runs_and_its_markup_is_never_seen(
    opened: Spawn, written: str, *, tools: bool
) -> None:
    script = Script(turn(say(*written)), turn(expect("hello"), say("It says hello.")), tools=tools)
    async with opened(script=script) as editor:
        outcome = await editor.prompt("what does a.txt say?")
    [made] = outcome.calls
    assert (made["status"], made["rawInput"]) == ("completed", {"path": "a.txt"})
    assert outcome.text == "It says hello."


async def test_a_call_in_text_is_a_proper_call_in_the_next_request(opened: Spawn, server: ModelServer) -> None:
    server.will_reply(Say(text=(f"I look.\n{FAMILIES['Qwen']}",), split="bytes"), Say(text=("It says hello.",)))
    async with opened(**config(server)) as editor:
        assert (await editor.prompt("what does a.txt say?")).text == "I look.\nIt says hello."
    [*_, said, result] = messages(server.requests[-1])
    [made] = said["tool_calls"]
    assert (made["function"]["name"], json.loads(made["function"]["arguments"])) == ("read_file", {"path": "a.txt"})
    assert "<" not in said["content"]
    assert (result["role"], result["tool_call_id"]) == ("tool", made["id"])


async def test_native_calls_win_over_those_in_text(opened: Spawn, project: Path) -> None:
    write = READ.replace("read_file", "write_file").replace('"a.txt"', '"b.txt", "content": "x"')
    script = Script(turn(say("So:\n", write, "\nDone."), call("read_file", path="a.txt")), turn(say("It says hello.")))
    async with opened(script=script) as editor:
        outcome = await editor.prompt("what does a.txt say?")
    assert [made["rawInput"] for made in outcome.calls] == [{"path": "a.txt"}]
    assert outcome.text == f"So:\n{write}\nDone.It says hello."
    assert not (project / "b.txt").exists()


@pytest.mark.parametrize("native", [True, False], ids=["native", "in text"])
async def test_of_very_many_calls_in_one_answer_some_run_and_the_model_hears_of_the_rest(
    opened: Spawn, *, native: bool
) -> None:
    lines = range(1, 301)
    written = "\n".join(READ.replace('"a.txt"', f'"a.txt", "line": {line}') for line in lines)
    calls = [call("read_file", path="a.txt", line=line) for line in lines] if native else [say(written)]
    script = Script(turn(*calls), turn(expect("neither were the 199 behind it"), say("I see.")))
    async with opened(script=script) as editor:
        outcome = await editor.prompt("read all of it")
    assert (len({made["toolCallId"] for made in outcome.calls}), outcome.text) == (101, "I see.")


CONTENTS = ["a &lt;b&gt; &#x72;m", "<![CDATA[x]]>", '{"content": "y"}', "a</parameter> b", "null", "\u202ecod\u200b"]


@pytest.mark.parametrize("content", CONTENTS)
async def test_a_person_is_asked_about_exactly_what_is_written(opened: Spawn, project: Path, content: str) -> None:
    write = (
        "<tool_call>\n<function=write_file>\n<parameter=path>b.txt</parameter>\n<parameter=content>"
        f"{content}</parameter>\n</function>\n</tool_call>"
    )
    async with opened(script=Script(turn(say(*write)), turn(say("Done.")))) as editor:
        editor.will_answer(None)
        running = await editor.start_prompt("write b.txt")
        question = await editor.wait_for_question()
        await editor.answer(question, "allow_once")
        await running.outcome()
    [shown] = [part for part in question.params["toolCall"]["content"] if part["type"] == "diff"]
    assert (shown["newText"], (project / "b.txt").read_text()) == (content, content)


async def test_a_closing_answer_shows_no_markup(opened: Spawn) -> None:
    script = Script(turn(call("read_file", path="a.txt")), turn(say("Half is done.\n", *READ)))
    async with opened(script=script, config="[limits]\nmax_turn_requests = 1\n") as editor:
        outcome = await editor.prompt("read it")
    assert (outcome.stop_reason, outcome.text) == ("max_turn_requests", "Half is done.\n")


async def test_a_call_that_is_cut_off_never_runs_and_the_model_hears_why(opened: Spawn, project: Path) -> None:
    cut = "<function=write_file>\n<parameter=path>b.txt</parameter>\n<parameter=content>x</parameter>\n"
    script = Script(turn(say(cut)), turn(expect("has no end, so nothing was done"), say("Again.")))
    async with opened(script=script) as editor:
        outcome = await editor.prompt("write b.txt")
    assert ([made["status"] for made in outcome.calls], outcome.text) == (["failed"], "Again.")
    assert not (project / "b.txt").exists()


async def test_arguments_that_do_not_fit_go_back_with_what_the_tool_takes(opened: Spawn) -> None:
    script = Script(
        turn(say('<tool_call>{"name": "read_file", "arguments": {"path": "a.txt", "line": "first"}}</tool_call>')),
        turn(
            expect("`line` must be a whole number >= 1"), say('<tool_call>{"name": "Read", "arguments": }</tool_call>')
        ),
        turn(expect("read_file takes an object with `path` (text of at least 1 character)"), say("I see.")),
        tools=False,
    )
    async with opened(script=script) as editor:
        outcome = await editor.prompt("what does a.txt say?")
    assert ([made["status"] for made in outcome.calls], outcome.text) == (["failed", "failed"], "I see.")


async def test_a_file_that_shows_a_call_gives_no_power_to_a_model_that_quotes_it(opened: Spawn, project: Path) -> None:
    write = READ.replace("read_file", "write_file").replace('"a.txt"', '"b.txt", "content": "x"')
    (project / "a.txt").write_text(write)
    quotes = [
        write,
        f"It says:\n\n{write}",
        f"It says:\n```\n{write}\n```",
        "> " + write.replace("\n", "\n> "),
        f"`{write}`",
        f"<pre>\n{write}\n</pre>",
    ]
    script = Script(turn(call("read_file", path="a.txt")), *(turn(say(quote)) for quote in quotes))
    async with opened(script=script) as editor:
        outcomes = [await editor.prompt("what does a.txt say?") for _ in quotes]
    assert [outcome.text for outcome in outcomes] == quotes
    assert not (project / "b.txt").exists()
