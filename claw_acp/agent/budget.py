"""The limits on spending: before a model request that may exceed a budget, a person is asked.

Requests that are under way count with what they are expected to cost, so that attempts side by side stay within a
budget together. A request may cost more than was expected; the next one takes that into account. Programs side by side
see only what the others have spent: each may exceed a budget by one request.
"""

from collections.abc import Sequence
from typing import Final
from weakref import WeakKeyDictionary

from claw_acp.agent.announced_question import ask_announced
from claw_acp.agent.user_wait import UserWait
from claw_acp.contracts.questions import Asker, Choice, PermissionQuestion
from claw_acp.core.clock import Clock
from claw_acp.core.errors import BudgetReached
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.core.money import shown
from claw_acp.core.spending import PERIODS, Budget, BudgetName
from claw_acp.core.value import Value
from claw_acp.session.session import Session
from claw_acp.session.stores import Ledger

TOOL: Final = "budget"
"""The tool name under which the question is shown; there is no such tool."""

_ONCE: Final = Choice(id="once", label="Go on, this once", kind="allow_once")
_UNPRICED: Final = Choice(id="unpriced", label="Go on with this model", kind="allow_once")
_STOP: Final = Choice(id="stop", label="Stop here", kind="reject_once")
_LASTING: Final[dict[BudgetName, str]] = {
    "daily": "Go on for today",
    "monthly": "Go on for this month",
    "session": "Go on in this session",
}
_RELIEF: Final[dict[BudgetName, str]] = {
    "daily": "wait for tomorrow",
    "monthly": "wait for next month",
    "session": "start a new session",
}


class Limits(Value):
    """The budgets in force, in picodollars, and the fraction of them at which a warning is shown."""

    amounts: tuple[tuple[BudgetName, int], ...] = ()
    warn: float = 0.8


class BudgetMemory:
    """The warnings shown and permissions given since the program started, shared by all sessions.

    The first two hold budgets with their period: (`daily`, `2026-11-22`), (`session`, `ses_...`); `unpriced` holds
    sessions with the models that may be used there without a known price; `under_way` has the session and the expected
    cost of each guard's present request.
    """

    def __init__(self) -> None:
        self.warned: set[tuple[BudgetName, str]] = set()
        self.allowed: set[tuple[BudgetName, str]] = set()
        self.unpriced: set[tuple[str, str]] = set()
        self.under_way: WeakKeyDictionary[BudgetGuard, tuple[str, int]] = WeakKeyDictionary()


async def standing(ledger: Ledger, limits: Limits, *, session_id: str) -> tuple[Budget, ...]:
    """The current state of the budgets.

    Raises:
        StoreError: The ledger cannot be read.
    """
    day = ledger.day
    scopes: dict[BudgetName, tuple[str, str | None]] = {
        "daily": (day, None),
        "monthly": (day[: len("2026-11")], None),
        "session": ("", session_id),
    }
    budgets: list[Budget] = []
    for name, limit in limits.amounts:
        period, session = scopes[name]
        spending = await ledger.spent(period=period, session_id=session)
        budgets.append(Budget(name=name, limit=limit, spent=spending.cost))
    return tuple(budgets)


