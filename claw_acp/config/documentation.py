"""The documentation of the configuration: the type, default, permitted files and meaning of each key."""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Literal, cast, get_args, get_origin

from claw_acp.config.entries import tables
from claw_acp.config.fields import Parsed, Project, Section, Variable, hints_of, marker, plain_type
from claw_acp.config.model import ConfigFile
from claw_acp.config.settings import Settings
from claw_acp.core.value import Value, field_default

_TAKES: Mapping[object, str] = {
    bool: "true or false", int: "a number", float: "a number", str: "text", Path: "a path", tuple: "a list",
    dict: "a table", Mapping: "a table",
}  # fmt: skip
_NARROWS = {"lower": "a project may narrow it", "adds": "a project may add to it"}


class KeyRow(Value):
    """One key.

    Attributes:
        key: Dotted, with NAME for names chosen by people: `providers.NAME.timeout`.
        takes: Its type.
        default: As JSON; empty when it has none.
        variable: The environment variable that also sets it; empty: none.
        project: How a project may narrow it; empty: not at all.
        text: Its meaning.
        in_file: Whether a file can set it.
    """

    key: str
    takes: str
    default: str
    variable: str
    project: str
    text: str
    in_file: bool = True

    @property
    def facts(self) -> str:
        """Everything but its meaning, on one line."""
        default = self.default and f"default {self.default}"
        return "; ".join(part for part in (self.takes, default, self.variable, self.project) if part)


def key_rows() -> Iterator[KeyRow]:
    """Every key, table by table, then those that only a variable sets."""
    known = tables()
    for path, section in known.items():
        for name in section.key_names():
            if (*path, name) not in known and (*path, name, "*") not in known:
                yield _row(section, name, path=path)
    own = [name for name, hint in hints_of(Settings).items() if marker(hint, Variable)]
    yield from (_row(Settings, name, path=(), in_file=False) for name in own if name not in ConfigFile.key_names())


def meanings(section: type[Section]) -> Mapping[str, str]:
    """The meaning of each key, from the docstring of the table."""
    _, _, attributes = inspect.cleandoc(section.__doc__ or "").partition("\nAttributes:\n")
    found = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", attributes, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def _row(section: type[Section], name: str, *, path: tuple[str, ...], in_file: bool = True) -> KeyRow:
    hint = hints_of(section)[name]
    variable, rule = marker(hint, Variable), marker(hint, Project)
    default = field_default(section, name)
    plain = isinstance(default, str | int | float | bool)
    return KeyRow(
        key=".".join((*path, name)).replace("*", "NAME"),
        takes=_takes(hint),
        default=json.dumps(default) if plain else "",
        variable=variable.name if variable else "",
        project=_NARROWS[rule.narrows] if rule else "",
        text=meanings(section)[name],
        in_file=in_file,
    )


def _takes(hint: object) -> str:
    if parsed := marker(hint, Parsed):
        return parsed.takes
    kind = plain_type(hint)
    if NoneType in (kinds := cast("tuple[object, ...]", get_args(kind))):
        return _takes(next(each for each in kinds if each is not NoneType))
    if get_origin(kind) is Literal:
        return " | ".join(map(str, kinds))
    return _TAKES.get(get_origin(kind) or kind, "text")
