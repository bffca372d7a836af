"""The cost of model requests, as values of the ledger that are shown to people."""

from typing import Final, Literal

from claw_acp.core.messages import Usage
from claw_acp.core.money import shown
from claw_acp.core.value import Value

BudgetName = Literal["daily", "monthly", "session"]
Grouping = Literal["day", "model", "session"]
PERIODS: Final[dict[BudgetName, str]] = {"daily": "today", "monthly": "this month", "session": "in this session"}
"""The period of each budget, for people."""


class Spending(Value):
    """The number, tokens and cost of model requests.

    `cost` is in picodollars (see `core.money`). It leaves out `unpriced` requests, whose price is not known: with any
    of them the true cost is higher.
    """

    requests: int = 0
    usage: Usage = Usage()
    cost: int = 0
    unpriced: int = 0

    @property
    def text(self) -> str:
        """The cost for people: `$0.0042`, `at least $0.0042`, `unknown`."""
        if not self.unpriced:
            return shown(self.cost)
        return f"at least {shown(self.cost)}" if self.cost else "unknown"

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            requests=self.requests + other.requests,
            usage=self.usage + other.usage,
            cost=self.cost + other.cost,
            unpriced=self.unpriced + other.unpriced,
        )


class Share(Value):
    """The spending under one `key`: a day (`2026-11-22`), a model (`provider/model`) or the id of a session."""

    key: str
    spending: Spending


class Budget(Value):
    """The state of a budget; both amounts are in picodollars."""

    name: BudgetName
    limit: int
    spent: int

    @property
    def percent(self) -> int:
        """The percentage spent, rounded down; a budget of 0 is fully spent."""
        return 100 * self.spent // self.limit if self.limit else 100


class Bill(Value):
    """The costs and budgets of a session. `turn` covers the completed answers to the last prompt."""

    turn: Spending
    models: tuple[Share, ...]
    today: Spending
    month: Spending
    budgets: tuple[Budget, ...]
    warn: float = 0.8
