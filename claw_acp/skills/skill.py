"""A skill: its head, its text, and what it needs."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, cast

from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.printable import printable
from claw_acp.core.value import Value
from claw_acp.skills.head import BadHead, split_skill

Scope = Literal["project", "user", "built-in"]

FILE: Final = "SKILL.md"
LONGEST_NAME: Final = 64
MOST_LINES: Final = 500
LONGEST_DESCRIPTION: Final = 1_024
NAME_PATTERN: Final = r"(?!.*--)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_OWNERS: Final = ("claw", "nanobot", "openclaw")
"""The keys of `metadata` below which programs keep what is theirs; the first that is there counts."""
_PLACEHOLDER: Final = r"\\\$(?=ARGUMENTS\b|\d)|\$ARGUMENTS\[(\d)\]|\$(ARGUMENTS)\b|\$(\d)(?!\d)"
_ARGUMENT: Final = r"[A-Za-z_][\w-]*"
MOST_ARGUMENTS: Final = 10
_SHELL_FORM: Final = r"!`[^`\n]+`"
_NOT_RUN: Final = "(What stands in this skill as !`command` was not run. Where you need its output, run it yourself.)"


class Needs(Value):
    """What a skill needs: all of `programs`, one of `any_program`, all variables and tools, one of the systems."""

    programs: tuple[str, ...] = ()
    any_program: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()


class Skill(Value):
    """A skill.

    Attributes:
        name: Its name, by which people and models call it.
        description: When to use it, on one line.
        body: Its text.
        folder: Its folder, with the files it may name.
        scope: Where it comes from.
        always: Its text stands in every system prompt.
        for_model: Models are told of it.
        for_person: It is a slash command.
        hint: A hint for the arguments of that command.
        arguments: The names by which its text has single arguments, in their order.
        forks: It works in a conversation of its own.
        agent: The agent that does that work; empty: none in particular.
        model: The model that does; empty: that of the agent, or the conversation.
        needs: What it needs to work.
        file: The file of a project, which counts only where the person trusts its text.
        warnings: Faults that do not keep it from being used.
    """

    name: str
    description: str
    body: str
    folder: Path
    scope: Scope
    always: bool = False
    for_model: bool = True
    for_person: bool = True
    hint: str | None = None
    arguments: tuple[str, ...] = ()
    forks: bool = False
    agent: str = ""
    model: str = ""
    needs: Needs = Needs()
    file: ProjectFile | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_long(self) -> bool:
        """True if its text is longer than the format recommends."""
        return self.body.count("\n") >= MOST_LINES

    @property
    def _placeholder(self) -> str:
        """The pattern of what stands for arguments."""
        if not self.arguments:
            return _PLACEHOLDER
        names = f"(?:{'|'.join(self.arguments)})(?![\\w-])"
        return rf"\\\$(?={names})|{_PLACEHOLDER}|\${names}"

    def expanded(self, argument: str = "") -> str:
        """Its text with arguments inserted; those without a placeholder follow it. Nothing in it is run.

        Without arguments `$1` stays as it is: it may belong to a script.
        """
        words, placed = _words(argument), False

        def put_in(found: re.Match[str]) -> str:
            nonlocal placed
            if found[0].startswith("\\"):
                return "$"
            named = found[0][1:] in self.arguments
            place = self.arguments.index(found[0][1:]) if named else found[1] or found[3]
            if place is None or argument:
                placed = True
            if place is None:
                return argument
            return (words[int(place)] if int(place) < len(words) else "") if argument else found[0]

        text = self.body.replace("${CLAUDE_SKILL_DIR}", str(self.folder)).replace("{baseDir}", str(self.folder))
        text = re.sub(self._placeholder, put_in, text)
        if argument and not placed:
            text = f"{text}\n\nARGUMENTS: {argument}"
        not_run = f"\n\n{_NOT_RUN}" if re.search(_SHELL_FORM, self.body) else ""
        return f"# Skill {self.name}\n\nIts folder: {self.folder}\n\n{text}{not_run}"


def parse_skill(text: str, *, folder: Path, scope: Scope, file: ProjectFile | None = None) -> Skill:
    """The skill that a `SKILL.md` describes.

    Raises:
        BadHead: It describes none; the text says why.
    """
    head, body = split_skill(text)
    warnings: list[str] = []
    name = _name(_text(head, "name"), folder=folder.name, warnings=warnings)
    description = " ".join([_text(head, "description"), _text(head, "when_to_use")]).strip()
    if not description:
        raise BadHead("it has no description, so nobody could tell when to use it")
    if not body:
        raise BadHead("it has no text below its head")
    if len(description) > LONGEST_DESCRIPTION:
        warnings.append(f"its description is longer than {LONGEST_DESCRIPTION:,} characters and was cut")
    forks = _text(head, "context") == "fork"
    unused = [
        key for key in ("allowed-tools", "hooks", *(() if forks else ("context", "model", "agent"))) if key in head
    ]
    if unused:
        warnings.append(f"not used here: {', '.join(unused)}")
    own = _own_metadata(head.get("metadata"))
    return Skill(
        name=name,
        description=printable(" ".join(description.split()))[:LONGEST_DESCRIPTION],
        body=body,
        folder=folder,
        scope=scope,
        always=_flag(head.get("always", own.get("always"))),
        for_model=not _flag(head.get("disable-model-invocation")),
        for_person=_flag(head.get("user-invocable", True)),
        hint=printable(_text(head, "argument-hint")) or _hint(head.get("arguments"), body),
        arguments=tuple(name for name in _texts(head.get("arguments")) if re.fullmatch(_ARGUMENT, name))[
            :MOST_ARGUMENTS
        ],
        forks=forks,
        agent=_text(head, "agent") if forks else "",
        model=_text(head, "model") if forks else "",
        needs=_needs(own, head.get("requires")),
        file=file,
        warnings=tuple(warnings),
    )


def _name(given: str, *, folder: str, warnings: list[str]) -> str:
    if not given:
        warnings.append("it has no name; that of its folder counts")
    elif given != folder:
        warnings.append(f"its name is {printable(given)[:80]}, and its folder's {printable(folder)}")
    for name in (given, folder):
        if re.fullmatch(NAME_PATTERN, name) and len(name) <= LONGEST_NAME:
            return name
    loose = re.sub(r"[^a-z0-9]+", "-", (given or folder).lower()).strip("-")[:LONGEST_NAME].strip("-")
    if not loose:
        raise BadHead("its name has no letter that can be typed as a command")
    warnings.append(f"a name has small letters, digits and single hyphens; it is called {loose}")
    return loose


def _own_metadata(metadata: object) -> Mapping[str, object]:
    """The entries of metadata for programs like this one."""
    table = _table(metadata)
    return next((_table(table[owner]) for owner in _OWNERS if owner in table), table)


def _needs(own: Mapping[str, object], above: object) -> Needs:
    needs = {**_table(above), **_table(own.get("requires"))}
    return Needs(
        programs=_texts(needs.get("bins")),
        any_program=_texts(needs.get("anyBins", needs.get("any"))),
        variables=_texts(needs.get("env")),
        tools=_texts(needs.get("tools")),
        systems=_texts(own.get("os")),
    )


def _hint(arguments: object, body: str) -> str | None:
    named = " ".join(f"[{printable(name)}]" for name in _texts(arguments))
    takes = any(not found[0].startswith("\\") for found in re.finditer(_PLACEHOLDER, body))
    return named or ("[arguments]" if takes else None)


def _table(value: object) -> Mapping[str, object]:
    """A table, also one that is written as JSON in a text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _text(head: Mapping[str, object], key: str) -> str:
    value = head.get(key)
    if isinstance(value, list):  # `argument-hint: [issue]`
        return " ".join(f"[{item}]" for item in cast("list[object]", value) if isinstance(item, str | int))
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    items = cast("Sequence[object]", value) if isinstance(value, list) else ()
    return tuple(item for item in items if isinstance(item, str) and item)


def _flag(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() in {"true", "yes", "on", "1"})


def _words(argument: str) -> Sequence[str]:
    try:
        return shlex.split(argument)
    except ValueError:
        return argument.split()
