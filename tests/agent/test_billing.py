"""What a request is expected to take, and what it is billed for: every attempt, whoever answers."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.agent.billing import Billing, expected_usage
from claw_acp.agent.budget import BudgetGuard, BudgetMemory, Limits
from claw_acp.agent.call_drafts import CallDrafts
from claw_acp.agent.model_request import ModelRequester
from claw_acp.agent.token_estimate import ANSWER_TOKENS, IMAGE_TOKENS
from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.provider import (
    ChatOptions,
    ChatRequest,
    ChatResponse,
    Finished,
    Provider,
    Spent,
    StreamEvent,
    TextChunk,
    ToolSpec,
)
from claw_acp.contracts.questions import Choice, Form, FormAnswer, PermissionQuestion
from claw_acp.core.errors import StreamInterrupted
from claw_acp.core.events import UsageChanged
from claw_acp.core.messages import ImagePart, Message, Usage
from claw_acp.core.redaction import Redactor
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import Session
from tests.support.fixed_clock import FixedClock

PRICES = {"a/one": 1, "b/two": 100, "c/free": 0}
TEN = Usage(input_tokens=8, output_tokens=2)


class Nobody:
    """Cannot be asked."""

    async def permission(self, question: PermissionQuestion) -> Choice | None:  # noqa: ARG002 - the port's
        return None

    async def form(self, form: Form) -> FormAnswer | None:  # noqa: ARG002 - the port's
        return None


class Speaker(Provider):
    """Streams what a test says; an exception among it is raised."""

    name = "speaker"

    def __init__(self, *events: StreamEvent | Exception) -> None:
        self._events = events

    async def chat(self, request: ChatRequest) -> ChatResponse:
        raise NotImplementedError

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent]:  # noqa: ARG002 - the contract's
        for event in self._events:
            if isinstance(event, Exception):
                raise event
            yield event


def price(model: str, usage: Usage) -> int | None:
    each = PRICES.get(model)
    return None if each is None else each * (usage.input_tokens + usage.output_tokens)


@asynccontextmanager
async def asked(
    tmp_path: Path, *events: StreamEvent | Exception, model: str = "a/one"
) -> AsyncGenerator[tuple[Session, ModelRequester, Journal]]:
    clock = FixedClock()
    async with Journal.opened(tmp_path / "claw.db", clock=clock) as journal:
        record = SessionRecord(id="s", cwd="/w", mode="ask", model=model, created_at=1.0, updated_at=1.0)
        await journal.create(record)
        session = Session(record, journal=journal, clock=clock, roots=[Path("/w")])
        guard = BudgetGuard(
            session, limits=Limits(), ledger=journal.ledger, memory=BudgetMemory(), asker=Nobody(), clock=clock
        )
        billing = Billing(session, model=model, price=price, ledger=journal.ledger, guard=guard)
        yield (
            session,
            ModelRequester(
                session,
                provider=Speaker(*events),
                model="one",
                billing=billing,
                options=ChatOptions,
                drafts=CallDrafts(session, toolbox=Toolbox(), locate=Path, redactor=Redactor(), clock=clock),
                clock=clock,
            ),
            journal,
        )


def told(session: Session) -> UsageChanged:
    assert session.history.usage is not None
    return session.history.usage


async def test_attempts_that_were_given_up_are_billed_with_the_answer(tmp_path: Path) -> None:
    answer = Finished(response=ChatResponse(text="x", usage=TEN, answered_by="b/two"))
    async with asked(tmp_path, Spent(model="a/one", usage=TEN), TextChunk(text="x"), answer) as (session, one, journal):
        _, response = await one.ask([Message.user("hi")], tools=())
        assert response.usage == TEN + TEN
        event = told(session)
        assert (event.request, event.used, event.model) == (TEN + TEN, 10, "b/two")
        assert event.cost == event.total == pytest.approx(1010e-12)
        models = await journal.ledger.shares("model", session_id="s")
        assert [(share.key, share.spending.cost) for share in models] == [("b/two", 1000), ("a/one", 10)]


async def test_totals_go_on_from_what_the_journal_says(tmp_path: Path) -> None:
    answer = Finished(response=ChatResponse(text="x", usage=TEN))
    async with asked(tmp_path, answer) as (session, one, _):
        for number in (1, 2, 3):
            await one.ask([Message.user("hi")], tools=())
            assert told(session).total == number * 10e-12
            assert told(session).cost == 10e-12


async def test_what_another_model_takes_in_between_counts_for_the_turn(tmp_path: Path) -> None:
    async with asked(tmp_path) as (session, _, journal):
        guard = BudgetGuard(
            session, limits=Limits(), ledger=journal.ledger, memory=BudgetMemory(), asker=Nobody(), clock=FixedClock()
        )
        billing = Billing(session, model="a/one", price=price, ledger=journal.ledger, guard=guard)
        billing.charge(TEN)
        billing.for_model("b/two").charge(TEN)
        assert billing.spent == 10 + 1000
        models = await journal.ledger.shares("model", session_id="s")
        assert [(share.key, share.spending.cost) for share in models] == [("b/two", 1000), ("a/one", 10)]


async def test_where_a_price_is_missing_the_rest_still_counts(tmp_path: Path) -> None:
    answer = Finished(response=ChatResponse(text="x", usage=TEN, answered_by="who/knows"))
    async with asked(tmp_path, Spent(model="a/one", usage=TEN), answer) as (session, one, journal):
        await one.ask([Message.user("hi")], tools=())
        assert (told(session).cost, told(session).total) == (None, 10e-12)
        spent = await journal.ledger.spent()
        assert (spent.requests, spent.cost, spent.unpriced, spent.text) == (2, 10, 1, "at least $0.00000000001")


async def test_an_answer_without_counts_costs_something_unknown_unless_it_is_free(tmp_path: Path) -> None:
    answer = Finished(response=ChatResponse(text="x", usage=None))
    async with asked(tmp_path, answer) as (session, one, journal):
        _, response = await one.ask([Message.user("hi")], tools=())
        assert (response.usage, session.history.usage) == (None, None)
        assert (await journal.ledger.spent()).unpriced == 1
    (tmp_path / "claw.db").unlink()
    async with asked(tmp_path, answer, model="c/free") as (_, one, journal):
        await one.ask([Message.user("hi")], tools=())
        spent = await journal.ledger.spent()
        assert (spent.requests, spent.unpriced, spent.text) == (1, 0, "$0.00")


@pytest.mark.parametrize(("seen", "requests"), [((TextChunk(text="ha"),), 1), ((), 0)])
async def test_an_answer_that_breaks_off_is_billed_only_if_it_had_begun(
    tmp_path: Path, seen: tuple[StreamEvent, ...], requests: int
) -> None:
    broken = StreamInterrupted("gone", provider="speaker")
    async with asked(tmp_path, *seen, broken) as (_, one, journal):
        with pytest.raises(StreamInterrupted):
            await one.ask([Message.user("hi")], tools=())
        spent = await journal.ledger.spent()
        assert (spent.requests, spent.unpriced) == (requests, requests)


# ------------------------------------------------------------------ before a request


@settings(max_examples=50)
@given(st.text(max_size=5000), st.none() | st.integers(min_value=1, max_value=100_000), st.integers(0, 10_000))
def test_what_is_expected_grows_with_what_is_sent_and_is_never_nothing(
    text: str, max_tokens: int | None, cached: int
) -> None:
    last = Usage(cached_read_tokens=cached)
    usage = expected_usage([Message.user(text)], (), max_tokens=max_tokens, last=last)
    assert len(text) // 4 <= usage.input_tokens <= len(text) // 4 + 1
    assert usage.cached_read_tokens == min(usage.input_tokens, cached)
    assert usage.output_tokens == min(ANSWER_TOKENS, max_tokens or ANSWER_TOKENS)


def test_pictures_and_tools_are_expected_to_take_something() -> None:
    plain = expected_usage([Message.user("look")], (), max_tokens=None, last=None)
    picture = ImagePart(data="x" * 100_000, mime_type="image/png")
    tool = ToolSpec(name="read", description="d" * 400, parameters={"type": "object"})
    more = expected_usage([Message.user("look", picture)], (tool,), max_tokens=None, last=None)
    assert plain.input_tokens + IMAGE_TOKENS + 100 <= more.input_tokens <= plain.input_tokens + IMAGE_TOKENS + 120
