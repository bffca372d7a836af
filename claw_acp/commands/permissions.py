"""`/permissions`: the rules that decide about tool calls."""

from claw_acp.contracts.command import CommandContext, CommandResult, Said


class Permissions:
    """Lists the rules in force, each with its origin."""

    name = "permissions"
    description = "Show which permission rules are in force"
    hint = None

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - takes none
        """See `Command`."""
        lines = [f"Mode **{context.mode}**: {_about_mode(context)}. {await context.about_sandbox()}", ""]
        if not context.rules:
            lines.append("No rules yet. Answering a permission request with *always* adds one for this project.")
        lines += [f"- {rule}" for rule in context.rules]
        return Said(text="\n".join(lines))


def _about_mode(context: CommandContext) -> str:
    setting = context.setting("mode")
    options = () if setting is None else setting.options
    return next((option.description or option.name for option in options if option.value == context.mode), "unknown")
