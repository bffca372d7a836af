"""The messages of a model request, and what is done when they are too long for the model."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from claw_acp.agent.billing import Billing
from claw_acp.agent.budget import BudgetGuard, BudgetMemory, Limits
from claw_acp.agent.call_drafts import CallDrafts
from claw_acp.agent.context import ModelContext, Prefix, Room
from claw_acp.agent.loop import Turn
from claw_acp.agent.model_request import ModelRequester
from claw_acp.agent.steering import Steering
from claw_acp.agent.token_estimate import ANSWER_TOKENS, TokenScale, estimate
from claw_acp.agent.toolbox import Toolbox
from claw_acp.agent.turn_limits import TurnLimits, TurnMeter
from claw_acp.contracts.prompt_layer import PromptLayer
from claw_acp.contracts.provider import ChatOptions, ChatRequest, ChatResponse, Provider, ToolSpec
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ContextTooLong
from claw_acp.core.events import CompactionChanged, StateChanged, UsageChanged
from claw_acp.core.messages import Message, TextPart, Usage
from claw_acp.core.redaction import Redactor
from claw_acp.session.session import Session
from tests.agent.runner_bench import RunnerBench, runner_bench
from tests.agent.test_billing import Nobody
from tests.support.hook_chains import hook_chain

LAYERS = (PromptLayer(name="a", text="You are Claw."), PromptLayer(name="b", text=" Be brief.", stable=False))
SYSTEM = Message.system("You are Claw. Be brief.")


class Narrow(Provider):
    """A model that refuses requests of more than so many messages, and says how many it got."""

    name = "narrow"

    def __init__(self, most: int) -> None:
        self.asked: list[Sequence[Message]] = []
        self._most = most

    async def chat(self, request: ChatRequest) -> ChatResponse:
        self.asked.append(request.messages)
        if len(request.messages) > self._most:
            raise ContextTooLong("narrow: the prompt is too long")
        return ChatResponse(text=f"{len(request.messages)} messages")


class Fewer:
    """Leaves out the oldest messages of the session, down to `least`."""

    def __init__(self, session: Session, *, least: int = 1) -> None:
        self.rooms: list[Room] = []
        self._session = session
        self._least = least

    async def make_room(self, room: Room, *, prefix: Prefix) -> None:
        self.rooms.append(room)
        assert prefix.system == SYSTEM
        await self._keep(self._least)

    async def shrink(self, room: Room, *, refusals: int) -> bool:
        self.rooms.append(room)
        assert refusals == len(self.rooms)
        return await self._keep(len(self._session.history.items()) - 1)

    async def summarize(self, room: Room, *, prefix: Prefix, focus: str) -> str:
        raise NotImplementedError

    async def _keep(self, count: int) -> bool:
        items = self._session.history.items()
        if count >= len(items) or count < self._least:
            return False
        done = CompactionChanged(item="k", status="completed", summary="Before.", kept_from=items[-count].id)
        await self._session.publish(done)
        return True


@dataclass
class Bench:
    """One session on a narrow model."""

    inner: RunnerBench
    provider: Narrow
    context: ModelContext
    fewer: "Fewer"

    async def prompt(self, text: str) -> str:
        """The answer to a prompt."""
        session, journal = self.inner.session, self.inner.journal
        guard = BudgetGuard(
            session, limits=Limits(), ledger=journal.ledger, memory=BudgetMemory(), asker=Nobody(), clock=SYSTEM_CLOCK
        )
        drafts = CallDrafts(session, toolbox=Toolbox(), locate=Path, redactor=Redactor(), clock=SYSTEM_CLOCK)
        requester = ModelRequester(
            session,
            provider=self.provider,
            model="m",
            billing=Billing(session, model="n/m", price=lambda _model, _usage: 0, ledger=journal.ledger, guard=guard),
            options=ChatOptions,
            drafts=drafts,
            clock=SYSTEM_CLOCK,
        )
        turn = Turn(
            session, requester=requester, runner=self.inner.runner, context=self.context, clock=SYSTEM_CLOCK,
            meter=TurnMeter(TurnLimits(requests=1), clock=SYSTEM_CLOCK),
            tools=tuple, steering=Steering(), hooks=hook_chain(session),
        )  # fmt: skip
        await turn.run([TextPart(text=text)])
        return session.history.messages()[-1].text


@asynccontextmanager
async def bench(folder: Path, *, most: int = 99, least: int | None = None, window: int = 0) -> AsyncGenerator[Bench]:
    """A bench whose context is reduced to `least` messages at most; None: not at all."""
    async with runner_bench(folder, []) as inner:
        fewer = Fewer(inner.session, least=least or 1)
        load = None if least is None else lambda: fewer
        context = ModelContext(inner.session, layers=lambda: LAYERS, window=lambda: window, compaction=load)
        yield Bench(inner, Narrow(most), context, fewer)


async def test_a_request_has_the_system_prompt_the_conversation_and_what_is_added(tmp_path: Path) -> None:
    async with bench(tmp_path) as one:
        await one.prompt("hello")
        history = one.inner.session.history.messages()
        extra = Message.user("and now?")
        assert [message.text for message in history] == [history[0].text, "2 messages"]
        assert list(await one.context.messages(extra)) == [SYSTEM, *history, extra]
        assert [list(messages) for messages in one.provider.asked] == [[SYSTEM, history[0]]]


async def test_what_a_model_refuses_as_too_long_is_asked_again_and_smaller(tmp_path: Path) -> None:
    async with bench(tmp_path, most=3, least=1) as one:
        for text in ("one", "two"):
            await one.prompt(text)
        assert [len(messages) for messages in one.provider.asked] == [2, 4, 4, 3], "a summary takes a message, too"
        assert len(one.inner.session.history.messages()) == 3, "it stays smaller"


@pytest.mark.parametrize("least", [None, 9])
async def test_a_context_that_cannot_be_made_smaller_ends_the_turn_as_too_long(
    tmp_path: Path, least: int | None
) -> None:
    async with bench(tmp_path, most=1, least=least) as one:
        with pytest.raises(ContextTooLong):
            await one.prompt("one")
        assert len(one.provider.asked) == 1
        ends = [event for event in one.inner.seen.events if isinstance(event, StateChanged) and event.state == "idle"]
        assert [end.code for end in ends] == [ContextTooLong.code]


@pytest.mark.parametrize("spare", [-1, 0])
async def test_room_is_made_when_more_than_half_of_it_is_filled(tmp_path: Path, spare: int) -> None:
    tool = ToolSpec(name="read", description="d" * 400, parameters={})
    async with bench(tmp_path, least=1) as one:
        await one.prompt("one " * 2_000)
        filled = estimate(one.inner.session.history.messages())
    async with bench(
        tmp_path / "again", least=1, window=estimate([SYSTEM], [tool]) + ANSWER_TOKENS + 2 * filled + spare
    ) as one:
        await one.prompt("one " * 2_000)
        sent = await one.context.messages(tools=[tool])
        assert [room.size for room in one.fewer.rooms] == ([] if spare >= 0 else [2 * filled + spare])
        assert len(sent) == 3, "all, or the summary and the last"


async def test_the_usage_that_is_reported_corrects_the_estimate(tmp_path: Path) -> None:
    scale = TokenScale()
    async with bench(tmp_path) as one:
        session = one.inner.session
        await one.prompt("one " * 2_000)
        context = ModelContext(session, layers=lambda: LAYERS, model="n/m", scale=scale, compaction=lambda: one.fewer)
        answer = session.history.items()[-1].id
        whole = estimate([SYSTEM, *session.history.messages()])
        await session.publish(UsageChanged(item=answer, used=2 * whole, size=0, request=Usage(), model="n/m"))
        await context.messages()
        assert scale.of("n/m") == pytest.approx(2)
        assert scale.of("n/other") == 1
