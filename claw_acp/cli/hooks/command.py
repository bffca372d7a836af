"""`claw-acp hooks list|test`: the hook commands that count in this directory, and what one answers to an event."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

import anyio

from claw_acp.cli.current_settings import locations_here, settings_here
from claw_acp.cli.terminal.paint import columns
from claw_acp.contracts.hook import (
    AfterModel,
    AfterTool,
    AnswerGiven,
    BeforeModel,
    BeforeSummary,
    BeforeTool,
    HookContext,
    HookEvent,
    HookFailed,
    PermissionAsked,
    PromptGiven,
    SessionEnded,
    SessionStarted,
    SubagentStarted,
    TurnEnding,
)
from claw_acp.contracts.launch import CommandSandbox
from claw_acp.core.errors import ConfigError, InvalidRequest
from claw_acp.core.json_value import JsonObject
from claw_acp.core.printable import printable
from claw_acp.core.value import as_dict
from claw_acp.hooks.command import CommandHook
from claw_acp.hooks.files import FoundHooks, read_hooks
from claw_acp.hooks.foreign_tools import NAMES, own_arguments
from claw_acp.hooks.places import hook_files
from claw_acp.hooks.rule import EVENTS, HookRule
from claw_acp.security.trust_store import TrustStore
from claw_acp.workspace.paths import session_root

_SHOWN: Final = 60  # characters of a command line
_EPILOG: Final = """\
examples:
  claw-acp hooks list
  claw-acp hooks test PreToolUse --tool Bash --input '{"command": "rm -rf /"}'
  claw-acp hooks test UserPromptSubmit --text "fix the tests"
"""


def main(argv: Sequence[str]) -> int:
    """List hooks, or try them."""
    options = _parser().parse_args(argv)
    found = _found()
    for trouble in found.troubles:
        print(trouble, file=sys.stderr)
    if options.action == "test":
        return anyio.run(_test, found.rules, options)
    rows = [
        (rule.event, printable(rule.matcher) or "*", printable(_shortened(rule.line)), rule.place, _state(rule))
        for rule in found.rules
    ]
    print("\n".join(columns([("EVENT", "MATCHER", "COMMAND", "FILE", "STATE"), *rows])) if rows else "No hooks.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claw-acp hooks", description="Hooks: commands of yours that are called around what the agent does.",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("list", help="the hooks that count in this directory, in the order in which they are called")
    test = actions.add_parser("test", help="run your hooks of an event, and show what they answer")
    test.add_argument("event", choices=sorted(EVENTS))
    test.add_argument("--tool", default="Bash", help="the tool of a call (default: Bash)")
    test.add_argument("--input", default="{}", metavar="JSON", help="the arguments of a call")
    test.add_argument("--text", default="", help="the prompt, the answer, or the result of a call")
    return parser


def _found() -> FoundHooks:
    settings = settings_here()
    home = Path(os.environ.get("HOME") or Path.home())
    project = session_root(str(Path.cwd()))
    files = hook_files(project, config_dir=locations_here().config_dir, home=home, use=settings.hooks.use)
    return read_hooks(files, () if settings.hooks.use == "off" else settings.hook_commands)


def _state(rule: HookRule) -> str:
    if not rule.files:
        return "yours"
    store = TrustStore(locations_here().trust_file)
    return "trusted" if all(map(store.trusts, rule.files)) else "not trusted: claw-acp trust"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


async def _test(rules: Sequence[HookRule], options: argparse.Namespace) -> int:
    """Run the user's own hooks for a made-up event; 1 if one failed."""
    event, failed = _event(options), False
    context = HookContext(
        session="ses_test", cwd=session_root(str(Path.cwd())), mode=settings_here().mode, sandbox=_none,
        timeout=settings_here().hooks.timeout,
    )  # fmt: skip
    fitting = [rule for rule in rules if rule.event == options.event and rule.fits(event)]
    for rule in fitting:
        print(printable(f"{rule.place}: {_shortened(rule.line)}"))
        if rule.files:
            print("  not run: hooks of a project run in the sandbox of a session")
            continue
        try:
            result = await CommandHook(rule, session_facts=dict[str, str]).on(event, context)
        except HookFailed as error:
            print(f"  failed: {printable(error.message)}")
            failed = True
            continue
        wishes = {key: value for key, value in as_dict(result).items() if value not in (None, "", [])}
        print("\n".join(f"  {key}: {printable(str(value))}" for key, value in wishes.items()) or "  goes on")
    if not fitting:
        print("No hook fits this event.")
    return 1 if failed else 0


async def _none() -> CommandSandbox | None:
    raise ConfigError("there is no session")


def _event(options: argparse.Namespace) -> HookEvent:
    """An event of the kind that was asked for."""
    kind, text = EVENTS[options.event], str(options.text)
    if kind in {BeforeTool, AfterTool, PermissionAsked}:
        tool = next((own for own, name in NAMES.items() if name == options.tool), str(options.tool))
        arguments = own_arguments(tool, _given(options.input), before={})
        if kind is BeforeTool or kind is PermissionAsked:
            return kind(tool=tool, arguments=arguments, call_id="call_test")
        failed = options.event == "PostToolUseFailure"
        return AfterTool(tool=tool, arguments=arguments, call_id="call_test", text=text, failed=failed)
    made: Sequence[HookEvent] = (
        TurnEnding(text=text, again=False, agent="test" if options.event == "SubagentStop" else ""),
        PromptGiven(text=text), AnswerGiven(text=text), SessionStarted(source="startup"), SessionEnded(reason="other"),
        SubagentStarted(agent="test"), BeforeSummary(trigger="manual"),
        BeforeModel(model="test/model"), AfterModel(text=text, tools=()),
    )  # fmt: skip
    return next(event for event in made if type(event) is kind)


def _given(text: str) -> JsonObject:
    try:
        found: object = json.loads(text)
    except ValueError as error:
        raise InvalidRequest(f"--input is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise InvalidRequest('--input has to be a JSON object, as in \'{"command": "ls"}\'')
    return cast("JsonObject", found)
