"""`/context`: what fills the model's window, by kind."""

from collections.abc import Sequence

from claw_acp.contracts.command import CommandContext, CommandResult, ContextUse, Said
from claw_acp.core.events import Event, UsageChanged
from claw_acp.core.messages import Usage

KEPT = "You still see all of it; `/compact` makes room at once, and by itself it is made when half is filled."


class Context:
    """Lists the content of the next model request, and the tokens of all requests so far."""

    name = "context"
    description = "Show what fills the model's context, and the tokens used so far"
    hint = None

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - takes none
        """See `Command`."""
        use = context.context_use()
        lines = [*_table(use), "", *_made_room(use), *_requests(await context.events())]
        return Said(text="\n".join(lines))


def _table(use: ContextUse) -> list[str]:
    """A row for each kind that takes anything."""
    filled = sum(share.tokens for share in use.shares)
    of = f"of {use.window:,}{', assumed: nobody states how many the model takes' if use.assumed else ''}"
    rows = [
        f"| {share.kind} | {share.tokens:,} | {_percent(share.tokens, use.window)} |"
        for share in use.shares
        if share.tokens
    ]
    free = max(0, use.window - filled)
    return [
        f"The next request takes about **{filled:,} tokens** {of} ({_percent(filled, use.window)}).",
        "",
        "| Content | Tokens | Share |",
        "| --- | ---: | ---: |",
        *rows,
        f"| Free | {free:,} | {_percent(free, use.window)} |",
    ]


def _made_room(use: ContextUse) -> list[str]:
    told = [f"{use.summarized} messages are summarized or left out"] if use.summarized else []
    told += [f"{use.shortened} old tool results are shortened"] if use.shortened else []
    return [f"For the model {' and '.join(told)}. {KEPT}", ""] if told else []


def _requests(events: Sequence[Event]) -> list[str]:
    usages = [event.request for event in events if isinstance(event, UsageChanged)]
    if not usages:
        return ["The model has not reported any tokens yet; these are estimates."]
    total = sum(usages, start=Usage())
    sent = f"{total.input_tokens:,} tokens in ({total.cached_read_tokens:,} from cache)"
    return [f"All requests so far: {sent}, {total.output_tokens:,} out."]


def _percent(tokens: int, window: int) -> str:
    return f"{100 * tokens / window:.0f} %"
