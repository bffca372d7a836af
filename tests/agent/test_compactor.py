"""The tiers one by one, on a session with a journal: what is asked, what is kept, and when nothing is done."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from claw_acp.agent.billing import Billing
from claw_acp.agent.budget import BudgetGuard, BudgetMemory, Limits
from claw_acp.agent.call_drafts import CallDrafts
from claw_acp.agent.compaction.compactor import Compactor
from claw_acp.agent.compaction.summary import HEADINGS, merged, problem_of, sections
from claw_acp.agent.compaction.tiers import results_to_shorten
from claw_acp.agent.context import Prefix, Room
from claw_acp.agent.model_request import ModelRequester
from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.provider import ChatOptions, ChatRequest, ChatResponse, Provider, ToolSpec
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ProviderUnavailable
from claw_acp.core.events import (
    CompactionChanged,
    Location,
    MessageStarted,
    PlanChanged,
    PlanEntry,
    StateChanged,
    TextDelta,
    ToolCallChanged,
)
from claw_acp.core.messages import Message, TextPart, ToolCall
from claw_acp.core.redaction import Redactor
from claw_acp.session.session import Session
from claw_acp.session.stores import Ledger
from tests.agent.runner_bench import SECRET, runner_bench
from tests.agent.test_billing import Nobody

READ = ToolSpec(name="read", description="Read", parameters={})
PREFIX = Prefix(system=Message.system("You are Claw."), tools=(READ,))
ROOM = Room(size=20_000)


def summary(*facts: str) -> str:
    """A valid summary with these facts."""
    lines = {"Facts": "\n".join(f"- {fact}" for fact in facts) or "- none"}
    return "\n\n".join(f"## {name}\n{lines.get(name, '- none')}" for name in HEADINGS)


class Writes(Provider):
    """Gives these answers, in order; an error is raised, and None is an answer that never comes."""

    name = "writes"

    def __init__(self, *answers: str | ProviderUnavailable | None) -> None:
        self.asked: list[ChatRequest] = []
        self._answers = list(answers)

    async def chat(self, request: ChatRequest) -> ChatResponse:
        self.asked.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, ProviderUnavailable):
            raise answer
        if answer is None:
            await anyio.sleep_forever()
        calls = (ToolCall(id="x", name="read", arguments="{}"),)
        return ChatResponse(text=answer or "", tool_calls=calls)


@dataclass
class Bench:
    """A session and what makes room in it."""

    session: Session
    provider: Writes
    compactor: Compactor

    async def turn(
        self, name: str, *sizes: int, prompt: str = "look", ends: bool = True, failed: bool = False, tool: str = "read"
    ) -> None:
        """A turn with a call for each result of so many characters."""
        publish = self.session.publish
        await publish(StateChanged(item=f"t{name}", state="running"))
        await publish(MessageStarted(item=f"u{name}", role="user", parts=(TextPart(text=prompt),)))
        for number, size in enumerate(sizes):
            call, message = f"c{name}.{number}", f"a{name}.{number}"
            at = (Location(path=f"/p/{name}.py", line=7),)
            await publish(MessageStarted(item=message, role="assistant"))
            await publish(
                ToolCallChanged(
                    item=call, message=message, name=tool, kind="read", locations=at, status="pending", arguments="{}"
                )
            )
            status = "failed" if failed else "completed"
            await publish(ToolCallChanged(item=call, status=status, output=(TextPart(text="x" * size),)))
        await publish(MessageStarted(item=f"b{name}", role="assistant"))
        await publish(TextDelta(item=f"b{name}", text="done"))
        if ends:
            await publish(StateChanged(item=f"t{name}", state="idle", stop="end_turn"))

    async def make_room(self) -> Sequence[CompactionChanged]:
        """Make room; returns what was journalled."""
        known = len(await self.session.read())
        await self.compactor.make_room(ROOM, prefix=PREFIX)
        return [event for event in (await self.session.read())[known:] if isinstance(event, CompactionChanged)]


@asynccontextmanager
async def bench(folder: Path, *answers: str | ProviderUnavailable | None) -> AsyncGenerator[Bench]:
    async with runner_bench(folder, []) as inner:
        provider = Writes(*answers)
        yield Bench(inner.session, provider, compactor(inner.session, provider=provider, ledger=inner.journal.ledger))


def compactor(session: Session, *, provider: Provider, ledger: Ledger) -> Compactor:
    """What makes room in a session, with summaries of that provider."""
    memory = BudgetMemory()
    guard = BudgetGuard(session, limits=Limits(), ledger=ledger, memory=memory, asker=Nobody(), clock=SYSTEM_CLOCK)
    requester = ModelRequester(
        session,
        provider=provider,
        model="m",
        billing=Billing(session, model="n/m", price=lambda _model, _usage: 0, ledger=ledger, guard=guard),
        options=ChatOptions,
        drafts=CallDrafts(session, toolbox=Toolbox(), locate=Path, redactor=Redactor(), clock=SYSTEM_CLOCK),
        redactor=Redactor({SECRET}),
        clock=SYSTEM_CLOCK,
    )
    return Compactor(session, requester=requester, clock=SYSTEM_CLOCK)


async def test_old_results_are_shortened_in_one_batch_where_that_is_enough(tmp_path: Path) -> None:
    async with bench(tmp_path) as one:
        await one.turn("1", 16_000, 2_000)
        await one.turn("2", 6_000)
        await one.turn("3", 16_000, ends=False)
        (done,) = await one.make_room()
        assert done.shortened == ("c1.0", "c2.0"), "not what is small, new, or of the running turn"
        assert one.provider.asked == []


async def test_an_open_error_stays_whole_and_a_long_turn_is_shortened_by_itself(tmp_path: Path) -> None:
    async with bench(tmp_path) as one:

        def chosen() -> Sequence[str]:
            history = one.session.history
            return results_to_shorten(history.items(), room=ROOM, running=history.turns.running)

        await one.turn("1", 16_000, 16_000, failed=True)
        await one.turn("2", 16_000, 16_000, failed=True)
        assert chosen() == ()
        await one.turn("3", 400)
        assert chosen() == ["c1.0", "c1.1", "c2.0"], "the tool has worked since"
    async with bench(tmp_path / "again") as one:
        await one.turn("1", 16_000, 16_000, 16_000, ends=False)
        assert chosen() == ["c1.0", "c1.1"]


async def test_the_text_of_a_skill_stays_whole(tmp_path: Path) -> None:
    async with bench(tmp_path) as one:
        await one.turn("1", 16_000, tool="skill")
        await one.turn("2", 16_000, 6_000)
        await one.turn("3", 16_000, ends=False)
        (done,) = await one.make_room()
        assert done.shortened == ("c2.0", "c2.1")


async def test_where_shortening_is_not_enough_the_summary_comes_first_on_the_cached_conversation(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path, summary("port 8472", SECRET)) as one:
        await one.turn("1", 16_000, prompt="word " * 6_000)
        await one.turn("2", 16_000, prompt="the current one", ends=False)
        before = one.session.history.messages()
        (done,) = await one.make_room()
        (asked,) = one.provider.asked
        assert list(asked.messages[:-1]) == [PREFIX.system, *before]
        assert (asked.tools, asked.options.tool_choice) == (PREFIX.tools, "auto")
        assert done.shortened == ()
        assert "port 8472" in (done.summary or "")
        assert SECRET not in (done.summary or "")
        after = one.session.history.messages()
        assert ROOM.tokens(after) <= ROOM.size * 0.35
        assert "the current one" in after[0].text, "word for word"


async def test_the_program_puts_back_what_it_knows_better(tmp_path: Path) -> None:
    async with bench(tmp_path, summary()) as one:
        await one.turn("0", prompt="word " * 6_000)
        await one.turn("1", 16_000, prompt="first of all")
        await one.session.publish(PlanChanged(item="p", entries=(PlanEntry(content="Mend it", status="in_progress"),)))
        await one.turn("2", 16_000, prompt="  then\n  this", ends=False)
        (done,) = await one.make_room()
        text = done.summary or ""
        assert "- [>] Mend it" in text
        assert "## Files read\n- /p/2.py from line 7\n- /p/1.py from line 7" in text
        assert text.index("first of all") < text.index("<message>\n  then\n  this\n</message>")


async def test_a_summary_without_its_headings_is_asked_for_again_and_then_given_up(tmp_path: Path) -> None:
    async with bench(tmp_path, "I did things.", summary("a fact"), "no", "no", "no", "no") as one:
        await one.turn("1", prompt="word " * 9_000)
        await one.turn("2", prompt="now", ends=False)
        (done,) = await one.make_room()
        assert done.status == "completed"
        assert "these headings were missing: Goal, Facts" in one.provider.asked[1].messages[-1].text
        assert one.provider.asked[1].options.tool_choice == "none"
        for name in "34567":
            await one.turn(name, prompt="word " * 2_200)
        for _ in range(3):
            await one.make_room()
        assert len(one.provider.asked) == 6, "two failures, then no model is asked"


@pytest.mark.parametrize("answer", [summary() + "\n- more" * 3_000, ProviderUnavailable("gone", provider="writes")])
async def test_what_is_too_long_or_fails_leaves_the_conversation_as_it_was(
    tmp_path: Path, answer: str | ProviderUnavailable
) -> None:
    async with bench(tmp_path, answer, answer) as one:
        await one.turn("1", prompt="word " * 9_000)
        await one.turn("2", prompt="now", ends=False)
        before = one.session.history.messages()
        (failed,) = await one.make_room()
        assert (failed.status, bool(failed.error)) == ("failed", True)
        assert one.session.history.messages() == before


async def test_a_cancelled_summary_is_shown_as_such_and_changes_nothing(tmp_path: Path) -> None:
    async with bench(tmp_path, None) as one:
        await one.turn("1", prompt="word " * 9_000)
        await one.turn("2", prompt="now", ends=False)
        before = one.session.history.messages()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.make_room)
            with anyio.fail_after(5):
                while not one.provider.asked:
                    await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        last = (await one.session.read())[-1]
        assert isinstance(last, CompactionChanged)
        assert last.status == "cancelled"
        assert one.session.history.messages() == before


def test_merging_keeps_the_lasting_points_that_a_new_summary_lost() -> None:
    old = summary("port 8472", "file a.py") + "\n\n# Kept by the program, word for word\n\n## Facts\n- not this"
    new = sections(merged(summary("file a.py", "file b.py"), before=old, limit=1_000))
    assert new["Facts"] == ["- file a.py", "- file b.py"]
    assert new["From earlier summaries"] == ["- port 8472"]
    assert problem_of(summary(), limit=1_000) == ""
    bold = summary("x").replace("## Facts", "### **2. Facts**:")
    assert sections(bold)["Facts"] == ["- x"]
