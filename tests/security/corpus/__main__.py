"""A table of what the policy says to the lines of the corpus by class; with `-v` each line that is wrong."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.fuzz.commands import tree
from tests.fuzz.commands.grammar import written
from tests.fuzz.commands.judge import unasked
from tests.security.corpus import classes


def main() -> int:
    """Print it; 1 when something happens that must not."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        tree.plant(base / "hostile")
        tree.plant_plain(base / "plain")
        print(f"{'class':40} {'right':>6} {'must not happen':>16} {'needless question':>18}")
        rows = [*_rows("must_not_run", cwd=base / "hostile/project"), *_rows("everyday", cwd=base / "plain/project")]
    _row("all", [sum(column) for column in zip(*rows, strict=True)])
    return 1 if any(happened for _, happened, _ in rows) else 0


def _rows(name: str, *, cwd: Path) -> Iterator[Sequence[int]]:
    for kind, lines in classes(name).items():
        asked = {line: unasked(line, cwd=cwd) for line in lines}
        if name == "everyday":
            wrong = [line for line, modes in asked.items() if not {"ask", "plan"} <= set(modes)]
            row = (len(lines) - len(wrong), 0, len(wrong))
        else:
            wrong = [line for line, modes in asked.items() if modes]
            row = (len(lines) - len(wrong), len(wrong), 0)
        _row(kind, row)
        if "-v" in sys.argv[1:]:
            print("".join(f"    {written(line)}\n" for line in wrong), end="")
        yield row


def _row(kind: str, row: Sequence[int]) -> None:
    print(f"{kind:40} {row[0]:6} {row[1]:16} {row[2]:18}")


if __name__ == "__main__":
    sys.exit(main())
