"""Changing values of the user's `config.toml`: comments and order stay, and invalid values are never written."""

import tomllib
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from claw_acp.config.atomic_file import only_writer, put_in_place
from claw_acp.config.checking import check
from claw_acp.config.entries import tables
from claw_acp.config.layer import Checked
from claw_acp.config.locations import private_directory
from claw_acp.config.model import ConfigFile
from claw_acp.config.positions import KeyPath
from claw_acp.config.safe_read import read_plain_file
from claw_acp.config.toml_file import FILE_LIMIT, TomlDocument, parse_toml
from claw_acp.core.errors import ConfigError
from claw_acp.core.value import Value


class Edited(Value):
    """The valid contents of the file before and after a change."""

    before: ConfigFile
    after: ConfigFile


def set_values(file: Path, changes: Sequence[tuple[str, str]]) -> Edited:
    """Write values, given as text, under dotted keys: all of them, or none.

    Raises:
        ConfigError: The file is broken, a key is unknown, or a value is wrong; the file is as it was.
    """
    file = file.resolve()  # a link stays one
    try:
        private_directory(file.parent)
        with only_writer(file):
            text = _read(file)
            before = _checked(text, file=file)
            changed = text
            for key, value in changes:
                changed = _with_value(changed, key, value, file=file)
            after = _checked(changed, file=file)
            _refuse_problems(before, after, paths=[key_path(key) for key, _ in changes])
            put_in_place(file, changed)
    except OSError as error:
        raise ConfigError(f"{file} cannot be changed: {error.strerror}") from error
    return Edited(before=before.config, after=after.config)


def key_path(key: str) -> KeyPath:
    """The parts of a dotted key. Names of providers, models and the like may contain dots without quotes.

    Raises:
        ConfigError: It is no key.
    """
    parts = key.split(".")
    if '"' in key or "'" in key:
        try:
            parts = list(_only_path(tomllib.loads(f"{key} = 0")))
        except ValueError as error:
            raise ConfigError(f"{key} is no key; write it as in limits.max_turn_requests") from error
    elif (section := tables().get((parts[0], "*"))) and len(parts) > 3:
        inner = 2 if parts[-2] in section.key_names() else 1  # as in providers.NAME.options.effort
        parts = [parts[0], ".".join(parts[1:-inner]), *parts[-inner:]]
    elif parts[0] == "routes":
        parts = ["routes", ".".join(parts[1:])]
    if not all(parts):
        raise ConfigError(f'"{key}" is no key; write it as in limits.max_turn_requests')
    return tuple(parts)


def _only_path(content: Mapping[str, object]) -> Iterator[str]:
    for name, inner in content.items():
        yield name
        if isinstance(inner, Mapping):
            yield from _only_path(cast("Mapping[str, object]", inner))


def _read(file: Path) -> str:
    try:
        octets = read_plain_file(file, limit=FILE_LIMIT + 1)
    except FileNotFoundError:
        return ""
    try:
        return octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text; correct it first") from error


def _checked(text: str, *, file: Path) -> Checked:
    document = parse_toml(text.encode(), file=str(file))
    if isinstance(document, TomlDocument) and len(text) <= FILE_LIMIT:
        return check(document)
    trouble = f"{file} would be too large" if isinstance(document, TomlDocument) else document.text()
    raise ConfigError(f"{trouble}; nothing was changed")


def _refuse_problems(before: Checked, after: Checked, *, paths: Sequence[KeyPath]) -> None:
    """Refuse a change that causes a problem, or leaves one at the changed keys."""
    known = {(diagnostic.key, diagnostic.message) for diagnostic in before.diagnostics}
    keys = {".".join(path) for path in paths}
    for diagnostic in after.diagnostics:
        if diagnostic.key in keys or (diagnostic.key, diagnostic.message) not in known:
            what = f"{diagnostic.message}; {diagnostic.suggestion}" if diagnostic.suggestion else diagnostic.message
            raise ConfigError(f"{diagnostic.key}: {what}; nothing was changed")


def _with_value(text: str, key: str, value: str, *, file: Path) -> str:
    """The file's text with a value as TOML if that is valid for the key, else as plain text."""
    path = key_path(key)
    candidates = [_changed(text, path, candidate, file=file) for candidate in _meanings(value)]
    fitting = (each for each in candidates if not _is_wrong(each, ".".join(path), file=file))
    return next(fitting, candidates[0])


def _meanings(value: str) -> Iterator[object]:
    try:
        content = tomllib.loads(f"value = {value}")
    except ValueError:
        content = {}
    if content.keys() == {"value"}:
        yield content["value"]
    yield value


def _is_wrong(text: str, key: str, *, file: Path) -> bool:
    return any(
        diagnostic.key == key and diagnostic.severity == "error" for diagnostic in _checked(text, file=file).diagnostics
    )


def _changed(text: str, path: KeyPath, value: object, *, file: Path) -> str:
    *parents, name = path
    wanted = tomllib.loads(text)
    try:
        document = tomlkit.parse(text)
        here = cast("MutableMapping[str, object]", document)
        below = wanted
        for number, parent in enumerate(parents, start=1):
            if parent not in here:
                here[parent] = tomlkit.table(is_super_table=number < len(parents))
            here = cast("MutableMapping[str, object]", here[parent])
            below = below.setdefault(parent, {})
        here[name] = below[name] = value
        changed = tomlkit.dumps(document)
        if tomllib.loads(changed) == wanted:
            return changed
    except (TOMLKitError, TypeError, AttributeError, ValueError) as error:
        raise ConfigError(f"{'.'.join(path)} cannot be set: {file} has something else there") from error
    raise ConfigError(f"{'.'.join(path)} cannot be set without changing more of {file}; edit it by hand")
