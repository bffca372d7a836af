"""`claw-acp permissions test`: the decision about a call in each mode, without making it."""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.agent.command_sandboxes import place_of, with_sandbox
from claw_acp.cli.current_settings import locations_here, settings_of
from claw_acp.cli.terminal.paint import Colour, Paint
from claw_acp.contracts.tool import (
    Access,
    ActsLater,
    ChangesMemory,
    FetchesUrl,
    Reach,
    ReadsPath,
    RunsCommand,
    UsesServer,
    WritesPath,
)
from claw_acp.core.errors import ConfigError, ToolError
from claw_acp.core.lookalikes import note_on_lookalikes
from claw_acp.core.mode import MODES, Mode
from claw_acp.core.printable import in_reading_order, plain_lines, printable
from claw_acp.core.value import Value, as_dict
from claw_acp.runtime.permissions import configured_rules, current_policy, places_in
from claw_acp.sandbox.machine import sandbox_of_this_machine
from claw_acp.security.permission_store import PermissionStore
from claw_acp.security.policy import Decision, Policy, PolicyContext
from claw_acp.security.rules import Rule, RuleVerdict
from claw_acp.workspace.paths import locate

EXIT_CODES: Final[Mapping[RuleVerdict, int]] = {"allow": 0, "ask": 3, "deny": 4}

_SHOWN: Final[Mapping[RuleVerdict, tuple[str, Colour]]] = {
    "allow": ("runs", "green"),
    "ask": ("asks", "yellow"),
    "deny": ("refused", "red"),
}
_REACHES: Final[Mapping[str, Reach]] = {"default": "project", "network": "network", "off": "machine"}
_READERS: Final = ("read_file", "list_files", "glob", "grep", "image_info", "query_data")
_EDITORS: Final = ("edit_file", "apply_patch")
_EPILOG: Final = """\
exit code: 0 it runs without a question, 3 a person is asked, 4 it is refused; of the mode in force, or of --mode

examples:
  claw-acp permissions test 'npm test && git push'
  claw-acp permissions test --mode auto 'rm -rf build'
  claw-acp permissions test --tool write_file src/app.py
  claw-acp permissions test --tool fetch https://docs.python.org/3/
  claw-acp permissions test --tool files__delete
"""


class Trial(Value):
    """The decision in one mode.

    Attributes:
        mode: The mode.
        verdict: Run it (`allow`), ask a person (`ask`), or refuse (`deny`).
        reason: The reason.
        rule: The rule that decided; None: the mode or a built-in protection did.
        source: The file and line of that rule.
        always: The rules that the answer “always” would store.
        always_any: The same for any arguments, where that is offered.
        reach: How far a command reaches; None: it is no command, or is refused.
        runs: Where the command would run.
    """

    mode: Mode
    verdict: RuleVerdict
    reason: str
    rule: str | None = None
    source: str = ""
    always: tuple[str, ...] = ()
    always_any: tuple[str, ...] = ()
    reach: Reach | None = None
    runs: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `test`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("subject", nargs="?", default="", help="a command line; or the file, address or job of --tool")
    parser.add_argument("--tool", default="shell", metavar="NAME", help="another tool; SERVER__NAME is one of a server")
    parser.add_argument("--mode", choices=MODES, help="only this mode")
    parser.add_argument(
        "--sandbox", choices=sorted(_REACHES), default="default", help="what the model says the command needs"
    )


def main(options: argparse.Namespace, project: Path) -> int:
    """Print the decisions; the exit code is that of `--mode`, else of the mode in force."""
    settings = settings_of(project)
    accesses = _accesses(options.tool, options.subject, project=project, reach=_REACHES[options.sandbox])
    store = PermissionStore(locations_here().permissions_file)
    policy = current_policy(configured_rules(settings), store, project)
    context = places_in((project,), locations_here())
    if options.tool == "shell" and (sandbox := settings.sandbox).use != "off":
        cache = locations_here().cache_dir
        backend = sandbox_of_this_machine(sandbox.backend, image=sandbox.image or "", cache=cache)
        context = with_sandbox(context, sandbox, backend)
    modes: Sequence[Mode] = [options.mode] if options.mode else MODES
    trials = [_tried(mode, options.tool, accesses, policy=policy, context=context) for mode in modes]
    if options.json:
        facts = {"tool": options.tool, "subject": options.subject, "project": str(project), "mode": settings.mode}
        print(json.dumps({**facts, "decisions": [as_dict(trial) for trial in trials]}, indent=2))
    else:
        print("\n".join(_lines(trials, options.subject, project=project)))
    decisive: Mode = options.mode or settings.mode
    return next(EXIT_CODES[trial.verdict] for trial in trials if trial.mode == decisive)


