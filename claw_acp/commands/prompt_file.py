"""A slash command from a Markdown file: its text, with the arguments inserted, goes to the model."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from claw_acp.commands.front_matter import BadHead, split_document
from claw_acp.config.safe_read import OutsideDirectory, read_inside, read_plain_file
from claw_acp.contracts.command import Asks, CommandContext, CommandResult, Said
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.markdown import code_span
from claw_acp.core.printable import printable

LARGEST: Final = 64 * 1024  # bytes; a prompt, not a book
_SUMMARY: Final = 100  # characters of a description that is taken from the text

_PLACEHOLDER: Final = re.compile(r"\\\$(?=ARGUMENTS\b|[1-9])|\$(ARGUMENTS\b|[1-9](?!\d))")
_SHELL_FORM: Final = re.compile(r"!`[^`\n]+`")
_NOT_RUN: Final = (
    "\n\n(The parts of this prompt written as !`command` were not run. Where you need their output, run them yourself.)"
)

Scope = Literal["project", "user"]


class BadPromptFile(ValueError):
    """The file is no command; the text says why."""


class PromptFile:
    """A slash command from a Markdown file.

    Nothing in its text is run or read: forms that other programs execute (!`command`, @file) go to the model as text.

    Attributes:
        file: The file, if it belongs to a project: it is sent only where the person trusts its text.
    """

    def __init__(self, *, name: str, scope: Scope, text: str, file: ProjectFile | None = None) -> None:
        """Make the command from a file's text.

        Raises:
            BadPromptFile: The text is no valid command.
        """
        try:
            head, body = split_document(text)
        except BadHead as error:
            raise BadPromptFile(str(error)) from error
        self._body = body.strip()
        if not self._body:
            raise BadPromptFile("it holds no prompt")
        self._has_commands = _SHELL_FORM.search(body) is not None
        takes = any(found[1] for found in _PLACEHOLDER.finditer(body))
        where = f"({scope}; its !`…` parts are not run)" if self._has_commands else f"({scope})"
        self.name = name
        self.file = file
        self.description = f"{printable(head.get('description', '').strip() or _summary(self._body))} {where}"
        self.hint = printable(head.get("argument-hint", "").strip()) or ("[arguments]" if takes else None)

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        if self.file is None or (trusted := await context.trust.ask([self.file])):
            return Asks(prompt=self.expanded(argument))
        again = code_span(f"/trust {self.name} {argument}".rstrip())
        if trusted is False:
            return Said(text=f"Not sent. Should you come to trust its text: {again}.")
        question = await context.trust.question([self.file])
        all_of_them = "In a terminal, `claw-acp trust` trusts all of the project's."
        return Said(text=f"{question}\n\nTo trust this text and send it: {again}. {all_of_them}")

    def expanded(self, argument: str) -> str:
        """The prompt with `$ARGUMENTS` and `$1` to `$9` replaced; arguments without a placeholder follow it."""
        words = _words(argument)
        placed = False

        def put_in(found: re.Match[str]) -> str:
            nonlocal placed
            if found[1] is None:
                return "$"  # \$1 is a dollar sign and a digit
            placed = True
            if found[1] == "ARGUMENTS":
                return argument
            place = int(found[1]) - 1
            return words[place] if place < len(words) else ""

        prompt = _PLACEHOLDER.sub(put_in, self._body)
        if argument and not placed:
            prompt = f"{prompt}\n\n{argument}"
        return prompt + (_NOT_RUN if self._has_commands else "")


def read_prompt_file(path: Path, *, name: str, scope: Scope, project: Path | None = None) -> PromptFile:
    """The command in a file. Blocks: for a worker thread.

    Args:
        path: The file.
        name: The name of the command.
        scope: Where it comes from.
        project: The directory of the project that it belongs to; None: to none.

    Raises:
        BadPromptFile: It cannot be read, or is no command.
    """
    try:
        if project is None:
            data = read_plain_file(path, limit=LARGEST + 1)
        else:
            data = read_inside(project, path, limit=LARGEST + 1)
    except OutsideDirectory as error:
        raise BadPromptFile(error.strerror) from error
    except OSError as error:
        raise BadPromptFile(f"it cannot be read: {error.strerror}") from error
    if len(data) > LARGEST:
        raise BadPromptFile(f"it is larger than {LARGEST // 1024} KiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadPromptFile(f"it is not UTF-8 text (byte {error.start})") from error
    if "\0" in text:
        raise BadPromptFile("it is not text: it has a NUL character")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if project is None:
        return PromptFile(name=name, scope=scope, text=text)
    file = ProjectFile(kind="prompt file", project=project, path=str(path.relative_to(project)), text=text)
    return PromptFile(name=name, scope=scope, text=text, file=file)


def _words(argument: str) -> Sequence[str]:
    """The arguments one by one; closed quotes keep words together."""
    try:
        return shlex.split(argument)
    except ValueError:
        return argument.split()


def _summary(body: str) -> str:
    line = body.split("\n", 1)[0].lstrip("#").strip() or "A prompt"
    return line if len(line) <= _SUMMARY else line[: _SUMMARY - 1].rstrip() + "…"
