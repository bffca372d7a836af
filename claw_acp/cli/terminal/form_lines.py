"""Filling in a form on a terminal, a line for each question."""

import os
import sys
import termios
from collections.abc import Mapping, Sequence
from typing import assert_never

import anyio

from claw_acp.cli.terminal.live_view import LiveView
from claw_acp.core.printable import printable
from claw_acp.schema.elicitation import (
    BooleanPropertySchema,
    CreateElicitationRequest,
    CreateElicitationResponse,
    ElicitationContentValue,
    ElicitationPropertySchema,
    EnumOption,
    IntegerPropertySchema,
    MultiSelectPropertySchema,
    NumberPropertySchema,
    StringMultiSelectItems,
    StringPropertySchema,
)

LONGEST_LINE = 64 * 1024  # bytes; terminals themselves give up much earlier
_YES = frozenset({"y", "yes", "true", "on", "1"})
_NO = frozenset({"n", "no", "false", "off", "0"})


class _Refused(Exception):
    """The person declined to answer."""


class _Wrong(ValueError):
    """A typed line is no valid answer; the text describes a valid one."""


class FormPrompt:
    """Asks the questions of a form one after the other. Ctrl-D declines them all.

    An empty line leaves a question open, or takes its default. The agent validates the whole, and asks again if needed.
    """

    def __init__(self, view: LiveView) -> None:
        self._view = view

    async def answer(self, request: CreateElicitationRequest) -> CreateElicitationResponse:
        """The response to a form, with what was filled in."""
        schema = request.requested_schema
        assert schema is not None, "forms have a schema"
        self._view.section("form")
        for line in request.message.split("\n"):
            self._view.line(f"? {printable(line)}" if line else "", colour="yellow")
        content: dict[str, ElicitationContentValue] = {}
        try:
            for key, field in schema.properties.items():
                value = await self._ask(field, key=key, required=key in (schema.required or ()))
                if value is not None:
                    content[key] = value
        except _Refused:
            self._view.line("  → Declined", indent=2)
            return CreateElicitationResponse(action="decline")
        return CreateElicitationResponse(action="accept", content=content)

    async def _ask(
        self, field: ElicitationPropertySchema, *, key: str, required: bool
    ) -> ElicitationContentValue | None:
        title = printable(field.title or key)
        self._view.line(title if required else f"{title} (may be left open)", colour="bold", indent=4)
        if field.description:
            self._view.line(printable(field.description), indent=4)
        choices = _choices(field)
        for number, choice in enumerate(choices, start=1):
            about = f": {choice.description}" if choice.description else ""
            self._view.line(f"{number}  {printable(choice.title + about)}", indent=6)
        while True:
            line = await _typed_line(_prompt(field))
            if not line:
                if field.default is not None or not required:
                    return field.default
                self._view.line("This one is needed; Ctrl-D declines all questions.", colour="yellow", indent=4)
                continue
            try:
                return _value(field, line, choices)
            except _Wrong as problem:
                self._view.line(str(problem), colour="yellow", indent=4)


async def _typed_line(prompt: str) -> str:
    """A line from the terminal, without input typed before the question was shown.

    Raises:
        _Refused: The end of the input, or Ctrl-D.
    """
    descriptor = sys.stdin.fileno()
    termios.tcflush(descriptor, termios.TCIFLUSH)
    sys.stderr.write(f"    {prompt}> ")
    sys.stderr.flush()
    await anyio.wait_readable(descriptor)  # not in a thread, which could not be called off
    data = os.read(descriptor, LONGEST_LINE)
    if not data:
        sys.stderr.write("\n")
        raise _Refused
    return data.decode("utf-8", "replace").strip()


def _prompt(field: ElicitationPropertySchema) -> str:
    default = field.default
    match field:
        case BooleanPropertySchema():
            return "y/n " if default is None else f"y/n [{'y' if default else 'n'}] "
        case MultiSelectPropertySchema():
            return "numbers, with commas "
        case StringPropertySchema() if field.one_of or field.enum:
            return f"number [{default}] " if default else "number "
        case _:
            return "" if default is None else f"[{default}] "


def _choices(field: ElicitationPropertySchema) -> Sequence[EnumOption]:
    match field:
        case StringPropertySchema():
            return field.one_of or _plain(field.enum or ())
        case MultiSelectPropertySchema():
            items = field.items
            return _plain(items.enum) if isinstance(items, StringMultiSelectItems) else items.any_of
        case _:
            return ()


def _plain(values: Sequence[str]) -> Sequence[EnumOption]:
    return [EnumOption(const=value, title=value) for value in values]


def _value(field: ElicitationPropertySchema, line: str, choices: Sequence[EnumOption]) -> ElicitationContentValue:
    """The value of a line as an answer.

    Raises:
        _Wrong: The line is invalid.
    """
    match field:
        case StringPropertySchema():
            return _chosen(line, choices) if choices else line
        case MultiSelectPropertySchema():
            return tuple(dict.fromkeys(_chosen(word.strip(), choices) for word in line.split(",") if word.strip()))
        case BooleanPropertySchema():
            if line.lower() not in _YES | _NO:
                raise _Wrong("Type y or n.")
            return line.lower() in _YES
        case IntegerPropertySchema():
            return _number(int, line, "a whole number")
        case NumberPropertySchema():
            return _number(float, line, "a number")
        case _:
            assert_never(field)


def _chosen(word: str, choices: Sequence[EnumOption]) -> str:
    known: Mapping[str, str] = {
        **{choice.title.lower(): choice.const for choice in choices},
        **{choice.const.lower(): choice.const for choice in choices},
        **{str(number): choice.const for number, choice in enumerate(choices, start=1)},
    }
    if word.lower() not in known:
        raise _Wrong(f"Type a number from 1 to {len(choices)}.")
    return known[word.lower()]


def _number(kind: type[int] | type[float], line: str, name: str) -> int | float:
    try:
        return kind(line)
    except ValueError as error:
        raise _Wrong(f"Type {name}.") from error
