"""`/steer`: a word to the model while it works, for editors that let prompts wait until the turn is over."""

from claw_acp.contracts.command import STEER, Asks, CommandContext, CommandResult, Said


class Steer:
    """Runs only where there is no turn to join: then its text is an ordinary prompt."""

    name = STEER
    description = "Tell the model something while it works; it reads it before its next step"
    hint = "text"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - needs no session
        """See `Command`."""
        if not argument:
            return Said(
                text="`/steer text` tells the model something while it works, without waiting for its turn to end."
            )
        return Asks(prompt=argument, remark="There was no turn to steer, so this is a prompt of its own")
