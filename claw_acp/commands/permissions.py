"""`/permissions`: which rules decide about tool calls."""

from claw_acp.contracts.command import CommandContext, CommandResult, Said


class Permissions:
    """Lists the rules in force, each with where it came from."""

    name = "permissions"
    description = "Show which permission rules are in force"
    hint = None

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - takes none
        """See `Command`."""
        mode = next(option for option in context.modes if option.value == context.mode)
        lines = [f"Mode **{mode.value}**: {mode.description}.", ""]
        if not context.rules:
            lines.append("No rules yet. Answering a permission request with *always* adds one for this project.")
        lines += [f"- {rule}" for rule in context.rules]
        return Said(text="\n".join(lines))
