"""`/trust`: lets a prompt file of the project speak in the person's name, as it was shown."""

from claw_acp.commands.prompt_file import PromptFile
from claw_acp.contracts.command import Asks, CommandContext, CommandResult, Said
from claw_acp.core.markdown import code_span
from claw_acp.core.printable import printable


class Trust:
    """Trusts the text of a prompt file that was shown in this session, and sends it; else shows it first."""

    name = "trust"
    description = "Trust a prompt file of this project as it was shown, and send it"
    hint = "[command [arguments]]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        wanted, *rest = argument.split(maxsplit=1) or [""]
        files = [
            command
            for group in context.groups
            for command in group.commands
            if isinstance(command, PromptFile) and command.file is not None
        ]
        chosen = next((command for command in files if command.name == wanted.removeprefix("/")), None)
        if chosen is None or chosen.file is None:
            names = ", ".join(code_span(f"/{command.name}") for command in files) or "there are none"
            unknown = f"{code_span(printable(wanted))} is no prompt file of this project. " if wanted else ""
            return Said(text=f"{unknown}Prompt files of this project: {names}. Naming one shows it.")
        if await context.trust.accept([chosen.file]):
            remark = f"You trust {printable(chosen.file.path)} as it stands; a change is asked about again"
            return Asks(prompt=chosen.expanded("".join(rest)), remark=remark)
        if await context.trust.question([chosen.file]):
            return await chosen.run("".join(rest), context)
        return Said(text=f"You trust {code_span(printable(chosen.file.path))} as it stands already.")
