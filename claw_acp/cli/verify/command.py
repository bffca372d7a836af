"""`claw-acp verify`: check programs against their protocols, from outside; here ACP agents."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio

from claw_acp.cli.verify import endpoint, provider
from claw_acp.cli.verify.options import Progress, add_report_options, seconds, tell, variable
from claw_acp.cli.verify.report import rule_lines
from claw_acp.core.value import Value
from claw_acp.verify import own_agent
from claw_acp.verify.agent_pool import PROMPT, Options
from claw_acp.verify.rule import CannotStart
from claw_acp.verify.run import examine, rules

TIMEOUT = 30.0  # seconds for any one answer
NOT_STARTED = 2
_HOMES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "CLAW_ACP_HOME")
_EXAMPLES = """\
The agent is started anew for many of the checks, each time in a home directory of its own and with the rest of your
environment. Without a command claw-acp checks itself, with a model that plays a script.

examples:
  claw-acp verify agent
  claw-acp verify agent --slow-prompt "count to 1000 slowly" -- my-agent --acp
  claw-acp verify agent --only 'cancel.*' -v --slow-prompt "run: sleep 60" -- node dist/agent.js
  claw-acp verify agent --keep-home --auth-method api-key --json report.json -- my-agent

exit code: 0 no binding rule is broken, 1 some are, 2 the agent cannot be started or the usage is wrong
"""


class _Place(Value):
    """Directories of one run: the agent's home, the project, and one for the checker."""

    home: Path
    project: Path
    scratch: Path


def main(argv: Sequence[str]) -> int:
    """Check a program and print the results."""
    options = _parser().parse_args(argv)
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


def _verify_agent(options: argparse.Namespace) -> int:
    if options.list:
        print("\n".join(rule_lines(rules(options.protocol))))
        return 0
    command = [word for index, word in enumerate(options.agent_command) if index or word != "--"]
    with _place(options.cwd) as place:
        asked = _options(options, command, place)
        progress = Progress(len(rules(options.protocol)))
        try:
            report = anyio.run(partial(examine, asked, scratch=place.scratch, only=options.only, told=progress.told))
        except CannotStart as error:
            print(f"claw-acp verify: {error.message}", file=sys.stderr)
            return NOT_STARTED
        finally:
            progress.clear()
    return tell(report, options, command=asked.command, what="agent")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="claw-acp verify", description="Check programs against their protocols.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    agent = kinds.add_parser(
        "agent",
        help="an ACP agent",
        description="Check an ACP agent from outside: start it, talk to it, and say which rules it breaks.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    agent.add_argument(
        "agent_command", nargs=argparse.REMAINDER, metavar="-- CMD ...", help="the agent; ours if left out"
    )
    agent.set_defaults(run=_verify_agent)
    _add_run_options(agent)
    add_report_options(agent)
    provider.set_up(kinds.add_parser("provider", help="a provider program"))
    endpoint.set_up(kinds.add_parser("tools", help="a program that lends tools to a hub"), role="tools")
    endpoint.set_up(kinds.add_parser("scheduler", help="a program that tells a hub what is due"), role="scheduler")
    return parser


def _add_run_options(agent: argparse.ArgumentParser) -> None:
    agent.add_argument("--cwd", type=Path, metavar="DIR", help="directory of the sessions (default: a temporary one)")
    agent.add_argument("--timeout", type=seconds, default=TIMEOUT, metavar="S", help="seconds for any one answer (30)")
    agent.add_argument("--protocol", type=int, choices=(1, 2), default=1, help="version of the protocol (1)")
    agent.add_argument("--prompt", metavar="TEXT", help="a prompt that is answered quickly")
    agent.add_argument("--slow-prompt", metavar="TEXT", help="a prompt that keeps the agent busy for a minute")
    agent.add_argument("--tool-prompt", metavar="TEXT", help="a prompt that makes the agent ask for permission")
    agent.add_argument("--auth-method", metavar="ID", help="authenticate with this one of the agent's authMethods")
    agent.add_argument("--allow-logout", action="store_true", help="logout may be called")
    agent.add_argument("--env", action="append", type=variable, default=[], metavar="K=V", help="more environment")
    agent.add_argument("--keep-home", action="store_true", help="use your own home directory, with its credentials")


@contextmanager
def _place(cwd: Path | None) -> Generator[_Place]:
    with tempfile.TemporaryDirectory(prefix="claw-acp-verify-", ignore_cleanup_errors=True) as name:
        root = Path(name).resolve()
        home, project, scratch = root / "home", root / "project", root / "scratch"
        for folder in (home, project, scratch):
            folder.mkdir()
        (project / "a.txt").write_text("hello\n", encoding="utf-8")
        yield _Place(home=home, project=project if cwd is None else cwd.resolve(), scratch=scratch)


def _options(options: argparse.Namespace, command: Sequence[str], place: _Place) -> Options:
    env = _environment(os.environ, None if options.keep_home else place.home)
    prompt: str | None = options.prompt
    slow: str | None = options.slow_prompt
    tool: str | None = options.tool_prompt
    auth_method: str | None = options.auth_method
    if not command:
        env |= own_agent.set_up(place.home / "claw")
        prompt, slow, tool = prompt or own_agent.PROMPT, slow or own_agent.SLOW, tool or own_agent.TOOL
        auth_method = auth_method or own_agent.AUTH_METHOD
    return Options(
        command=tuple(command or own_agent.COMMAND),
        cwd=place.project,
        env={**env, **dict(options.env)},
        timeout=options.timeout,
        prompt=prompt or PROMPT,
        slow_prompt=slow,
        tool_prompt=tool,
        auth_method=auth_method,
        allow_logout=options.allow_logout or not command,  # our own home is a temporary one
        protocol=options.protocol,
    )


def _environment(environ: Mapping[str, str], home: Path | None) -> dict[str, str]:
    """Our environment, with another home if one is given."""
    if home is None:
        return dict(environ)
    return {name: value for name, value in environ.items() if name not in _HOMES} | {"HOME": str(home)}
