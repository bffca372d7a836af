"""`/help`: what can be typed."""

from claw_acp.contracts.command import CommandContext, CommandResult, Said


class Help:
    """Lists the commands and says what the session is set to."""

    name = "help"
    description = "Show the commands and the session's settings"
    hint = None

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - takes none
        """See `Command`."""
        lines = ["| command | what it does |", "|---|---|"]
        for command in context.commands:
            usage = f"/{command.name} {command.hint}" if command.hint else f"/{command.name}"
            lines.append(f"| `{usage}` | {command.description} |")
        lines += ["", f"Mode **{context.mode}**, model **{context.model}**, working folder `{context.cwd}`."]
        return Said(text="\n".join(lines))
