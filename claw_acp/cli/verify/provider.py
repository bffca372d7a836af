"""`claw-acp verify provider CMD`: check a provider program, in any language, against the provider protocol."""

import argparse
import os
import sys
from collections.abc import Mapping
from functools import partial

import anyio

from claw_acp.cli.verify.options import Progress, add_report_options, seconds, tell, variable
from claw_acp.cli.verify.report import rule_lines
from claw_acp.verify.provider.player import Settings
from claw_acp.verify.provider.run import examine, rules
from claw_acp.verify.provider.vector import Mode
from claw_acp.verify.rule import CannotStart

TIMEOUT = 60.0  # seconds for any one answer; a real model may be asked
NOT_STARTED = 2
_MODES: Mapping[str, tuple[Mode, ...] | None] = {"auto": None, "session": ("session",), "oneshot": ("oneshot",)}
_EXAMPLES = """\
The program is started anew for each check. Checks of the kind `reference` need the small model that the specification
describes, which echoes; the others ask your model to say hello, some twenty times.

examples:
  claw-acp verify provider -- ./my-provider --mode chat
  claw-acp verify provider --reference -- python3 plugin.py
  claw-acp verify provider --mode oneshot --only 'oneshot.*' --json report.json -- ./my-provider

exit code: 0 no binding rule is broken, 1 some are, 2 the program cannot be started or the usage is wrong
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Set up the parser of the kind `provider`."""
    parser.description = "Check a provider program from outside: start it, talk to it, and say which rules it breaks."
    parser.epilog = _EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(run=_verify)
    parser.add_argument("provider_command", nargs=argparse.REMAINDER, metavar="-- CMD ...", help="the program")
    parser.add_argument("--mode", choices=tuple(_MODES), default="auto", help="the modes to check (auto: those it has)")
    parser.add_argument("--reference", action="store_true", help="it has the reference model: check its answers")
    parser.add_argument("--timeout", type=seconds, default=TIMEOUT, metavar="S", help="seconds for any one answer (60)")
    parser.add_argument("--env", action="append", type=variable, default=[], metavar="K=V", help="more environment")
    add_report_options(parser)


def _verify(options: argparse.Namespace) -> int:
    if options.list:
        print("\n".join(rule_lines(rules())))
        return 0
    command = tuple(word for index, word in enumerate(options.provider_command) if index or word != "--")
    if not command:
        print("claw-acp verify: name the program, as in: claw-acp verify provider -- ./my-provider", file=sys.stderr)
        return NOT_STARTED
    asked = Settings(command=command, env={**os.environ, **dict(options.env)}, timeout=options.timeout)
    progress = Progress(len(rules()))
    check = partial(
        examine,
        asked,
        modes=_MODES[options.mode],
        reference=options.reference,
        only=options.only,
        told=progress.told,
    )
    try:
        report = anyio.run(check)
    except CannotStart as error:
        print(f"claw-acp verify: {error.message}", file=sys.stderr)
        return NOT_STARTED
    finally:
        progress.clear()
    return tell(report, options, command=command, what="provider")
