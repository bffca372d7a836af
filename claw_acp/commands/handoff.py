"""`/handoff`: the session goes on in another editor, or in a terminal."""

from claw_acp.contracts.command import HANDOFF, CommandContext, CommandResult, Said


class Handoff:
    """Gives the lead of the session to another place: what runs uses its files, and no longer ends with this one."""

    name = HANDOFF
    description = "Go on with this session in another editor or a terminal; what runs does not end when you leave"
    hint = "[place]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        return Said(text=context.hand_over(argument.strip()))
