"""The messages of a model request, and what is done when they are too long for the model."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from claw_acp.agent.billing import Billing
from claw_acp.agent.budget import BudgetGuard, BudgetMemory, Limits
from claw_acp.agent.call_drafts import CallDrafts
from claw_acp.agent.context import ContextStrategy, ModelContext
from claw_acp.agent.loop import Turn
from claw_acp.agent.model_request import ModelRequester
from claw_acp.agent.steering import Steering
from claw_acp.agent.token_estimate import ANSWER_TOKENS, estimate
from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.prompt_layer import PromptLayer
from claw_acp.contracts.provider import ChatOptions, ChatRequest, ChatResponse, Provider, ToolSpec
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ContextTooLong
from claw_acp.core.events import StateChanged
from claw_acp.core.messages import Message, TextPart
from claw_acp.core.redaction import Redactor
from tests.agent.runner_bench import RunnerBench, runner_bench
from tests.agent.test_billing import Nobody

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


@dataclass
class KeepsTheEnd:
    """Leaves out the oldest messages behind the system prompt, down to `least` messages."""

    least: int = 2
    limits: list[int] = field(default_factory=list[int])

    async def fit(self, messages: Sequence[Message], *, limit: int) -> Sequence[Message] | None:
        self.limits.append(limit)
        for number in range(2, len(messages) - self.least + 2):
            kept = [messages[0], *messages[number:]]
            if estimate(kept) <= limit:
                return kept
        return None


@dataclass
class Bench:
    """One session on a narrow model."""

    inner: RunnerBench
    provider: Narrow
    context: ModelContext

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
            session, requester=requester, runner=self.inner.runner, context=self.context, limit=1, clock=SYSTEM_CLOCK,
            tools=tuple, steering=Steering(),
        )  # fmt: skip
        await turn.run([TextPart(text=text)])
        return session.history.messages()[-1].text


@asynccontextmanager
async def bench(
    folder: Path, *, most: int = 99, strategy: ContextStrategy | None = None, window: int = 0
) -> AsyncGenerator[Bench]:
    async with runner_bench(folder, []) as inner:
        context = ModelContext(inner.session, layers=lambda: LAYERS, window=lambda: window, strategy=strategy)
        yield Bench(inner, Narrow(most), context)


async def test_a_request_has_the_system_prompt_the_conversation_and_what_is_added(tmp_path: Path) -> None:
    async with bench(tmp_path) as one:
        await one.prompt("hello")
        history = one.inner.session.history.messages()
        extra = Message.user("and now?")
        assert [message.text for message in history] == [history[0].text, "2 messages"]
        assert list(await one.context.messages(extra)) == [SYSTEM, *history, extra]
        assert [list(messages) for messages in one.provider.asked] == [[SYSTEM, history[0]]]


async def test_what_a_model_refuses_as_too_long_is_asked_once_more_and_smaller(tmp_path: Path) -> None:
    strategy = KeepsTheEnd()
    async with bench(tmp_path, most=3, strategy=strategy) as one:
        assert await one.prompt("one " * 200) == "2 messages"
        assert await one.prompt("two") == "3 messages"
        assert [len(messages) for messages in one.provider.asked] == [2, 4, 3]
        assert strategy.limits == [estimate(one.provider.asked[1]) // 2]
        assert len(one.inner.session.history.messages()) == 4, "only the request was made smaller"


@pytest.mark.parametrize("strategy", [None, KeepsTheEnd(least=9)])
async def test_a_context_that_cannot_be_made_smaller_ends_the_turn_as_too_long(
    tmp_path: Path, strategy: ContextStrategy | None
) -> None:
    async with bench(tmp_path, most=1, strategy=strategy) as one:
        with pytest.raises(ContextTooLong):
            await one.prompt("one")
        assert len(one.provider.asked) == 1
        ends = [event for event in one.inner.seen.events if isinstance(event, StateChanged) and event.state == "idle"]
        assert [end.code for end in ends] == [ContextTooLong.code]


async def test_a_second_refusal_is_final(tmp_path: Path) -> None:
    async with bench(tmp_path, most=1, strategy=KeepsTheEnd()) as one:
        for text in ("one " * 200, "two"):
            with pytest.raises(ContextTooLong):
                await one.prompt(text)
        assert [len(messages) for messages in one.provider.asked] == [2, 3, 2]


@pytest.mark.parametrize("spare", [-1, 0])
async def test_a_context_beyond_the_models_window_is_made_smaller_before_it_is_sent(tmp_path: Path, spare: int) -> None:
    tool = ToolSpec(name="read", description="d" * 400, parameters={})
    extra = [Message.user(text) for text in ("first " * 100, "last")]
    needed = estimate([SYSTEM, *extra], [tool]) + ANSWER_TOKENS
    strategy = KeepsTheEnd()
    async with bench(tmp_path, strategy=strategy, window=needed + spare) as one:
        sent = await one.context.messages(*extra, tools=[tool])
    assert list(sent) == [SYSTEM, *(extra if spare >= 0 else extra[1:])]
    assert len(strategy.limits) == (0 if spare >= 0 else 1)
