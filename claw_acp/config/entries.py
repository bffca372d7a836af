"""Iteration over the configuration: all possible tables, and all values that are set, each with its key."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TypeGuard, cast, get_args, get_origin

from claw_acp.config.fields import Section, hints_of, plain_type
from claw_acp.config.model import ConfigFile
from claw_acp.config.positions import KeyPath, entry
from claw_acp.core.value import Value

_PLAIN = r"[A-Za-z0-9._-]+"


class Entry(Value):
    """One value.

    Attributes:
        key: Its dotted name: `limits.max_turn_requests`, `rules[0].route`, `prices."work/x".input`.
        path: Its path in the file.
        value: Never a table of the configuration. Each permission rule is a value, since files add to the list.
    """

    key: str
    path: KeyPath
    value: object


@cache
def tables() -> Mapping[KeyPath, type[Section]]:
    """The type of every table of a file; `*` stands for a name, as in `("providers", "*", "options")`."""
    return dict(_tables(ConfigFile, ()))


def _tables(section: type[Section], path: KeyPath) -> Iterator[tuple[KeyPath, type[Section]]]:
    yield path, section
    for name in section.key_names():
        kind = plain_type(hints_of(section)[name])
        below = (*path, name, "*") if get_origin(kind) is dict else (*path, name)
        for inner in (kind, *get_args(kind)):
            if isinstance(inner, type) and issubclass(inner, Section):
                yield from _tables(inner, below)


def set_entries(section: Section) -> Iterator[Entry]:
    """The values that are set in a whole file."""
    for name in sorted(section.fields_set):
        yield from _below(getattr(section, name), (name,), name)


def entries(value: object, name: str) -> Iterator[Entry]:
    """The values of the key `name` of a file; a table, such as `[limits]`, includes its defaults."""
    if not isinstance(value, Section):
        yield from _below(value, (name,), name)
        return
    for field in value.key_names():
        yield from _below(getattr(value, field), (name, field), f"{name}.{field}")


def is_sections(value: object) -> TypeGuard[Mapping[str, Section]]:
    """Return whether a value holds tables by name, as in `[providers.NAME]`."""
    return isinstance(value, Mapping) and all(
        isinstance(inner, Section) for inner in cast("Mapping[str, object]", value).values()
    )


def _below(value: object, path: KeyPath, key: str) -> Iterator[Entry]:
    one: object = value
    if isinstance(value, Section):
        for name in sorted(value.fields_set):
            yield from _below(getattr(value, name), (*path, name), f"{key}.{name}")
    elif isinstance(value, Mapping) and len(path) == 1:
        for name, inner in cast("Mapping[str, object]", value).items():
            part = name if re.fullmatch(_PLAIN, name) else json.dumps(name, ensure_ascii=False)
            yield from _below(inner, (*path, name), f"{key}.{part}")
    elif isinstance(value, tuple) and (len(path) == 1 or path[0] == "permissions"):
        for index, inner in enumerate(cast("tuple[object, ...]", value)):
            yield from _below(inner, (*path, entry(index)), f"{key}[{index}]")
    else:
        yield Entry(key=key, path=path, value=one)
