"""`claw-acp cost`: the cost of all model requests in this store, by day, model or session."""

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from json import dumps

import anyio

from claw_acp.agent.budget import standing
from claw_acp.cli.current_settings import locations_here, settings_here
from claw_acp.cli.terminal.paint import Paint, columns
from claw_acp.core.errors import SessionNotFound
from claw_acp.core.money import shown, to_dollars
from claw_acp.core.printable import printable
from claw_acp.core.spending import Budget, Grouping, Share, Spending
from claw_acp.core.value import Value, as_dict
from claw_acp.runtime.billing import limits_of
from claw_acp.session.journal import Journal

LISTED = 30  # rows printed; --json has them all
MONTH = len("2026-11")


class _Report(Value):
    """The contents of the report. `titles` are those of sessions that still exist."""

    shares: tuple[Share, ...] = ()
    titles: Mapping[str, str] = {}
    today: Spending = Spending()
    month: Spending = Spending()
    budgets: tuple[Budget, ...] = ()


def main(argv: Sequence[str]) -> int:
    """Print the spending."""
    options = _parser().parse_args(argv)
    by: Grouping = options.by
    report = anyio.run(partial(_look, by))
    if options.json:
        print(dumps(_as_json(report, by), indent=2))
    elif not report.shares:
        print("nothing was spent yet")
    else:
        print("\n".join(_lines(report, by)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claw-acp cost",
        description="Show the cost of model requests in all sessions, including deleted ones.",
        epilog="Where a price is not known, the cost is at least what is shown; [prices] in config.toml sets prices, "
        "[budget] sets what may be spent.",
    )
    parser.add_argument("--by", choices=("day", "model", "session"), default="day", help="a row for each (default day)")
    parser.add_argument("--json", action="store_true", help="for programs")
    return parser


async def _look(by: Grouping) -> _Report:
    """The report from the ledger; a missing store is not created."""
    file = locations_here().database
    if not file.exists():
        return _Report()
    limits = limits_of(settings_here().budget)
    async with Journal.opened(file) as journal:
        ledger = journal.ledger
        shares = await ledger.shares(by)
        titles: dict[str, str] = {}
        for share in shares[:LISTED] if by == "session" else ():
            try:
                titles[share.key] = (await journal.get(share.key)).title or "untitled"
            except SessionNotFound:
                titles[share.key] = "(deleted)"
        budgets = await standing(ledger, limits, session_id="")
        return _Report(
            shares=shares,
            titles=titles,
            today=await ledger.spent(period=ledger.day),
            month=await ledger.spent(period=ledger.day[:MONTH]),
            budgets=tuple(budget for budget in budgets if budget.name != "session"),
        )


def _lines(report: _Report, by: Grouping) -> list[str]:
    paint = Paint()
    head = (by.upper(), "REQUESTS", "INPUT", "CACHED", "OUTPUT", "COST", "TITLE" if by == "session" else "")
    newest = report.shares[-LISTED:] if by == "day" else report.shares[:LISTED]
    table = columns([head, *(_row(share, report.titles.get(share.key, "")) for share in newest)])
    left_out = len(report.shares) - len(newest)
    lines = [paint(table[0], "bold"), *table[1:]]
    if left_out:
        lines.append(f"and {left_out} more; --json has them all")
    lines += ["", f"today       {report.today.text}", f"this month  {report.month.text}"]
    return lines + [
        f"{budget.name:<10}  {budget.percent} % of {shown(budget.limit)} is spent" for budget in report.budgets
    ]


def _row(share: Share, title: str) -> tuple[str, ...]:
    spending, usage = share.spending, share.spending.usage
    counts = (spending.requests, usage.input_tokens, usage.cached_read_tokens, usage.output_tokens)
    return printable(share.key), *(f"{count:,}" for count in counts), spending.text, printable(title)


def _as_json(report: _Report, by: Grouping) -> dict[str, object]:
    return {
        "currency": "USD",
        "by": by,
        "rows": [{by: share.key, **_plain(share.spending)} for share in report.shares],
        "today": _plain(report.today),
        "month": _plain(report.month),
        "budgets": [
            {"name": budget.name, "limit": to_dollars(budget.limit), "spent": to_dollars(budget.spent)}
            for budget in report.budgets
        ],
    }


def _plain(spending: Spending) -> dict[str, object]:
    """`cost` in dollars: a lower bound if `unpriced` is not 0."""
    return {
        "requests": spending.requests,
        "cost": to_dollars(spending.cost),
        "unpriced": spending.unpriced,
        **as_dict(spending.usage),
    }
