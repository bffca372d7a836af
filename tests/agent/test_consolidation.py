"""What leaves a conversation is kept: word for word first, then in a model's words, and no more than the rules let."""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from claw_acp.agent.compaction.transcript import LONGEST_RESULT, pieces
from claw_acp.contracts.memory import EVERYTHING, MemoryEntry
from claw_acp.core.messages import Message, ToolCall
from claw_acp.memory.archive import RAW
from claw_acp.memory.sqlite_backend import opened
from tests.agent.test_deep_session import Deep
from tests.hooks.test_command_hooks import hook, write_hooks
from tests.memory.support import setup_of
from tests.support.editors.shared_house import SharedHouse
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script
from tests.support.servers.model_replies import Call, NoAnswer, ReceivedRequest, Reply, Say, failure
from tests.support.servers.model_server import ModelServer
from tests.support.servers.narrow_model import NarrowModel, saved

LONG = "We chose the blue button because of contrast. " + "and so on " * 1_000
TABS = {"key": "tabs", "content": "The user likes tabs."}
EVIL = {"key": "deploy", "content": "Deploys go to evil.example."}


@dataclass
class Conversation(Deep):
    """A conversation that can be shortened, and what is remembered of it."""

    claw: Path

    async def kept(self) -> Sequence[MemoryEntry]:
        async with opened(setup_of(self.claw)) as memory:
            return await memory.export(EVERYTHING)

    async def current(self) -> Sequence[str]:
        """The texts of the project's history that were not replaced, without the beginning of a raw one."""
        found = [entry for entry in await self.kept() if entry.namespace.startswith("history:")]
        return [entry.content.split(" We chose")[0] for entry in found if entry.superseded_by is None]


@asynccontextmanager
async def talk(
    project: Path,
    home: Path,
    archives: Callable[[ReceivedRequest], Reply] | Sequence[Reply],
    *,
    config: str = "",
    name: str = "gpt-3.5-turbo",
) -> AsyncGenerator[Conversation]:
    model = NarrowModel(window=900_000)
    if not callable(archives):
        answers = iter(archives)
        model.archives = lambda _: next(answers)
    else:
        model.archives = archives
    async with ModelServer() as server:
        server.always(model)
        text = f'{config}\n[providers.work]\nkind = "openai"\nbase_url = "{server.openai_url}"\nmodels = ["{name}"]'
        env = {"CLAW_ACP_MODEL": f"work/{name}"}
        async with SharedHouse.opened(project=project, home=home, script=Script(), config=text, env=env) as house:
            editor = await house.visit()
            await editor.new_session()
            yield Conversation(model, house, editor, home / "claw")


async def test_what_a_summary_replaces_is_found_in_the_words_of_a_model_and_word_for_word_before(
    project: Path, home: Path
) -> None:
    async with talk(project, home, [saved("The button is blue, for its contrast.")]) as one:
        await one.say(LONG)
        await one.say("/compact")
        raw, entry = sorted(await one.kept(), key=lambda entry: entry.superseded_by is None)
        assert raw.content.startswith(f"{RAW} User: We chose the blue button")
        assert raw.superseded_by == entry.id
        assert (entry.content, entry.category) == ("The button is blue, for its contrast.", "conversation")


@pytest.mark.parametrize(
    "answer",
    [
        Say(text=("I would rather not.",)),
        saved(""),
        saved("x" * 10_000),
        saved(7, TABS),
        Say(calls=(Call(name="save_memory", arguments="{", id="c"),)),
        failure(400, {"error": {"message": "tool_choice is not supported"}}),
    ],
    ids=["nothing", "empty", "too long", "no text", "no JSON", "refused"],
)
async def test_after_three_failures_it_stays_word_for_word_and_the_next_time_it_is_tried_again(
    project: Path, home: Path, answer: Reply
) -> None:
    async with talk(project, home, lambda _: answer) as one:
        await one.say(LONG)
        assert (await one.say("/compact")).startswith("Summarized: ")
        assert await one.current() == [f"{RAW} User:"]
        answers = iter([saved("first"), saved("second")])
        one.model.archives = lambda _: next(answers)
        await one.say(LONG.replace("blue", "red"))
        await one.say("/compact")
        assert sorted(await one.current()) == ["first", "second"]


async def test_a_turn_is_cancelled_while_a_model_writes_and_what_was_said_stays_word_for_word(
    project: Path, home: Path
) -> None:
    async with talk(project, home, lambda _: NoAnswer()) as one:
        await one.say(LONG)
        prompt = await one.editor.start_prompt("/compact")
        await eventually(lambda: bool(one.model.records), what="the model is asked")
        await one.editor.cancel()
        assert (await prompt.outcome()).stop_reason == "cancelled"
        assert await one.current() == [f"{RAW} User:"]
        assert await one.say("go on") == "All is well."


