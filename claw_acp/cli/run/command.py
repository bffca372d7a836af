"""`claw-acp run`: one turn in a directory, over the same ACP that editors speak."""

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import anyio

from claw_acp.cli.current_settings import locations_here
from claw_acp.cli.run.view import JsonLines, PlainText, RunView
from claw_acp.cli.sessions.stored import ID_HELP, find_session, last_session, stored_sessions
from claw_acp.cli.terminal.form_lines import FormPrompt
from claw_acp.cli.terminal.live_view import LiveView
from claw_acp.cli.terminal.paint import Paint
from claw_acp.cli.terminal.permission_keys import PermissionPrompt, can_ask
from claw_acp.client.agent import Agent
from claw_acp.client.handlers import Handlers
from claw_acp.client.spawn import spawn_agent
from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.environment import variables
from claw_acp.config.load import load_settings
from claw_acp.core.errors import ClawError
from claw_acp.core.json_value import JsonObject
from claw_acp.rpc.errors import RpcError
from claw_acp.schema.prompt import StopReason
from claw_acp.schema.updates import SessionUpdate
from claw_acp.telemetry.trace_context import trace_in

SERVER = (sys.executable, "-m", "claw_acp")
WRONG_USAGE = 2
INTERRUPTED = 130  # the exit code of a program that Ctrl-C ended
_EXAMPLES = """\
The answer goes to standard output, everything else to standard error.

examples:
  claw-acp run "summarize this project"
  git diff | claw-acp run - --mode plan
  claw-acp run --continue "and now the tests"
  claw-acp run "add a test for greet.py" --yes --json

exit code: 0 the turn ended by itself, 1 it failed or was cut short, 2 wrong usage or a
config.toml that cannot be read, 130 stopped with Ctrl-C

The turn belongs to the trace in TRACEPARENT and TRACESTATE, if they are set.
"""


