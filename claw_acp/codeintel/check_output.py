"""The problems in what checks print."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from claw_acp.codeintel.problem import Problem
from claw_acp.config.safe_read import read_plain_file
from claw_acp.core.json_value import JsonObject, JsonValue

RUFF: Final = r"(?P<path>[^:\n]+):(?P<line>\d+):(?P<column>\d+): (?P<code>[A-Z]+\d+|\S+:) (?:\[\*\] )?(?P<message>.+)"
MYPY: Final = (
    r"(?P<path>[^:\n]+):(?P<line>\d+)(?::(?P<column>\d+))?: error: (?P<message>.+?)(?:  \[(?P<code>[\w-]+)\])?"
)
PYRIGHT: Final = (
    r"\s*(?P<path>[^:\n]+):(?P<line>\d+):(?P<column>\d+) - error: (?P<message>.+?)(?: \((?P<code>report\w+)\))?"
)
TSC: Final = r"(?P<path>[^(\n]+)\((?P<line>\d+),(?P<column>\d+)\): error (?P<code>TS\d+): (?P<message>.+)"
CARGO: Final = r"(?P<path>[^:\n]+):(?P<line>\d+):(?P<column>\d+): error(?:\[(?P<code>\w+)\])?: (?P<message>.+)"
GO: Final = r"(?:vet: )?(?P<path>[^:\s]+\.go):(?P<line>\d+):(?P<column>\d+): (?P<message>.+)"
PYTEST: Final = r"(?:FAILED|ERROR) (?P<path>[^:\n]+?\.py)(?:::(?P<test>\S+))?(?: - (?P<detail>.+))?"
GO_TEST: Final = r"--- FAIL: (?P<test>\S+) \(.+"

_LARGEST: Final = 16 * 1024 * 1024  # bytes of a file whose lines are shown
MOST_READ: Final = 1_000
"""Problems that are read from one output."""


def pattern(source: str, line: str) -> Callable[[str, Path], list[Problem]]:
    """A reader of an output with a problem on each line that matches. A group `test` is the name of a failed test."""

    def read(output: str, root: Path) -> list[Problem]:
        texts: dict[Path, Sequence[str]] = {}
        found: list[Problem] = []
        for each in output.splitlines():
            match = re.fullmatch(line, each)
            if match is not None and len(found) < MOST_READ:
                found.append(_problem(match.groupdict(), source=source, root=root, texts=texts))
        return found

    return read


def _problem(parts: Mapping[str, str | None], *, source: str, root: Path, texts: dict[Path, Sequence[str]]) -> Problem:
    path = root / (parts.get("path") or "").strip()
    line = int(parts.get("line") or 0)
    if line and path not in texts:
        texts[path] = _lines_of(path)
    named = f"{parts.get('test') or 'this file'} fails"
    return Problem(
        path=path,
        line=line,
        column=int(parts.get("column") or 0),
        source=source,
        code=(parts.get("code") or "").rstrip(":"),
        message=parts.get("message") or named,
        detail=parts.get("detail") or "",
        text=texts[path][line - 1] if 0 < line <= len(texts.get(path, ())) else "",
    )


def eslint_problems(output: str, root: Path) -> list[Problem]:
    """The problems in eslint's JSON, warnings left out."""
    start = output.find("[{")
    try:
        results = cast("JsonValue", json.JSONDecoder().raw_decode(output[max(start, 0) :])[0])
    except ValueError:
        return []
    found: list[Problem] = []
    for result in results if isinstance(results, Sequence) and not isinstance(results, str) else ():
        messages = result.get("messages") if isinstance(result, Mapping) else None
        path = result.get("filePath") if isinstance(result, Mapping) else None
        if isinstance(messages, Sequence) and not isinstance(messages, str) and isinstance(path, str):
            lines = _lines_of(root / path)
            found += [_of_eslint(each, root / path, lines) for each in messages if isinstance(each, Mapping)]
    return [problem for problem in found if problem.severity == "error"][:MOST_READ]


def _of_eslint(parts: JsonObject, path: Path, lines: Sequence[str]) -> Problem:
    line, column = parts.get("line"), parts.get("column")
    number = line if isinstance(line, int) else 0
    return Problem(
        path=path,
        line=number,
        column=column if isinstance(column, int) else 0,
        severity="error" if parts.get("severity") == 2 else "warning",
        source="eslint",
        code=str(parts.get("ruleId") or ""),
        message=str(parts.get("message") or ""),
        text=lines[number - 1] if 0 < number <= len(lines) else "",
    )


def _lines_of(path: Path) -> Sequence[str]:
    try:
        return read_plain_file(path, limit=_LARGEST).decode("utf-8", "replace").splitlines()
    except OSError:
        return ()
