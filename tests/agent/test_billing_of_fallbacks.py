"""Budgets and bills where a request goes from one model to another: the requester and `Reliable` together."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from claw_acp.agent.billing import Billing
from claw_acp.agent.budget import BudgetGuard, BudgetMemory, Limits
from claw_acp.agent.call_drafts import CallDrafts
from claw_acp.agent.model_request import ModelRequester
from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.provider import (
    ChatOptions,
    ChatRequest,
    ChatResponse,
    Finished,
    Provider,
    Remark,
    StreamEvent,
    TextChunk,
)
from claw_acp.contracts.questions import Choice, PermissionQuestion
from claw_acp.core.errors import BudgetReached, ProviderUnavailable, ProviderUnreachable, StreamInterrupted
from claw_acp.core.messages import Message, Usage
from claw_acp.core.redaction import Redactor
from claw_acp.providers.fallback.reliable import Reliable
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import Session
from tests.agent.test_billing import TEN, Nobody, Speaker, price
from tests.providers.attempts import Played, at
from tests.providers.attempts import reliable as reliable_over
from tests.support.fixed_clock import FixedClock

ANSWER = Finished(response=ChatResponse(text="x", usage=TEN))


class Named(Speaker):
    """A speaker of a name, who counts how often it was asked. `begins`: its service answers before it says anything."""

    def __init__(self, name: str, *events: StreamEvent | Exception, begins: bool = False) -> None:
        super().__init__(*events)
        self.name = name
        self.asked = 0
        self._begins = begins

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent]:
        self.asked += 1
        if self._begins:
            request.on_first_byte()
        async for event in super().stream(request):
            yield event


class Willing(Nobody):
    """Says to go on, this once."""

    def __init__(self) -> None:
        self.questions: list[PermissionQuestion] = []

    async def permission(self, question: PermissionQuestion) -> Choice | None:
        self.questions.append(question)
        return next(choice for choice in question.choices if choice.id == "once")


async def no_wait(_: float) -> None:
    pass


@asynccontextmanager
async def asked(
    tmp_path: Path, provider: Provider, *, model: str, daily: int | None = None, asker: Nobody | None = None
) -> AsyncGenerator[tuple[ModelRequester, Session, Journal]]:
    clock = FixedClock()
    async with Journal.opened(tmp_path / "claw.db", clock=clock) as journal:
        record = SessionRecord(id="s", cwd="/w", mode="ask", model=model, created_at=1.0, updated_at=1.0)
        await journal.create(record)
        session = Session(record, journal=journal, clock=clock, roots=[Path("/w")])
        guard = BudgetGuard(
            session,
            limits=Limits(amounts=() if daily is None else (("daily", daily),)),
            ledger=journal.ledger,
            memory=BudgetMemory(),
            asker=asker or Nobody(),
            clock=clock,
        )
        billing = Billing(session, model=model, price=price, ledger=journal.ledger, guard=guard)
        name = model.partition("/")[2]
        drafts = CallDrafts(session, toolbox=Toolbox(), locate=Path, redactor=Redactor(), clock=clock)
        requester = ModelRequester(
            session, provider=provider, model=name, billing=billing, options=ChatOptions, drafts=drafts, clock=clock
        )
        yield requester, session, journal


def reliable(*asked: Played) -> Reliable:
    return reliable_over(*asked, clock=FixedClock(), sleep=no_wait)


def down(name: str, model: str) -> Played:
    return at(Named(name, ProviderUnreachable("down", provider=name)), model, retries=0)


async def test_a_paid_fallback_of_a_free_model_is_held_against_the_budget(tmp_path: Path) -> None:
    paid = Named("b", ANSWER)
    provider = reliable(down("c", "free"), at(paid, "two"))
    async with asked(tmp_path, provider, model="c/free", daily=50) as (one, _, journal):
        with pytest.raises(BudgetReached):
            await one.ask([Message.user("hi")], tools=())
        assert paid.asked == 0
        assert (await journal.ledger.spent()).cost == 0


async def test_a_free_model_that_answers_asks_nobody_for_its_paid_fallback(tmp_path: Path) -> None:
    provider = reliable(at(Named("c", ANSWER), "free"), at(Named("b", ANSWER), "two"))
    async with asked(tmp_path, provider, model="c/free", daily=50) as (one, _, _journal):
        await one.ask([Message.user("hi")], tools=())


async def test_who_allowed_a_request_is_not_asked_again_for_a_cheaper_model(tmp_path: Path) -> None:
    person = Willing()
    provider = reliable(down("b", "two"), at(Named("a", ANSWER), "one"))
    async with asked(tmp_path, provider, model="b/two", daily=5, asker=person) as (one, _, _journal):
        await one.ask([Message.user("hi")], tools=())
    assert len(person.questions) == 1


async def test_a_broken_answer_whose_usage_is_known_is_billed_once(tmp_path: Path) -> None:
    broken = StreamInterrupted("gone", provider="a", usage=TEN)
    provider = reliable(at(Named("a", TextChunk(text="ha"), broken), "one"))
    async with asked(tmp_path, provider, model="a/one") as (one, _, journal):
        with pytest.raises(StreamInterrupted):
            await one.ask([Message.user("hi")], tools=())
        spent = await journal.ledger.spent()
        assert (spent.requests, spent.cost, spent.unpriced) == (1, 10, 0)


async def test_usage_that_a_lone_provider_tells_with_its_failure_is_billed(tmp_path: Path) -> None:
    provider = Named("a", StreamInterrupted("gone", provider="a", usage=TEN), begins=True)
    async with asked(tmp_path, provider, model="a/one") as (one, _, journal):
        with pytest.raises(StreamInterrupted):
            await one.ask([Message.user("hi")], tools=())
        spent = await journal.ledger.spent()
        assert (spent.requests, spent.cost, spent.unpriced) == (1, 10, 0)


async def test_every_attempt_that_began_to_answer_is_billed_though_nothing_was_shown(tmp_path: Path) -> None:
    broken = Named("a", StreamInterrupted("gone", provider="a"), begins=True)
    refusing = Named("b", ProviderUnavailable("busy", provider="b"))
    provider = reliable(at(broken, "one", retries=1), at(refusing, "two", retries=0))
    async with asked(tmp_path, provider, model="a/one") as (one, _, journal):
        with pytest.raises(ProviderUnavailable):
            await one.ask([Message.user("hi")], tools=())
        shares = await journal.ledger.shares("model", session_id="s")
    assert broken.asked == 2
    assert [(share.key, share.spending.requests, share.spending.unpriced) for share in shares] == [("a/one", 2, 2)]


async def test_an_answer_of_a_fallback_that_breaks_is_billed_to_the_fallback(tmp_path: Path) -> None:
    fallback = Named("b", TextChunk(text="ha"), StreamInterrupted("gone", provider="b"))
    provider = reliable(down("c", "free"), at(fallback, "two"))
    async with asked(tmp_path, provider, model="c/free") as (one, _, journal):
        with pytest.raises(StreamInterrupted):
            await one.ask([Message.user("hi")], tools=())
        shares = await journal.ledger.shares("model", session_id="s")
    assert [(share.key, share.spending.unpriced) for share in shares] == [("b/two", 1)]


async def test_an_answer_that_is_cancelled_before_anything_was_shown_is_billed(tmp_path: Path) -> None:
    waiting = anyio.Event()

    class Silent(Named):
        async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent]:
            async for event in super().stream(request):
                yield event
            waiting.set()
            await anyio.sleep_forever()

    provider = reliable(at(Silent("a", Remark(text="so far"), begins=True), "one"))
    async with asked(tmp_path, provider, model="a/one") as (one, _, journal):
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                await one.ask([Message.user("hi")], tools=())

            tasks.start_soon(ask)
            await waiting.wait()
            tasks.cancel_scope.cancel()
        spent = await journal.ledger.spent()
        assert (spent.requests, spent.unpriced, spent.usage) == (1, 1, Usage())
