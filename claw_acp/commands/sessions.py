"""`/fork` and `/rename`: operations on a session for clients without a menu for them."""

from claw_acp.contracts.command import CommandContext, CommandResult, Said
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.markdown import code_span


class Fork:
    """Copies the session. The editor decides what it shows, so the copy waits to be opened."""

    name = "fork"
    description = "Copy this session as it is now, or as it was after a turn, to go on from there in two ways"
    hint = "[turn]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        if argument and not argument.isdecimal():
            return Said(text=f"{code_span(argument)} is not the number of a turn; `/undo list` shows them.")
        try:
            copy = await context.fork(int(argument) if argument else None)
        except InvalidRequest as error:
            return Said(text=f"Nothing was copied: {error.message}.")
        return Said(
            text=f"The copy is the session `{copy}`. It is in your editor's list of sessions, and "
            f'`claw-acp run --session {copy} "..."` goes on with it. This session stays as it is.'
        )


class Rename:
    """Shows or changes the title."""

    name = "rename"
    description = "Show or change this session's title"
    hint = "[title]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        if not argument:
            return Said(
                text=f"This session is called **{context.title}**." if context.title else "It has no title yet."
            )
        try:
            title = await context.rename(argument)
        except InvalidRequest as error:
            return Said(text=f"Nothing changed: {error.message}.")
        return Said(text=f"This session is now called **{title}**.")
