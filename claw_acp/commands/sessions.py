"""`/fork` and `/rename`: operations on a session for clients without a menu for them."""

from claw_acp.contracts.command import CommandContext, CommandResult, Said
from claw_acp.core.errors import InvalidRequest


class Fork:
    """Copies the session. The editor decides what it shows, so the copy waits to be opened."""

    name = "fork"
    description = "Copy this session as it is now, to go on from here in two ways"
    hint = None

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - takes none
        """See `Command`."""
        copy = await context.fork()
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
