"""The command line: a table of commands, each named by string, so that a command loads only itself."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from claw_acp.core.errors import ClawError
from claw_acp.core.nearest import nearest
from claw_acp.core.version import VERSION
from claw_acp.registry.reference import Ref

CommandMain: TypeAlias = Callable[[Sequence[str]], int]
"""Runs a command: takes the arguments after its name, returns the exit code (0 done, 1 failed, 2 wrong usage)."""


@dataclass(frozen=True, slots=True)
class Command:
    """One row of the table."""

    run: Ref[CommandMain]
    summary: str


COMMANDS: Mapping[str, Command] = {
    "demo": Command(
        Ref("claw_acp.cli.demo.command:main"), "watch the agent work on a sample project, without key or network"
    ),
    "run": Command(Ref("claw_acp.cli.run.command:main"), "run one task in this directory"),
    "login": Command(Ref("claw_acp.cli.login.command:main"), "give the key of a model provider; it is tried and kept"),
    "logout": Command(Ref("claw_acp.cli.login.logout:main"), "remove keys that login stored"),
    "doctor": Command(
        Ref("claw_acp.cli.doctor.command:main"), "check this machine: what works, what is missing, what to do"
    ),
    "verify": Command(
        Ref("claw_acp.cli.verify.command:main"), "check an ACP agent, or a provider program, against its protocol"
    ),
    "sessions": Command(
        Ref("claw_acp.cli.sessions.command:main"), "list, show, export, archive, rename, copy and delete conversations"
    ),
    "cost": Command(
        Ref("claw_acp.cli.sessions.costs:main"), "show the cost of model requests, by day, model or session"
    ),
    "config": Command(
        Ref("claw_acp.cli.config.show:main"), "show the effective settings and where each came from; change them"
    ),
    "serve": Command(
        Ref("claw_acp.cli.serve.command:main"), "run a hub: editors, remote clients and others share live sessions"
    ),
    "cron": Command(Ref("claw_acp.cli.cron.command:main"), "add, list and change jobs that run at set times"),
    "audit": Command(Ref("claw_acp.cli.audit.command:main"), "show and check the record of what was done"),
    "memory": Command(
        Ref("claw_acp.cli.memory.command:main"), "show, change, export and switch off what agents remember"
    ),
    "permissions": Command(
        Ref("claw_acp.cli.permissions.command:main"), "list and revoke stored answers; test and explain decisions"
    ),
    "hooks": Command(
        Ref("claw_acp.cli.hooks.command:main"), "list the hooks of this directory; try what they answer to an event"
    ),
    "trust": Command(
        Ref("claw_acp.cli.trust.command:main"), "show what a project wants to say in your name, and trust it"
    ),
    "skills": Command(
        Ref("claw_acp.cli.skills.command:main"), "list, show, create and check instructions for kinds of work"
    ),
    "prompt": Command(Ref("claw_acp.cli.prompt.show:main"), "show the system prompt, with its sources and sizes"),
    "trace": Command(Ref("claw_acp.cli.trace.command:main"), "print what --trace recorded, a line for each message"),
    "schema": Command(Ref("claw_acp.cli.schema:main"), "write the documents of claw-acp's own protocols"),
    "providers": Command(Ref("claw_acp.cli.providers.listing:main"), "list model providers and their keys, test one"),
    "models": Command(Ref("claw_acp.cli.providers.models:main"), "list all models, or those of one provider"),
}


def main(argv: Sequence[str]) -> int:
    """Run one command.

    Raises:
        SystemExit: `--help`, `--version` or a wrong option; argparse has printed the answer.
    """
    parser = _parser()
    if argv and argv[0].startswith("--trace"):
        parser.error("--trace takes one FILE and no command: it records the messages between an editor and the agent")
    name: str | None = parser.parse_args(argv[:1]).command
    command = COMMANDS.get(name or "")
    if command is None:
        return _unknown(name, parser=parser)
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        reconfigure(errors="backslashreplace")  # a terminal that lacks a character is no reason to fail
    try:
        code = command.run.load()(argv[1:])
        print(end="", flush=True)  # unlike `sys.stdout.flush()`, fine when stdout is closed
    except ClawError as error:
        print(f"claw-acp {name}: {error.message}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of a pipe went away, as `| head` does. Python would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="claw-acp",
        usage="claw-acp [--trace FILE | COMMAND ...]",
        description="An agent server for editors. Without a command it speaks the Agent Client Protocol on stdio.",
        epilog=f"commands:\n{rows}\n\n`claw-acp COMMAND --help` explains a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"claw-acp {VERSION}")
    parser.add_argument(
        "--trace", metavar="FILE", help="speak the protocol on stdin and stdout, and record every message in FILE"
    )
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    return parser


def _unknown(name: str | None, *, parser: argparse.ArgumentParser) -> int:
    if name is None:
        parser.print_help()
        return 2
    meant = nearest(name, COMMANDS)
    hint = f'did you mean "{meant}"?' if meant else "`claw-acp --help` lists the commands"
    print(f'claw-acp: there is no command "{name}"; {hint}', file=sys.stderr)
    return 2
