"""`claw-acp cost`: the ledger, for people and for programs."""

import json
from pathlib import Path

import anyio
import pytest

from claw_acp.cli.sessions import costs
from claw_acp.core.messages import Usage
from claw_acp.core.money import from_dollars
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord
from tests.support.fixed_clock import FixedClock

Capture = pytest.CaptureFixture[str]
DAY = 86_400.0


async def fill(home: Path, *, days: int = 2) -> None:
    """A session that exists and one that does not, on several days."""
    clock = FixedClock()
    usage = Usage(input_tokens=1200, output_tokens=300, cached_read_tokens=200)
    async with Journal.opened(home / "claw.db", clock=clock) as journal:
        await journal.create(
            SessionRecord(id="ses_kept", cwd="/w", title="Mend it", mode="ask", model="p/m", created_at=1, updated_at=1)
        )
        for _ in range(days):
            journal.ledger.add("ses_kept", model="openai/gpt-5.1", usage=usage, cost=from_dollars(0.0042))
            journal.ledger.add("ses_gone", model="odd/x", usage=usage, cost=None)
            clock.seconds += DAY


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.split("\n\n", maxsplit=1)[0].splitlines()]


@pytest.fixture
def filled(home: Path) -> Path:
    anyio.run(fill, home)
    return home


def test_a_store_that_is_not_there_is_not_made_for_looking(home: Path, capsys: Capture) -> None:
    assert costs.main([]) == 0
    assert capsys.readouterr().out == "nothing was spent yet\n"
    assert not (home / "claw.db").exists()
    assert costs.main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == []


def test_days_are_listed_and_summed(filled: Path, capsys: Capture) -> None:
    costs.main([])
    out = capsys.readouterr().out
    head, first, second = rows(out)
    assert head == ["DAY", "REQUESTS", "INPUT", "CACHED", "OUTPUT", "COST"]
    assert first[1:] == second[1:] == ["2", "2,400", "400", "600", "at", "least", "$0.0042"]
    assert "today       $0.00" in out


def test_models_are_listed_the_dearest_first(filled: Path, capsys: Capture) -> None:
    costs.main(["--by", "model"])
    _, first, second = rows(capsys.readouterr().out)
    assert first == ["openai/gpt-5.1", "2", "2,400", "400", "600", "$0.0084"]
    assert second == ["odd/x", "2", "2,400", "400", "600", "unknown"]


def test_sessions_are_listed_also_those_that_were_deleted(filled: Path, capsys: Capture) -> None:
    costs.main(["--by", "session"])
    _, first, second = rows(capsys.readouterr().out)
    assert (first[0], first[-2:]) == ("ses_kept", ["Mend", "it"])
    assert (second[0], second[-1]) == ("ses_gone", "(deleted)")


def test_programs_get_every_row_in_dollars(filled: Path, capsys: Capture) -> None:
    costs.main(["--json", "--by", "model"])
    found = json.loads(capsys.readouterr().out)
    assert (found["currency"], found["by"]) == ("USD", "model")
    assert found["rows"][0] == {
        "model": "openai/gpt-5.1",
        "requests": 2,
        "cost": 0.0084,
        "unpriced": 0,
        "input_tokens": 2400,
        "output_tokens": 600,
        "cached_read_tokens": 400,
        "cached_write_tokens": 0,
        "thought_tokens": 0,
    }


def test_the_last_days_are_shown_when_there_are_many(home: Path, capsys: Capture) -> None:
    anyio.run(lambda: fill(home, days=costs.LISTED + 3))
    costs.main([])
    assert "and 3 more; --json has them all" in capsys.readouterr().out


def test_budgets_are_shown(filled: Path, capsys: Capture) -> None:
    (filled / "config.toml").write_text("[budget]\ndaily = 5\nsession = 1\n")
    costs.main([])
    out = capsys.readouterr().out
    assert "daily       0 % of $5.00 is spent" in out
    assert "session  " not in out
