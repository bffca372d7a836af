"""Command lines, and what becomes of them: those that must not run unasked, and those that must not ask."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.fuzz.commands.grammar import unwritten


def classes(name: str) -> Mapping[str, Sequence[str]]:
    """The lines of a file by their class: a row `== class` names it, `# ` is a remark, ␤ stands for LF."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for row in Path(__file__).with_name(f"{name}.txt").read_text("utf-8").splitlines():
        if row.startswith("== "):
            lines = found.setdefault(row[3:], [])
        elif row and not row.startswith("# "):
            lines.append(unwritten(row))
    return found


def by_mode() -> Mapping[str, str]:
    """Commands of a working day, each with its verdicts in plan, ask, edit and auto mode, and its reach."""
    rows = Path(__file__).with_name("by_mode.txt").read_text("utf-8").splitlines()
    parts = (row.split(maxsplit=5) for row in rows if not row.startswith("#"))
    return {line: " ".join(words) for *words, line in parts}


def everyday() -> list[str]:
    """Lines that developers' agents run all day and that only read."""
    return [line for lines in classes("everyday").values() for line in lines]


def must_not_run() -> list[str]:
    """Lines that change something, start something that stays, or read a secret."""
    return [line for lines in classes("must_not_run").values() for line in lines]
