"""The cost of a turn's model requests: each is checked against the budgets, then priced, stored and shown."""

import logging
from collections.abc import Callable, Sequence
from typing import Final

from claw_acp.agent.budget import BudgetGuard
from claw_acp.agent.token_estimate import ANSWER_TOKENS, estimate
from claw_acp.contracts.provider import ChatRequest, ToolSpec
from claw_acp.core.errors import StoreError
from claw_acp.core.events import UsageChanged
from claw_acp.core.messages import Message, Usage
from claw_acp.core.money import from_dollars, to_dollars
from claw_acp.session.session import Session
from claw_acp.session.stores import Ledger

log = logging.getLogger(__name__)

MOST_TOKENS: Final = 10**8  # of one sort, in one request; beyond any window, and sums of many still fit the ledger
_ONE: Final = Usage(input_tokens=1, output_tokens=1)


class Billing:
    """The billing of model requests: each is admitted here first, and its usage is reported afterwards.

    Args:
        session: The session that makes them.
        model: The model asked: `provider/model`.
        price: The price of a model's tokens, in picodollars; None when it is not known.
        ledger: Stores the costs.
        guard: The budgets.
        account: The session that the costs count for; empty: the same one.
    """

    def __init__(
        self,
        session: Session,
        *,
        model: str,
        price: Callable[[str, Usage], int | None],
        ledger: Ledger,
        guard: BudgetGuard,
        account: str = "",
    ) -> None:
        self._session = session
        self._account = account or session.id
        self._model = model
        self._price = price
        self._ledger = ledger
        self._guard = guard
        self._taken: Usage | None = None
        self._cost: int | None = 0  # None: the price of a part is not known
        self._known = 0
        self._spent = 0
        self._others: list[Billing] = []
        self._expected = Usage()
        self._admitted: int | None = 0

    @property
    def spent(self) -> int:
        """The cost of all requests so far, as far as prices are known, in picodollars."""
        return self._spent + sum(other.spent for other in self._others)

    @property
    def waited(self) -> float:
        """The seconds in which no request could be made until a person answered."""
        return self._guard.waited

    @property
    def taken(self) -> Usage | None:
        """The tokens of the request, including abandoned attempts; None when no provider reported any."""
        return self._taken

    def for_model(self, model: str) -> "Billing":
        """The billing of requests to another model (`provider/model`) in between; `spent` includes what they cost."""
        other = Billing(
            self._session, model=model, price=self._price, ledger=self._ledger, guard=self._guard, account=self._account
        )
        self._others.append(other)
        return other

    async def admit(self, request: ChatRequest) -> None:
        """Admit a request.

        Raises:
            BudgetReached: It may exceed a budget, and no person allowed that.
        """
        self._taken, self._cost, self._known = None, 0, 0
        if not self._guard.needed:
            return
        last = self._session.history.usage
        usage = expected_usage(
            request.messages,
            request.tools,
            max_tokens=request.options.max_tokens,
            last=None if last is None or last.model != self._model else last.request,
        )
        self._expected, self._admitted = usage, self._price(self._model, usage)
        await self._guard.admit(self._admitted, model=self._model)

    async def admit_other(self, model: str) -> None:
        """Let the admitted request go to another model (`provider/model`), which may cost more.

        Raises:
            BudgetReached: It may exceed a budget there, and no person allowed that.
        """
        if not self._guard.needed:
            return
        cost, admitted = self._price(model, self._expected), self._admitted
        if cost is not None and admitted is not None and cost <= admitted:
            return
        await self._guard.admit(cost, model=model)
        self._admitted = cost

    def end(self) -> None:
        """Note that the admitted request has ended; what it cost is charged at this moment."""
        self._guard.end()

    def charge(self, usage: Usage | None, *, model: str = "") -> None:
        """Record the cost of an answer, or of an abandoned attempt.

        Args:
            usage: The tokens; None when none were reported, which is free only if the model is.
            model: The model that took them (`provider/model`); empty: the one that was asked.
        """
        model = model or self._model
        usage = None if usage is None else plausible(usage)
        cost = self._price(model, usage or _ONE)
        if usage is None and cost:
            cost = None
        elif usage is not None:
            self._taken = usage if self._taken is None else self._taken + usage
        self._cost = None if cost is None or self._cost is None else self._cost + cost
        self._known += cost or 0
        self._spent += cost or 0
        try:
            self._ledger.add(self._account, model=model, usage=usage or Usage(), cost=cost)
        except StoreError as error:  # the program is ending
            log.warning("cost not kept", extra={"session": self._session.id, "reason": error.message})

    def usage_event(self, item: str, usage: Usage, *, model: str, size: int) -> UsageChanged:
        """The event that reports a request, once all of it is charged.

        Args:
            item: The answer's message.
            usage: The tokens of the answer alone, which fill the context now.
            model: The model that answered, if it is another than was asked: `provider/model`.
            size: The context window of the model.
        """
        usage, before = plausible(usage), self._session.history.usage
        total = from_dollars(0.0 if before is None or before.total is None else before.total) + self._known
        return UsageChanged(
            item=item,
            used=usage.input_tokens + usage.output_tokens,
            size=size,
            request=self._taken or usage,
            model=model or self._model,
            cost=None if self._cost is None else to_dollars(self._cost),
            total=to_dollars(total) if total else None,
        )


def usage_besides(before: UsageChanged | None, *, item: str, request: Usage | None, cost: float | None) -> UsageChanged:
    """The event that reports what work beside a conversation took, which fills nothing of its context.

    Args:
        before: The last report of the conversation.
        item: The work.
        request: The tokens, if any were reported.
        cost: The cost in US dollars, if it is known.
    """
    total = (before.total or 0.0 if before else 0.0) + (cost or 0.0)
    return UsageChanged(
        item=item,
        used=before.used if before else 0,
        size=before.size if before else 0,
        request=request or Usage(),
        cost=cost,
        total=total or None,
    )


def plausible(usage: Usage) -> Usage:
    """The usage that a service reported, limited to possible values: a service may report anything."""
    return Usage(
        input_tokens=_count(usage.input_tokens),
        output_tokens=_count(usage.output_tokens),
        cached_read_tokens=_count(usage.cached_read_tokens),
        cached_write_tokens=_count(usage.cached_write_tokens),
        thought_tokens=_count(usage.thought_tokens),
    )


def _count(said: int) -> int:
    return max(0, min(said, MOST_TOKENS))


def expected_usage(
    messages: Sequence[Message], tools: Sequence[ToolSpec], *, max_tokens: int | None, last: Usage | None
) -> Usage:
    """An estimate of a request's usage before it is made.

    Args:
        messages: The messages to send.
        tools: The tools to send.
        max_tokens: The limit of the answer, if there is one.
        last: The usage of the session's last request to this model: what was cached then is expected to be cached.
    """
    sent = estimate(messages, tools)
    cached = 0 if last is None else last.cached_read_tokens + last.cached_write_tokens
    return Usage(
        input_tokens=sent,
        output_tokens=ANSWER_TOKENS if max_tokens is None else min(ANSWER_TOKENS, max_tokens),
        cached_read_tokens=min(sent, cached),
    )
