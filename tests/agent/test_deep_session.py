"""Long sessions in a narrow window: every request is valid and fits, nothing planted early is lost, nothing grows."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.editors.editor import Editor
from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script, hold, say, turn
from tests.support.servers.model_server import ModelServer
from tests.support.servers.narrow_model import NarrowModel

WINDOW = 16_385  # of the model that the program knows by this name
LINES = "a line of the file, as long as lines are\n" * 120


@dataclass
class Deep:
    """A session on a narrow model."""

    model: NarrowModel
    house: SharedHouse
    editor: Editor

    async def say(self, text: str) -> str:
        """The answer to a prompt."""
        outcome = await self.editor.prompt(text)
        assert outcome.stop_reason == "end_turn"
        return "".join(
            update["content"]["text"] for update in outcome.updates if update["sessionUpdate"] == "agent_message_chunk"
        )


@asynccontextmanager
async def deep(
    project: Path, home: Path, *, knows: Sequence[str] = ("compaction", "notices"), window: int = WINDOW
) -> AsyncGenerator[Deep]:
    model = NarrowModel(window=window)
    async with ModelServer() as server:
        server.always(model)
        config = f'[providers.work]\nkind = "openai"\nbase_url = "{server.openai_url}"\nmodels = ["gpt-3.5-turbo"]'
        env = {"CLAW_ACP_MODEL": "work/gpt-3.5-turbo"}
        async with SharedHouse.opened(project=project, home=home, script=Script(), config=config, env=env) as house:
            editor = await house.visit(session={name: {} for name in knows})
            await editor.new_session()
            yield Deep(model, house, editor)


async def test_a_long_session_in_a_narrow_window_stays_valid_small_and_knows_its_beginning(
    project: Path, home: Path
) -> None:
    (project / "notes.txt").write_text(LINES)
    async with deep(project, home) as one:
        await one.say("the port=8472 must stay")
        for number in range(24):
            await one.say(f"read notes.txt {number % 4}")
        assert await one.say("recall port") == "8472"
        assert one.model.refused == 0
        assert one.model.summaries >= 2
        assert max(one.model.sizes[-30:]) <= 1.1 * max(one.model.sizes[:40]), "what it costs does not grow"
        assert one.model.cold == 0, "summaries are asked for on the cached prefix"
        assert one.model.remade <= 2 * one.model.summaries, "only a tier makes the cached prefix anew"


async def test_compact_summarizes_at_once_and_context_shows_what_is_left(project: Path, home: Path) -> None:
    async with deep(project, home) as one:
        assert await one.say("/compact") == "There is nothing to summarize."
        await one.say("hello")
        assert "it is short enough" in await one.say("/compact")
        await one.say(f"the port=8472 must stay {'and so on ' * 2_000}")
        assert "| Summary |" not in await one.say("/context")
        told = await one.say("/compact the port")
        assert told.startswith("Summarized: the conversation takes ")
        assert "in particular: the port" in one.model.asked[-1]
        ends = one.editor.updates("compaction_update")
        assert [end["status"] for end in ends[-2:]] == ["in_progress", "completed"]
        assert "port=8472" in ends[-1]["summary"][0]["text"]
        shown = await one.say("/context")
        assert "| Summary |" in shown
        assert "For the model 4 messages are summarized or left out." in shown
        assert await one.say("recall port") == "8472"


async def test_a_client_that_knows_no_compactions_is_told_by_a_notice(project: Path, home: Path) -> None:
    async with deep(project, home, knows=("notices",)) as one:
        await one.say("hello " * 3_000)
        outcome = await one.editor.prompt("/compact")
        titles = [update["title"] for update in outcome.updates if update["sessionUpdate"] == "notice"]
        assert titles == ["The conversation was summarized for the model, to make room; you still see all of it"]


async def test_protocol_2_shows_a_summary_as_it_is_written_and_again_after_a_load(project: Path, home: Path) -> None:
    async with deep(project, home) as one:
        second = await one.house.visit_2()
        await second.new_session()
        for text in ("hello " * 3_000, "/compact"):
            await second.insert(text)
            await second.wait_for_state("idle")
        kinds = [update["sessionUpdate"] for update in second.updates()]
        assert [kind for kind in kinds if kind.startswith("compaction")] == [
            "compaction_update", "compaction_summary_chunk", "compaction_update",
        ]  # fmt: skip
        other = await one.house.visit_2()
        _, replayed = await other.resume(second.session, replay=True)
        (again,) = [update for update in replayed if update["sessionUpdate"] == "compaction_update"]
        assert again["status"] == "completed"
        assert "## Open points" in again["summary"][0]["text"]


async def test_without_summaries_whole_turns_are_left_out_and_no_model_is_asked_in_vain_again_and_again(
    project: Path, home: Path
) -> None:
    (project / "notes.txt").write_text(LINES)
    async with deep(project, home) as one:
        one.model.silent = True
        await one.say("the port=8472 must stay")
        for _ in range(16):
            await one.say("read notes.txt 3")
        assert one.model.refused == 0
        ends = [update["status"] for update in one.editor.updates("compaction_update")]
        assert ends.count("failed") <= 2 * (ends.count("completed") + 1)
        assert one.model.summaries == 2 * ends.count("failed"), "each is tried twice"
        shown = await one.say("/context")
        assert "| Summary |" in shown


async def test_a_window_that_is_narrower_than_known_is_learned_and_costs_no_turn(project: Path, home: Path) -> None:
    (project / "notes.txt").write_text(LINES)
    async with deep(project, home, window=7_400) as one:
        for _ in range(12):
            await one.say("read notes.txt 2")
        assert 1 <= one.model.refused <= 2, "it is learned"
        assert await one.say("recall port") == "unknown"


async def test_of_the_files_that_are_put_back_those_that_changed_meanwhile_are_named(project: Path, home: Path) -> None:
    (project / "notes.txt").write_text(LINES)
    (project / "other.txt").write_text("another\n")
    async with deep(project, home) as one:
        await one.say("read notes.txt 1")
        await one.say("read other.txt 1")
        (project / "notes.txt").write_text("changed")
        assert (await one.say("/compact")).startswith("Summarized")
        text = one.editor.updates("compaction_update")[-1]["summary"][0]["text"]
        listed = [line for line in text.splitlines() if line.startswith("- /")]
        assert listed == [
            f"- {project / 'other.txt'} from line 1",
            f"- {project / 'notes.txt'} from line 1 (has another content now: read it again before you rely on it)",
        ]


async def test_a_single_long_turn_is_summarized_on_the_way_with_its_request_word_for_word(
    project: Path, home: Path
) -> None:
    (project / "notes.txt").write_text(LINES)
    async with deep(project, home) as one:
        await one.say("  keep\n    this\nread notes.txt 30")
        assert one.model.refused == 0
        done = [update for update in one.editor.updates("compaction_update") if update.get("summary")]
        text = done[-1]["summary"][0]["text"]
        assert "<message>\n  keep\n    this\nread notes.txt 30\n</message>" in text
        assert "the last one is what you are working on" in text


async def test_a_summary_can_be_cancelled(project: Path, home: Path) -> None:
    script = Script(turn(say("half "), hold("never"), when="replaced by a summary"), turn(say("hello")), loop=True,
                    contextWindow=20_000)  # fmt: skip
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit(session={"compaction": {}})
        await editor.new_session()
        await editor.prompt("hello " * 3_000)
        running = await editor.start_prompt("/compact")
        await editor.wait_for(lambda: editor.updates("compaction_summary_chunk"), "a piece of the summary")
        await editor.cancel()
        assert (await running.outcome()).stop_reason == "cancelled"
        assert editor.updates("compaction_update")[-1]["status"] == "cancelled"
        assert (await editor.prompt("go on")).text == "hello"
