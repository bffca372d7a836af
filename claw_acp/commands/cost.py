"""`/cost`: the cost of the session's model requests, and the state of the budgets."""

from typing import Final

from claw_acp.contracts.command import CommandContext, CommandResult, Said
from claw_acp.core.money import shown
from claw_acp.core.spending import Bill, Budget, Share, Spending

BAR: Final = 20  # characters


class Cost:
    """Shows the bill: the last turn, the session by model, the day, the month, the budgets."""

    name = "cost"
    description = "Show the cost of this session, of today and of this month"
    hint = None

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - takes none
        """See `Command`."""
        return Said(text=as_markdown(await context.bill()))


def as_markdown(bill: Bill) -> str:
    """The bill as Markdown."""
    session = sum((share.spending for share in bill.models), start=Spending())
    lines = [f"This session: **{session.text}** in {_count(session.requests)}."]
    if bill.models:
        lines += ["", *_table(bill.models)]
    turn = [f"- Last turn: {bill.turn.text} in {_count(bill.turn.requests)}"] if bill.turn.requests else []
    lines += ["", *turn, f"- Today: {bill.today.text}", f"- This month: {bill.month.text}"]
    if bill.budgets:
        lines += ["", "Budgets:", "", *(_budget(budget) for budget in bill.budgets)]
    unknown = [share.key for share in bill.models if share.spending.unpriced]
    if unknown:
        names = ", ".join(f"`{name}`" for name in unknown)
        lines += ["", f"The cost of some requests to {names} is not known.", *_advice(unknown[0])]
    return "\n".join(lines)


def _table(models: tuple[Share, ...]) -> list[str]:
    head = ["| Model | Requests | Input | of it cached | Output | Cost |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    rows: list[str] = []
    for share in models:
        spending, usage = share.spending, share.spending.usage
        rows.append(
            f"| `{share.key}` | {spending.requests:,} | {usage.input_tokens:,} | {usage.cached_read_tokens:,} "
            f"| {usage.output_tokens:,} | {spending.text} |"
        )
    return [*head, *rows]


def _budget(budget: Budget) -> str:
    filled = min(BAR, budget.percent * BAR // 100)
    bar = "█" * filled + "░" * (BAR - filled)
    return f"- {budget.name}: `{bar}` {budget.percent} %, {shown(budget.spent)} of {shown(budget.limit)}"


def _advice(model: str) -> tuple[str, str]:
    return (
        f'If the price of the model is missing, set it in config.toml: `[prices."{model}"]`.',
        "Interrupted answers are billed as well, but their tokens are not reported.",
    )


def _count(requests: int) -> str:
    return f"{requests:,} request{'' if requests == 1 else 's'}"
