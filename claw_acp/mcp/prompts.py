"""A server's prompt as a slash command: `/server:prompt value other=value "two words"`."""

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from claw_acp.contracts.command import Asks, Command, CommandContext, CommandResult, Said
from claw_acp.core.errors import ToolError
from claw_acp.core.messages import ContentPart, TextPart
from claw_acp.mcp.server import Server
from claw_acp.mcp.server_catalog import OfferedPrompt, PromptArgument

LONGEST_DESCRIPTION = 200  # characters of a line in a completion list


class PromptCommand:
    """See `Command`. The server's answer goes to the model as the user's prompt."""

    def __init__(self, prompt: OfferedPrompt, *, name: str, server: Server) -> None:
        self._prompt = prompt
        self._server = server
        self.name = name
        about = " ".join(prompt.description.split()) or f"Prompt {prompt.name}"
        self.description = f"{about[:LONGEST_DESCRIPTION]} ({server.name})"
        hints = [argument.name if argument.required else f"[{argument.name}]" for argument in prompt.arguments]
        self.hint: str | None = " ".join(hints) or None

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - the server knows all
        """See `Command`."""
        values = bound(argument, self._prompt.arguments)
        missing = [known.name for known in self._prompt.arguments if known.required and known.name not in values]
        if missing:
            return Said(text=self._help(missing))
        try:
            parts = await self._server.prompt(self._prompt.name, values)
        except ToolError as error:
            return Said(text=error.message)
        text = "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
        others: tuple[ContentPart, ...] = tuple(part for part in parts if not isinstance(part, TextPart))
        if not text and not others:
            return Said(text=f"The prompt {self._prompt.name} of {self._server.name} is empty.")
        return Asks(prompt=text, attachments=others)

    def _help(self, missing: Sequence[str]) -> str:
        lines = [f"`/{self.name}` needs {', '.join(f'`{name}`' for name in missing)}.", ""]
        lines += [_line(argument) for argument in self._prompt.arguments]
        example = " ".join(f"{argument.name}=…" for argument in self._prompt.arguments if argument.required)
        lines += ["", f"For example: `/{self.name} {example}`. Values stand in this order or as `name=value`."]
        return "\n".join(lines)


def bound(text: str, arguments: Sequence[PromptArgument]) -> dict[str, str]:
    """The values of arguments: `name=value` anywhere, the others in order; the last takes the rest.

    Quotes keep words together. A single argument needs none: it is the whole text.
    """
    known = [argument.name for argument in arguments]
    named = re.compile(rf"({'|'.join(map(re.escape, known))})=(.*)", re.DOTALL) if known else None
    if len(known) == 1 and named:
        said = named.fullmatch(text)
        whole = said[2] if said else text
        words = _words(whole)
        return {known[0]: words[0] if len(words) == 1 else whole} if text else {}
    values: dict[str, str] = {}
    loose: list[str] = []
    for word in _words(text):
        match = named.fullmatch(word) if named else None
        if match and match[1] not in values:
            values[match[1]] = match[2]
        else:
            loose.append(word)
    free = [name for name in known if name not in values]
    for index, name in enumerate(free):
        rest = loose[index:]
        if rest:
            values[name] = " ".join(rest) if name == free[-1] else rest[0]
    return values


def _words(text: str) -> list[str]:
    """Words as in a shell, except that an apostrophe that opens no quote is ordinary text."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _line(argument: PromptArgument) -> str:
    about = f": {argument.description}" if argument.description else ""
    return f"- `{argument.name}`{'' if argument.required else ' (optional)'}{about}"


if TYPE_CHECKING:
    _conforms: type[Command] = PromptCommand
