"""A table of what the policy says to the lines of the corpus by class; with `-v` each line that is wrong.

With `--modes` one of the verdicts in each mode, as the README has it. With `--needless` one of the questions that
ordinary work costs where there is a sandbox, and of those that nobody may have needed; with `-v` each of these.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from claw_acp.contracts.tool import RunsCommand
from claw_acp.core.mode import MODES, Mode
from claw_acp.security.policy import Policy, PolicyContext
from tests.fuzz.commands import tree
from tests.fuzz.commands.grammar import written
from tests.fuzz.commands.judge import decide, unasked
from tests.security.corpus import by_mode, classes, everyday, must_not_run


def main() -> int:
    """Print it; 1 when something happens that must not."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        tree.plant(base / "hostile")
        tree.plant_plain(base / "plain")
        if "--modes" in sys.argv[1:]:
            return _modes(base)
        if "--needless" in sys.argv[1:]:
            return _needless(base / "plain/project")
        print(f"{'class':40} {'right':>6} {'must not happen':>16} {'needless question':>18}")
        rows = [*_rows("must_not_run", cwd=base / "hostile/project"), *_rows("everyday", cwd=base / "plain/project")]
    _row("all", [sum(column) for column in zip(*rows, strict=True)])
    return 1 if any(happened for _, happened, _ in rows) else 0


def _modes(base: Path) -> int:
    """Print how many lines run, are asked about and are refused in each mode; 1 when one runs that must not."""
    asks = [line for lines in classes("asks_today").values() for line in lines]
    plain, hostile = base / "plain/project", base / "hostile/project"
    harmful = 0
    print(f"{'lines':34} {'mode':5} {'run':>6} {'ask':>6} {'refused':>8}")
    for kind, lines, cwd in (
        ("that only read, every day", everyday(), plain),
        ("that only read, asked about today", asks, plain),
        ("of a working day", list(by_mode()), plain),
        ("that must not run unasked", must_not_run(), hostile),
    ):
        for mode in MODES:
            count = Counter(decide(line, mode=mode, cwd=cwd).verdict for line in lines)
            print(f"{kind:34} {mode:5} {count['allow']:6} {count['ask']:6} {count['deny']:8}")
            harmful += count["allow"] if cwd == hostile and mode in {"plan", "ask"} else 0
    return 1 if harmful else 0


def _needless(project: Path) -> int:
    """Print the questions about lines that only read, and about commands that stay in the project."""
    only_read = [*everyday(), *(line for lines in classes("asks_today").values() for line in lines)]
    staying = [line for line, verdicts in by_mode().items() if verdicts.split()[-1] == "project"]
    print(f"{'lines':34} {'mode':5} {'lines':>6} {'asked':>6} {'at most needless':>17}")
    for kind, lines, needless in (
        ("that only read", only_read, MODES),
        ("that change the project at most", staying, ("auto",)),
        ("of a working day", list(by_mode()), ()),
    ):
        for mode in MODES[1:]:
            asked = [line for line in lines if _asks(line, mode=mode, project=project)]
            print(f"{kind:34} {mode:5} {len(lines):6} {len(asked):6} {len(asked) if mode in needless else '-':>17}")
            if "-v" in sys.argv[1:] and mode in needless:
                print("".join(f"    {written(line)}\n" for line in asked), end="")
    return 0


def _asks(line: str, *, mode: Mode, project: Path) -> bool:
    context = PolicyContext(roots=(project,), home=project.parent / "home", commands="sandboxed")
    access = RunsCommand(line=line, cwd=project)
    return Policy().decide(tool="shell", accesses=[access], mode=mode, context=context).verdict == "ask"


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
