"""The cost of turns: prices and budgets from the settings, the ledger from the journal."""

import logging

from claw_acp.agent.billing import Billing
from claw_acp.agent.budget import BudgetGuard, BudgetMemory, Limits, standing
from claw_acp.agent.client_ports import ClientPorts
from claw_acp.config.model import BudgetSection
from claw_acp.config.settings import Settings
from claw_acp.core.clock import Clock
from claw_acp.core.errors import StoreError
from claw_acp.core.events import MessageStarted, UsageChanged
from claw_acp.core.messages import Usage
from claw_acp.core.money import from_dollars
from claw_acp.core.spending import Bill, BudgetName, Spending
from claw_acp.providers.catalog.price_list import PriceList
from claw_acp.runtime.live_session import LiveSession
from claw_acp.session.stores import Ledger

log = logging.getLogger(__name__)


class CostTracker:
    """Tracks costs for the whole program; remembers what people allowed, and prices while settings stay the same."""

    def __init__(self, ledger: Ledger, *, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock
        self._memory = BudgetMemory()
        self._prices: tuple[Settings, PriceList] | None = None

    def billing(self, live: LiveSession, *, model: str, ports: ClientPorts) -> Billing:
        """The billing of a turn that asks `model` (`provider/model`). Attempts count for their prompt's session."""
        paying = live.origin.session
        guard = BudgetGuard(
            paying,
            limits=limits_of(live.settings.budget),
            ledger=self._ledger,
            memory=self._memory,
            asker=ports.asker,
            clock=self._clock,
        )
        prices = self.prices(live.settings)
        return Billing(
            live.session, model=model, price=prices.cost, ledger=self._ledger, guard=guard, account=paying.id
        )

    def charge_told(self, live: LiveSession, *, model: str, usage: Usage | None, dollars: float) -> None:
        """Record the cost of a turn as the program tells it that carried the turn out."""
        try:
            self._ledger.add(
                live.origin.session.id,
                model=model,
                usage=usage or Usage(),
                cost=from_dollars(dollars) if dollars else None,
            )
        except StoreError as error:  # the program is ending
            log.warning("cost not kept", extra={"session": live.session.id, "reason": error.message})

    def prices(self, settings: Settings) -> PriceList:
        """The prices under these settings."""
        if self._prices is None or self._prices[0] is not settings:
            self._prices = settings, PriceList(settings, clock=self._clock)
        return self._prices[1]


def limits_of(budget: BudgetSection) -> Limits:
    """The configured budgets."""
    amounts: tuple[tuple[BudgetName, float | None], ...] = (
        ("session", budget.session),
        ("daily", budget.daily),
        ("monthly", budget.monthly),
    )
    known: list[tuple[BudgetName, int]] = [
        (name, from_dollars(amount)) for name, amount in amounts if amount is not None
    ]
    return Limits(amounts=tuple(known), warn=budget.warn)


async def bill_of(live: LiveSession, *, ledger: Ledger) -> Bill:
    """The costs and budgets of a session.

    Raises:
        StoreError: The ledger cannot be read.
    """
    session_id = live.session.id
    limits = limits_of(live.settings.budget)
    return Bill(
        turn=await _last_turn(live),
        models=await ledger.shares("model", session_id=session_id),
        today=await ledger.spent(period=ledger.day),
        month=await ledger.spent(period=ledger.day[: len("2026-11")]),
        budgets=await standing(ledger, limits, session_id=session_id),
        warn=limits.warn,
    )


async def _last_turn(live: LiveSession) -> Spending:
    turn = Spending()
    for event in await live.session.read():
        if isinstance(event, MessageStarted) and event.role == "user" and not event.local_only:
            turn = Spending()
        elif isinstance(event, UsageChanged):
            cost = event.cost
            turn += Spending(
                requests=1,
                usage=event.request,
                cost=0 if cost is None else from_dollars(cost),
                unpriced=int(cost is None),
            )
    return turn
