"""`/help`: the commands that can be typed."""

from claw_acp.contracts.command import Command, CommandContext, CommandResult, Said


class Help:
    """Lists the commands by origin, and the settings of the session."""

    name = "help"
    description = "Show the commands and the session's settings"
    hint = "[command]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        wanted = argument.removeprefix("/")
        if wanted:
            found = [command for command in _all(context) if command.name == wanted]
            text = f"`{_usage(found[0])}`: {found[0].description}" if found else f"There is no command /{wanted}."
            return Said(text=text)
        lines: list[str] = []
        for group in context.groups:
            lines += [f"**{group.name}**", "", "| command | what it does |", "|---|---|"]
            lines += [f"| `{_cell(_usage(command))}` | {_cell(command.description)} |" for command in group.commands]
            lines.append("")
        settings = ", ".join(f"{setting.name.lower()} **{setting.current}**" for setting in context.settings)
        lines.append(f"This session: {settings}, working folder `{context.cwd}`.")
        return Said(text="\n".join(lines))


def _all(context: CommandContext) -> list[Command]:
    return [command for group in context.groups for command in group.commands]


def _usage(command: Command) -> str:
    return f"/{command.name} {command.hint}" if command.hint else f"/{command.name}"


def _cell(text: str) -> str:
    """Text escaped for a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