def main(argv: Sequence[str]) -> int:
    """Run one turn."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    prompt: str = (sys.stdin.read() if arguments.prompt == "-" else arguments.prompt).strip()
    directory = Path(arguments.cwd).resolve()
    if not prompt:
        parser.error("the prompt is empty")
    if not directory.is_dir():
        parser.error(f"--cwd: {arguments.cwd} is not a directory")
    locations = locations_here()
    findings = load_settings(locations=locations, environ=os.environ, cwd=None).diagnostics
    if unusable := _unusable_file(findings, file=str(locations.config_file)):
        print(f"claw-acp run: {unusable}", file=sys.stderr)
        return WRONG_USAGE
    activity = LiveView(sys.stderr, paint=Paint(sys.stderr), base=directory)
    problems = tuple(finding.text() for finding in findings)
    view: RunView = JsonLines() if arguments.json else PlainText(activity, problems=problems)
    turn = _Turn(prompt, directory=directory, arguments=arguments, view=view, activity=activity, problems=problems)
    try:
        anyio.run(turn.run)
    except (ClawError, RpcError) as error:
        if arguments.json and not turn.opened:  # else the session's notices say it
            print(*problems, sep="\n", end="\n" * bool(problems), file=sys.stderr)
        view.failed(error)
        return INTERRUPTED if turn.interrupted else 1
    except KeyboardInterrupt:  # so early that nothing runs yet
        return INTERRUPTED
    if turn.interrupted:
        return INTERRUPTED
    return 0 if turn.stop == "end_turn" else 1


def _unusable_file(findings: Sequence[Diagnostic], *, file: str) -> str | None:
    """The error that makes the user's whole file unusable; the agent would go on without it."""
    broken = (item for item in findings if item.severity == "error" and item.file == file and not item.key)
    return next((finding.text() for finding in broken), None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claw-acp run",
        description="Give the agent one task and wait until it is done.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("prompt", help="what to do; - reads it from standard input")
    parser.add_argument("--json", action="store_true", help="print every update as a line of JSON")
    parser.add_argument("--yes", action="store_true", help="allow everything the agent asks for")
    parser.add_argument("--mode", metavar="MODE", help="plan, ask, edit or auto")
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that answers")
    parser.add_argument("--cwd", metavar="DIR", default=".", help="where to work (default: here)")
    sessions = parser.add_mutually_exclusive_group()
    sessions.add_argument("--session", metavar="ID", help=f"continue a session instead of starting one: {ID_HELP}")
    sessions.add_argument(
        "-c", "--continue", dest="go_on", action="store_true", help="continue the last session of the directory"
    )
    return parser


class _Turn:
    """The turn and its cancellation."""

    def __init__(
        self,
        prompt: str,
        *,
        directory: Path,
        arguments: argparse.Namespace,
        view: RunView,
        activity: LiveView,
        problems: Sequence[str],
    ) -> None:
        self._prompt = prompt
        self._directory = directory
        self._arguments = arguments
        self._view = view
        self._activity = activity
        self._problems = [text.encode() for text in problems]
        self._session: str | None = None
        self._running = False
        self.interrupted = False
        self.stop: StopReason | None = None

    @property
    def opened(self) -> bool:
        """True if there is a session, which itself reports problems of the configuration."""
        return self._session is not None

    async def run(self) -> None:
        """Start an agent, run the turn, end the agent."""
        by, why = _answers(yes=self._arguments.yes, json=self._arguments.json)
        desk = PermissionPrompt(self._activity, by=by, why=why)
        form = FormPrompt(self._activity).answer if by == "key" else None
        handlers = Handlers(update=self._update, permission=desk.answer, form=form)
        async with (
            spawn_agent(SERVER, handlers=handlers, env=self._environ(), on_stderr=self._pass_on) as agent,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._watch_interrupts, agent, tasks.cancel_scope)
            session = await self._open(agent)
            self._running = True
            self.stop = (await agent.prompt(session, self._prompt, meta=_trace_of(os.environ))).stop_reason
            self._view.ended(session, self.stop)
            tasks.cancel_scope.cancel()

    async def _open(self, agent: Agent) -> str:
        await agent.initialize()
        known = await self._known_session()
        if known is None:
            self._session = (await agent.new_session(self._directory)).session_id
        else:
            await agent.resume_session(known, cwd=self._directory)
            self._session = known
        if self._arguments.model:
            await agent.set_config_option(self._session, "model", value=self._arguments.model)
        if self._arguments.mode:
            await agent.set_mode(self._session, self._arguments.mode)
        return self._session

    async def _known_session(self) -> str | None:
        """The session to continue; None: a new one.

        Raises:
            ClawError: There is none.
        """
        wanted: str | None = self._arguments.session
        if wanted is None and not self._arguments.go_on:
            return None
        async with stored_sessions() as journal:
            found = await (last_session(journal, self._directory) if wanted is None else find_session(journal, wanted))
            return found.id

    def _environ(self) -> Mapping[str, str]:
        """Our environment with the requested model: a new session must not begin with an unusable one."""
        model: str | None = self._arguments.model
        return {**os.environ, **({} if model is None else {variables()["model"].name: model})}

    async def _update(self, session: str, update: SessionUpdate) -> None:
        self._view.draw(session, update)

    def _pass_on(self, data: bytes) -> None:
        """Forward the agent's log, except diagnostics that were shown before it started."""
        lines = data.splitlines(keepends=True)
        sys.stderr.buffer.writelines(line for line in lines if not any(problem in line for problem in self._problems))
        sys.stderr.buffer.flush()

    async def _watch_interrupts(self, agent: Agent, scope: anyio.CancelScope) -> None:
        """Cancel the turn at the first Ctrl-C, exit at the second."""
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async for _ in signals:
                if self.interrupted or not self._running or self._session is None:
                    self.interrupted = True
                    scope.cancel()
                    return
                self.interrupted = True
                await agent.cancel(self._session)


def _trace_of(environ: Mapping[str, str]) -> JsonObject | None:
    """The `_meta` of a turn that belongs to the trace of whoever started this program, if there is one."""
    return dict(trace_in({name: environ.get(name.upper()) for name in ("traceparent", "tracestate")})) or None


def _answers(*, yes: bool, json: bool) -> tuple[Literal["key", "allow", "nobody"], str]:
    if yes:
        return "allow", "--yes"
    if not json and can_ask():
        return "key", ""
    return "nobody", "no terminal to ask on; --yes allows everything"
