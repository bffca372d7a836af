"""Problems in source files, as language servers and checks report them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from claw_acp.core.json_value import JsonValue
from claw_acp.core.printable import printable
from claw_acp.core.value import Value

Severity: TypeAlias = Literal["error", "warning"]

MOST_LISTED: Final = 20
"""Problems in a list; the others are counted."""

LONGEST_MESSAGE: Final = 300
"""Characters of a message in a list."""

_SEVERITIES: Final[Mapping[JsonValue, Severity]] = {None: "error", 1: "error", 2: "warning"}


class Problem(Value):
    """A problem in a file; line and column count from 1, 0 where they are not known. `text` is that line.

    `detail` is shown, and may differ between two runs.
    """

    path: Path
    line: int
    column: int = 0
    severity: Severity = "error"
    source: str = ""
    code: str = ""
    message: str
    detail: str = ""
    text: str = ""

    @property
    def identity(self) -> tuple[object, ...]:
        """The same for the same problem in another version of the file: lines may have moved."""
        return self.path, self.source, self.code, self.message, self.text.strip()

    def line_for(self, root: Path) -> str:
        """`path:line:column severity code message` on one line, with the path as seen from `root`."""
        shown = self.path.relative_to(root) if self.path.is_relative_to(root) else self.path
        place = ":".join(str(part) for part in (shown, self.line, self.column) if part)
        message = printable("; ".join(" ".join(each.split()) for each in self.message.splitlines() if each.strip()))
        message = f"{message} {printable(self.detail)}".rstrip()
        if len(message) > LONGEST_MESSAGE:
            message = f"{message[:LONGEST_MESSAGE]}…"
        return " ".join(filter(None, (printable(place), self.severity, printable(self.code), message)))


def new_problems(after: Iterable[Problem], *, before: Iterable[Problem]) -> list[Problem]:
    """The problems that were not there before, errors first."""
    known = Counter(problem.identity for problem in before)
    new: list[Problem] = []
    for problem in after:
        if known[problem.identity] > 0:
            known[problem.identity] -= 1
        else:
            new.append(problem)
    return sorted(new, key=lambda problem: (problem.severity != "error", str(problem.path), problem.line))


def listed(problems: Sequence[Problem], *, root: Path) -> str:
    """The problems, one on each line, and the number of those that are left out."""
    lines = [problem.line_for(root) for problem in problems[:MOST_LISTED]]
    if len(problems) > MOST_LISTED:
        lines.append(f"and {len(problems) - MOST_LISTED} more")
    return "\n".join(lines)


def problems_of(items: JsonValue, *, path: Path, text: str) -> list[Problem]:
    """The problems in diagnostics of the Language Server Protocol about a file with this text; hints are left out."""
    if not isinstance(items, Sequence) or isinstance(items, str):
        return []
    lines = text.splitlines()
    return [problem for item in items if (problem := _problem_of(item, path=path, lines=lines)) is not None]


def _problem_of(item: JsonValue, *, path: Path, lines: Sequence[str]) -> Problem | None:
    if not isinstance(item, Mapping) or not isinstance(message := item.get("message"), str):
        return None
    level = item.get("severity")
    severity = _SEVERITIES.get(level) if level is None or isinstance(level, int) else None
    if severity is None:
        return None
    line, column = _start_of(item.get("range"))
    source, code = item.get("source"), item.get("code")
    return Problem(
        path=path,
        line=line + 1,
        column=column + 1,
        severity=severity,
        source=source if isinstance(source, str) else "",
        code=str(code) if isinstance(code, str | int) else "",
        message=message,
        text=lines[line] if line < len(lines) else "",
    )


def _start_of(span: JsonValue) -> tuple[int, int]:
    start = span.get("start") if isinstance(span, Mapping) else None
    if not isinstance(start, Mapping):
        return 0, 0
    line, column = start.get("line"), start.get("character")
    return max(line, 0) if isinstance(line, int) else 0, max(column, 0) if isinstance(column, int) else 0
