"""What a person allowed holds for the period that was asked about."""

from pathlib import Path

from claw_acp.agent.budget import BudgetGuard, BudgetMemory, Limits
from claw_acp.contracts.questions import Choice, PermissionQuestion
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from claw_acp.session.session import Session
from tests.agent.test_billing import Nobody
from tests.support.fixed_clock import FixedClock


class Late(Nobody):
    """Allows the whole day, when the next one has begun."""

    def __init__(self, clock: FixedClock) -> None:
        self._clock = clock

    async def permission(self, question: PermissionQuestion) -> Choice | None:
        self._clock.seconds += 86_400
        return next(choice for choice in question.choices if choice.id == "period")


async def test_leave_for_a_day_is_for_the_day_it_was_asked_on(tmp_path: Path) -> None:
    clock, memory = FixedClock(), BudgetMemory()
    async with Journal.opened(tmp_path / "claw.db", clock=clock) as journal:
        record = SessionRecord(id="s", cwd="/w", mode="ask", model="a/one", created_at=1.0, updated_at=1.0)
        await journal.create(record)
        session = Session(record, journal=journal, clock=clock, roots=[Path("/w")])
        limits, ledger = Limits(amounts=(("daily", 50),)), journal.ledger
        guard = BudgetGuard(session, limits=limits, ledger=ledger, memory=memory, asker=Late(clock), clock=clock)
        asked_on = ledger.day
        await guard.admit(100, model="work/m")
        assert memory.allowed == {("daily", asked_on)}
        assert ledger.day != asked_on
        assert guard.waited > 0, "which is no time of the turn"