def _accesses(tool: str, subject: str, *, project: Path, reach: Reach) -> Sequence[Access]:
    """The effects of a call.

    Raises:
        ConfigError: There is no such tool, or the subject is missing or cannot be meant.
    """
    server, mark, name = tool.partition("__")
    if mark and server and name:
        return [UsesServer(server=server, tool=name)]
    kinds: Mapping[str, Callable[[], Sequence[Access]]] = {
        "shell": lambda: [RunsCommand(line=subject, cwd=project, reach=reach)],
        "fetch": lambda: [FetchesUrl(url=subject)],
        "http_request": lambda: [FetchesUrl(url=subject, method="POST", carries=True)],
        "schedule": lambda: [ActsLater(job=subject)],
        "memory_store": lambda: [ChangesMemory(text=subject)],
        "memory_forget": lambda: [ChangesMemory(text=subject, operation="forget")],
        **dict.fromkeys(_READERS, lambda: [ReadsPath(path=locate(subject, cwd=project))]),
        "write_file": lambda: [WritesPath(path=locate(subject, cwd=project))],
        "delete_file": lambda: [WritesPath(path=locate(subject, cwd=project), operation="delete")],
        **dict.fromkeys(
            _EDITORS,
            lambda: [access(path=locate(subject, cwd=project)) for access in (ReadsPath, WritesPath)],
        ),
    }
    if tool not in kinds:
        raise ConfigError(
            f"no decision depends on a tool {printable(tool)}; there are {', '.join(kinds)}, SERVER__NAME"
        )
    if not subject:
        raise ConfigError(f"say what {tool} is called with: a command line, a file, an address, a job or a note")
    try:
        return kinds[tool]()
    except ToolError as error:
        raise ConfigError(error.message) from error


def _tried(
    mode: Mode, tool: str, accesses: Sequence[Access], *, policy: Policy, context: PolicyContext
) -> Trial:  # fmt: skip
    decision = policy.decide(tool=tool, accesses=accesses, mode=mode, context=context)
    runs = decision.verdict != "deny" and any(isinstance(access, RunsCommand) for access in accesses)
    return Trial(
        mode=mode,
        verdict=decision.verdict,
        reason=decision.reason,
        rule=decision.rule,
        source=_source(policy.rules, decision),
        always=decision.remember,
        always_any=decision.wider,
        reach=decision.reach if runs else None,
        runs="" if not runs else place_of(decision) if context.commands == "sandboxed" else "without a sandbox",
    )


def _source(rules: Sequence[Rule], decision: Decision) -> str:
    named = [rule for rule in rules if rule.text == decision.rule]
    meant = [rule for rule in named if rule.verdict == decision.verdict] or named
    return meant[0].source if meant else ""


def _lines(trials: Sequence[Trial], subject: str, *, project: Path) -> list[str]:
    paint = Paint()
    note = note_on_lookalikes([subject])
    lines = [
        in_reading_order(plain_lines(subject)),
        *([note] if note else []),
        f"in {printable(str(project))}; nothing was run",
        "",
    ]
    for trial in trials:
        word, colour = _SHOWN[trial.verdict]
        lines.append(f"{trial.mode:<5} {paint(f'{word:<8}', colour)} {printable(trial.reason)}")
        if trial.runs:
            lines.append(f"{'':15}It would run {trial.runs}.")
        if trial.always:
            lines.append(f"{'':15}“Always” would store {_listed(trial.always)}.")
        if trial.always_any:
            lines.append(f"{'':15}“Always, with any arguments” would store {_listed(trial.always_any)}.")
    return lines


def _listed(rules: Sequence[str]) -> str:
    return ", ".join(printable(rule) for rule in rules)
