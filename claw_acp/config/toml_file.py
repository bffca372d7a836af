"""Reading a TOML file that may be missing, broken, enormous, a pipe, or hostile."""

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.positions import Positions, find_positions
from claw_acp.config.safe_read import read_plain_file
from claw_acp.core.value import Value

FILE_LIMIT = 64 * 1024  # bytes; larger than any configuration a person writes

# Patterns are texts here, and the parser is loaded by name: most people have no file, and both take milliseconds of
# every start.

PARSER = "tomllib"

_PLACE = r"(?s)^(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$"

# `tomllib` takes quadratic time for long dotted names: 32 KiB of `a.a.a.` are half a minute. A project's file is a
# stranger's, so such a name is refused before it is parsed.
_ENDLESS_NAME = r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*"|'[^'\n]*')[ \t]*+\.[ \t]*+){32}"""


class TomlDocument(Value):
    """A parsed file with the positions of its keys."""

    file: str
    content: dict[str, object]
    positions: Positions


def read_toml(path: Path) -> TomlDocument | Diagnostic | None:
    """The document at `path`; None when there is no such file; a diagnostic when it cannot be used."""
    try:
        octets = read_plain_file(path, limit=FILE_LIMIT + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return _unusable(str(path), f"cannot be read ({error.strerror}); it is ignored")
    if len(octets) > FILE_LIMIT:
        return _unusable(str(path), f"is larger than {FILE_LIMIT // 1024} KiB; it is ignored")
    return parse_toml(octets, file=str(path))


def parse_toml(octets: bytes, *, file: str) -> TomlDocument | Diagnostic:
    """The parsed document, or a diagnostic with the position of the error."""
    try:
        text = octets.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = octets.count(b"\n", 0, error.start) + 1
        return _unusable(file, "is not UTF-8 text; the file is ignored", line=line)
    if endless := re.search(_ENDLESS_NAME, text):
        line = text.count("\n", 0, endless.start()) + 1
        return _unusable(file, "a name has more than 32 parts; the file is ignored", line=line)
    try:
        loads: Callable[[str], dict[str, object]] = import_module(PARSER).loads
        content = loads(text)
    except RecursionError:
        return _unusable(file, "values are nested too deeply; the file is ignored")
    except ValueError as error:  # not TOML, or a number with more digits than Python converts
        return _broken(file, str(error), last_line=text.count("\n") + 1)
    return TomlDocument(file=file, content=content, positions=find_positions(text))


def _broken(file: str, reason: str, *, last_line: int) -> Diagnostic:
    place = re.match(_PLACE, reason)
    if place is None:
        return _unusable(file, f"not TOML: {reason}; the file is ignored")
    line, column = place["line"], place["column"]
    return _unusable(
        file,
        f"not TOML: {place['what']}; the file is ignored",
        line=int(line) if line else last_line,
        column=int(column) if column else None,
    )


def _unusable(file: str, message: str, *, line: int | None = None, column: int | None = None) -> Diagnostic:
    return Diagnostic(severity="error", file=file, line=line, column=column, key="", message=message)