class BudgetGuard:
    """Admits the model requests of one turn."""

    def __init__(
        self, session: Session, *, limits: Limits, ledger: Ledger, memory: BudgetMemory, asker: Asker, clock: Clock
    ) -> None:
        self._session = session
        self._limits = limits
        self._ledger = ledger
        self._memory = memory
        self._asker = asker
        self._clock = clock
        self._waiting = UserWait(session)

    @property
    def waited(self) -> float:
        """The seconds in which a person was asked about a budget."""
        return self._waiting.seconds

    @property
    def needed(self) -> bool:
        """True if there is any budget."""
        return bool(self._limits.amounts)

    async def admit(self, expected: int | None, *, model: str) -> None:
        """Admit a request, after asking the person if it may exceed a budget.

        Args:
            expected: Its expected cost, in picodollars; None when it is not known: then the person is asked once for
                each model of a session, and again when a budget is used up. 0 always passes.
            model: The model to ask (`provider/model`).

        Raises:
            BudgetReached: The person declined, or could not be asked.
            StoreError: The ledger cannot be read.
        """
        if expected == 0 or not self.needed:
            return
        budgets = await standing(self._ledger, self._limits, session_id=self._session.id)
        if expected is None:
            await self._ask_unpriced(budgets, model)
        passed = [
            budget
            for budget in budgets
            if self._key(budget) not in self._memory.allowed
            and _would_pass(budget, expected, under_way=self._others(budget))
        ]
        if expected is not None and not passed:
            self._memory.under_way[self] = self._session.id, expected
        if passed:
            await self._ask(passed, expected)
        else:
            await self._warn(budgets)

    def end(self) -> None:
        """Note that the request has ended."""
        self._memory.under_way.pop(self, None)

    def _others(self, budget: Budget) -> int:
        """The expected cost of other requests under way that count for a budget."""
        others = (entry for guard, entry in self._memory.under_way.items() if guard is not self)
        return sum(cost for session, cost in others if budget.name != "session" or session == self._session.id)

    def _key(self, budget: Budget) -> tuple[BudgetName, str]:
        day = self._ledger.day
        return budget.name, {"daily": day, "monthly": day[: len("2026-11")], "session": self._session.id}[budget.name]

    async def _warn(self, budgets: Sequence[Budget]) -> None:
        """Warn of budgets that are nearly used up, once per budget and period."""
        for budget in budgets:
            key = self._key(budget)
            handled = key in self._memory.warned or key in self._memory.allowed
            if handled or budget.spent < budget.limit * self._limits.warn:
                continue
            self._memory.warned.add(key)
            title = f"{budget.percent} % of the {budget.name} budget is spent"
            text = f"{_spent(budget)}. You are asked before a request that may exceed it. `/cost` shows more."
            notice = Notice(item=new_id("ntc", clock=self._clock), severity="warning", title=title, description=text)
            await self._session.publish(notice)

    async def _ask(self, passed: Sequence[Budget], expected: int | None) -> None:
        under_way = max(self._others(budget) for budget in passed)
        reason, keys = (
            _reason(passed, expected, under_way),
            [self._key(budget) for budget in passed],
        )  # days end; people take time
        label = _LASTING[passed[0].name] if len(passed) == 1 else "Go on, as long as these budgets run"
        lasting = Choice(id="period", label=label, kind="allow_always")
        answer = await self._answer("Go on past the budget?", reason=f"{reason}.", choices=(_ONCE, lasting, _STOP))
        if answer is None:
            unknown = " by a request whose price is not known" if expected is None else ""
            raise BudgetReached(f"Stopped before {_passed(passed)}{unknown}; {_advice(passed)}")
        if answer.id != _ONCE.id:
            self._memory.allowed.update(keys)

    async def _ask_unpriced(self, budgets: Sequence[Budget], model: str) -> None:
        """Ask whether a model may answer whose cost no budget can limit."""
        place = (self._session.id, model)
        if place in self._memory.unpriced:
            return
        names = " and ".join(f"the {budget.name} budget ({shown(budget.limit)})" for budget in budgets)
        reason = f"The price of {model} is not known, so its cost does not count against {names}"
        answer = await self._answer(
            "Ask a model without a known price?", reason=f"{reason}.", choices=(_UNPRICED, _STOP)
        )
        if answer is None:
            raise BudgetReached(
                f"Stopped before asking {model}: its price is not known, and there is {names}. "
                f'Set its price under [prices."{model}"] in config.toml, or choose another model.'
            )
        self._memory.unpriced.add(place)

    async def _answer(self, title: str, *, reason: str, choices: Sequence[Choice]) -> Choice | None:
        """The person's answer, asked under a tool call shown meanwhile; None: declined, or no person could be asked."""
        question = PermissionQuestion(
            session=self._session.id, call_id="", title=title, reason=reason, content=(), choices=tuple(choices)
        )
        choice = await ask_announced(
            self._session, self._asker, question, tool=TOOL, clock=self._clock, waiting=self._waiting
        )
        return None if choice is None or choice.id == _STOP.id else choice


def _would_pass(budget: Budget, expected: int | None, *, under_way: int) -> bool:
    spent = budget.spent + under_way
    return spent >= budget.limit if expected is None else spent + expected > budget.limit


def _spent(budget: Budget) -> str:
    return f"{shown(budget.spent)} of {shown(budget.limit)} was spent {PERIODS[budget.name]}"


def _passed(passed: Sequence[Budget]) -> str:
    return " and ".join(f"the {budget.name} budget was passed ({_spent(budget)})" for budget in passed)


def _reason(passed: Sequence[Budget], expected: int | None, under_way: int) -> str:
    budgets = " and ".join(f"the {budget.name} budget ({_spent(budget)})" for budget in passed)
    cost = "whose price is not known" if expected is None else f"which may cost about {shown(expected)}"
    beside = f" beside others that may cost {shown(under_way)}" if under_way else ""
    return f"The next model request, {cost}{beside}, may pass {budgets}"


def _advice(passed: Sequence[Budget]) -> str:
    keys = " and ".join(f"`{budget.name}`" for budget in passed)
    relief = dict.fromkeys(_RELIEF[budget.name] for budget in passed)
    return f"raise {keys} below [budget] in config.toml, or {' and '.join(relief)}"