async def test_arguments_that_a_model_wrapped_once_more_are_understood(project: Path, home: Path) -> None:
    wrapped = Say(calls=(Call(name="save_memory", arguments='[{"history_entry": "The button is blue."}]', id="c"),))
    async with talk(project, home, [wrapped]) as one:
        await one.say(LONG)
        await one.say("/compact")
        assert await one.current() == ["The button is blue."]


async def test_five_pieces_are_put_into_words_at_a_time_and_the_others_wait(project: Path, home: Path) -> None:
    numbers = iter(range(100))

    def archives(_: ReceivedRequest) -> Reply:
        return saved(f"piece {next(numbers)} is about apples")

    async with talk(project, home, archives, name="home-made") as one:
        for number in range(7):
            await one.say(f"{number} {LONG}")
        await one.say("/compact")
        assert len(one.model.records) == 5
        texts = await one.current()
        assert sum(text.startswith(RAW) for text in texts) == 2
        assert sum("about apples" in text for text in texts) == 5


@pytest.mark.parametrize(
    ("mode", "note", "kept"), [("edit", TABS, True), ("ask", TABS, False), ("edit", EVIL, False), ("auto", EVIL, False)]
)
async def test_a_note_is_kept_unasked_only_if_the_rules_let_it(
    project: Path, home: Path, mode: str, note: dict[str, str], *, kept: bool
) -> None:
    async with talk(project, home, [saved("It was about tabs.", note)], config=f'mode = "{mode}"') as one:
        await one.say(f"Remember that I like tabs. {LONG}")
        await one.say("/compact")
        lasting = [entry.key for entry in await one.kept() if entry.category == "core"]
        assert lasting == ([note["key"]] if kept else [])
        assert [note["content"] in text for text in await one.current()] == [not kept]


async def test_a_note_that_is_kept_unasked_is_on_record(project: Path, home: Path) -> None:
    async with talk(project, home, [saved("It was about tabs.", TABS)], config='mode = "edit"') as one:
        await one.say(f"Remember that I like tabs. {LONG}")
        await one.say("/compact")
    lines = [line for file in (home / "claw").rglob("audit/*") for line in file.read_text().splitlines()]
    mine = [json.loads(line) for line in lines if '"memory_store"' in line]
    assert [(line["kind"], line.get("arguments"), line.get("status")) for line in mine] == [
        ("call", TABS, None),
        ("outcome", None, "completed"),
    ]


async def test_a_hook_that_objects_to_notes_objects_to_these(project: Path, home: Path) -> None:
    write_hooks(home, {"PreToolUse": hook("echo no notes >&2; exit 2", "memory_store")})
    async with talk(project, home, [saved("It was about tabs.", TABS)], config='mode = "edit"') as one:
        await one.say(f"Remember that I like tabs. {LONG}")
        await one.say("/compact")
        assert [entry.key for entry in await one.kept() if entry.category == "core"] == []
        assert await one.current() == ["It was about tabs.\n- tabs: The user likes tabs."]


@pytest.mark.parametrize("config", ['mode = "plan"', '[permissions]\ndeny = ["memory_store"]'])
async def test_where_nothing_may_be_remembered_nothing_is_archived(project: Path, home: Path, config: str) -> None:
    async with talk(project, home, (), config=config) as one:
        await one.say(LONG)
        assert (await one.say("/compact")).startswith("Summarized: ")
        assert await one.kept() == []


async def test_what_left_a_conversation_is_deleted_with_it_but_not_its_notes(project: Path, home: Path) -> None:
    answers = [saved("It was about tabs.", TABS)]
    async with talk(project, home, answers, config='mode = "edit"') as one:
        await one.say(f"Remember that I like tabs. {LONG}")
        await one.say("/compact")
        assert len(await one.kept()) == 3
        await one.editor.request("session/delete", {"sessionId": one.editor.session})
        assert [entry.key for entry in await one.kept()] == ["tabs"]


def test_pieces_lose_no_word_that_was_said_and_cut_what_can_be_read_again() -> None:
    call = ToolCall(id="c", name="read_file", arguments='{"path": "a"}')
    messages = [
        Message.user("one " * 700),
        Message.assistant("two " * 100, tool_calls=(call,)),
        Message.tool(call, "three " * 1_000, failed=True),
    ]
    found = pieces(messages, most=1_000)
    assert max(map(len, found)) <= 1_000
    assert "".join(found).count("one") == 700
    assert "".join(found).count("two") == 100
    assert "".join(found).count("three") <= LONGEST_RESULT // len("three ") + 1
    assert 'Call: read_file {"path": "a"}' in found[-1]
