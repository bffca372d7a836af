"""Workers in namespaces of their own, and what they report."""

import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.fuzz.commands.arena import entered
from tests.fuzz.commands.grammar import written

ROOT = Path(__file__).parents[3]

Report = dict[str, Any]
"""`lines` that were made, how many `ran`, and what was `found`: fields of `Finding`."""


def reports(arguments: Sequence[str], *, lines: Sequence[str] = ()) -> Iterator[Report]:
    """What a worker says, as it says it.

    Args:
        arguments: Its options.
        lines: The lines to run with `--given`.

    Raises:
        ChildProcessError: It failed.
    """
    command = entered(["-m", "tests.fuzz.commands.worker", *arguments])
    with tempfile.TemporaryFile("w+") as given:
        given.writelines(f"{json.dumps(line)}\n" for line in lines)
        given.seek(0)
        with subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, text=True, cwd=ROOT) as worker:
            assert worker.stdout
            for row in worker.stdout:
                yield json.loads(row)
    if worker.returncode:
        raise ChildProcessError(f"a worker ended with {worker.returncode}")


def shown(finding: Report) -> str:
    """A finding for people."""
    again = f"    round {finding['round']}: {written(finding['original'])}\n"
    modes = ", ".join(finding["modes"]) or "no mode"
    return f"\n{written(finding['line'])}\n    allowed in {modes}; {'; '.join(finding['effects'])}\n{again}"
