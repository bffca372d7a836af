"""`claw-acp verify tools CMD` and `verify scheduler CMD`: check a program against the attach protocol."""

import argparse
import os
import sys
from functools import partial
from typing import Final

import anyio

from claw_acp.cli.verify.options import Progress, add_report_options, seconds, tell, variable
from claw_acp.cli.verify.report import rule_lines
from claw_acp.verify.endpoint.player import Settings
from claw_acp.verify.endpoint.run import examine, rules
from claw_acp.verify.endpoint.vector import CheckedRole
from claw_acp.verify.rule import CannotStart

TIMEOUT: Final = 10.0  # seconds for any one answer
NOT_STARTED: Final = 2
_EXAMPLES = """\
The program is started anew for each check, and spoken to on its standard input and output. Checks of the kind
`reference` need the tool `word_count` that the specification describes.

examples:
  claw-acp verify {role} -- ./my-program
  claw-acp verify {role} --only '*.shutdown' -v -- python3 my_program.py
  claw-acp verify {role} --json report.json -- ./my-program

exit code: 0 no binding rule is broken, 1 some are, 2 the program cannot be started or the usage is wrong
"""


def set_up(parser: argparse.ArgumentParser, *, role: CheckedRole) -> None:
    """Set up the parser of one role."""
    parser.description = f"Check a program with the role {role}: start it, talk to it, and say which rules it breaks."
    parser.epilog = _EXAMPLES.format(role=role)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(run=partial(_verify, role))
    parser.add_argument("program_command", nargs=argparse.REMAINDER, metavar="-- CMD ...", help="the program")
    parser.add_argument("--reference", action="store_true", help="it lends `word_count`: check its answers")
    parser.add_argument("--timeout", type=seconds, default=TIMEOUT, metavar="S", help="seconds for any one answer (10)")
    parser.add_argument("--env", action="append", type=variable, default=[], metavar="K=V", help="more environment")
    add_report_options(parser)


def _verify(role: CheckedRole, options: argparse.Namespace) -> int:
    if options.list:
        print("\n".join(rule_lines(rules(role))))
        return 0
    command = tuple(word for index, word in enumerate(options.program_command) if index or word != "--")
    if not command:
        print(f"claw-acp verify: name the program, as in: claw-acp verify {role} -- ./my-program", file=sys.stderr)
        return NOT_STARTED
    asked = Settings(command=command, env={**os.environ, **dict(options.env)}, timeout=options.timeout)
    progress = Progress(len(rules(role)))
    check = partial(examine, asked, role=role, reference=options.reference, only=options.only, told=progress.told)
    try:
        report = anyio.run(check)
    except CannotStart as error:
        print(f"claw-acp verify: {error.message}", file=sys.stderr)
        return NOT_STARTED
    finally:
        progress.clear()
    return tell(report, options, command=command, what=role)
