"""`/compact`: replaces the conversation by a summary, before the context fills by itself."""

from claw_acp.contracts.command import CommandContext, CommandResult, Summarizes


class Compact:
    """Has the model summarize the conversation; the argument names what to keep in particular."""

    name = "compact"
    description = "Summarize the conversation for the model, which makes room in its context; you still see all of it"
    hint = "[what to keep]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - needs the model alone
        """See `Command`."""
        return Summarizes(focus=argument)
