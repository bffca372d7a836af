"""Run the benchmarks and print the table. The exit code is 0 whatever the figures are: this is no test."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import (
    rows_deep,
    rows_memory,
    rows_plugins,
    rows_resources,
    rows_sandbox,
    rows_start,
    rows_stream,
    rows_turns,
    rows_wrappers,
    table,
)
from tests.benchmarks.client import BenchmarkFailed
from tests.benchmarks.figures import Row
from tests.benchmarks.lab import Lab, installed_program, opened_lab
from tests.benchmarks.system import BUSY, Machine, this_machine

ALL = (
    *rows_start.ROWS,
    *rows_turns.ROWS,
    *rows_stream.ROWS,
    *rows_resources.ROWS,
    *rows_plugins.ROWS,
    *rows_wrappers.ROWS,
    *rows_deep.ROWS,
    *rows_sandbox.ROWS,
    *rows_memory.ROWS,
)
ROWS = {row.name: row for row in ALL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The command line."""

    rows: Sequence[Row]
    runs: int | None
    json: Path | None
    markdown: bool
    program: str
    hub: bool


def parse(arguments: Sequence[str]) -> Options:
    """The options; with wrong ones, argparse ends the program."""
    names = "\n".join(f"  {row.name:<11}{row.runs:>3} runs  {row.about}" for row in ROWS.values())
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Measure claw-acp against a model on loopback that answers at once.",
        epilog=f"rows, their usual number of runs, and what a run is:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--runs", type=_positive, metavar="N", help="runs of every row, instead of the usual number")
    parser.add_argument("--row", action="append", choices=ROWS, metavar="NAME", help="only this row; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every sample to this file")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument(
        "--program", default=installed_program(), help="the `claw-acp` to measure, for instance of a bare installation"
    )
    parser.add_argument("--hub", action="store_true", help="through a hub that is running, for comparison")
    options = parser.parse_args(arguments)
    rows = [row for row in ROWS.values() if not options.row or row.name in options.row]
    return Options(
        rows=rows,
        runs=options.runs,
        json=options.json,
        markdown=options.markdown,
        program=options.program,
        hub=options.hub,
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def main(arguments: Sequence[str]) -> int:
    """Measure, then print."""
    options = parse(arguments)
    machine = this_machine()
    _warn(machine)
    with opened_lab(options.program, hub=options.hub) as lab:
        measured = [_measure(lab, row, runs=options.runs or row.runs) for row in options.rows]
    print(table.markdown(measured) if options.markdown else table.plain(measured))
    print(f"\n{machine.text()}")
    _warn(machine)
    if options.json is not None:
        options.json.write_text(table.as_json(machine, measured))
    return 0


def _measure(lab: Lab, row: Row, *, runs: int) -> table.Measured:
    print(f"{row.name}: {runs} x {row.about}", file=sys.stderr)
    try:
        return table.Measured(row=row, runs=runs, figures=row.measure(lab, runs))
    except (BenchmarkFailed, OSError) as error:
        return table.Measured(row=row, runs=runs, figures=(), failure=str(error))


def _warn(machine: Machine) -> None:
    if machine.busy:
        print(f"warning: load average {machine.load:.2f} > {BUSY}: other work inflates the figures", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
