"""`claw-acp demo`: the agent at work on a sample project, driven over ACP as an editor would drive it."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

import anyio

from claw_acp.cli.demo import project
from claw_acp.cli.demo.report import Facts, report
from claw_acp.cli.terminal.live_view import LiveView
from claw_acp.cli.terminal.paint import Paint
from claw_acp.cli.terminal.permission_keys import PermissionPrompt, can_ask
from claw_acp.client.agent import Agent
from claw_acp.client.handlers import Handlers, LocalFiles, OnPermission, OnUpdate
from claw_acp.client.spawn import spawn_agent
from claw_acp.core.child_environment import without_keys
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ClawError
from claw_acp.process.child_process import running_child
from claw_acp.rpc.errors import RpcError
from claw_acp.schema.content import TextContent
from claw_acp.schema.updates import ContentChunk, SessionUpdate

SERVER = (sys.executable, "-m", "claw_acp")
MODEL = "offline/assistant"
TEST_TIMEOUT = 60.0  # seconds for running the project's test ourselves
LOG_SHOWN = 4000  # bytes of what the server wrote to stderr, shown when something went wrong
_KEPT = frozenset({"CLAW_ACP_LOG", "CLAW_ACP_TRACE"})  # of our variables; the others would change what is shown


def main(argv: Sequence[str]) -> int:
    """Run the demo; 0 only if all its claims held."""
    arguments = _parser().parse_args(argv)
    place = Path(tempfile.mkdtemp(prefix="claw-acp-demo-")).resolve()
    demo = _Demo(place, by_key=not arguments.yes and can_ask(), answered_by_option=arguments.yes)
    try:
        held = anyio.run(demo.run)
    except (ClawError, RpcError) as error:
        demo.view.end()
        print(f"claw-acp demo: {error.message}", file=sys.stderr)
        print(demo.log.decode("utf-8", "replace"), end="", file=sys.stderr)
        held = False
    finally:
        if arguments.keep:
            demo.view.line(f"Everything was kept in {place}", colour="dim")
        else:
            shutil.rmtree(place, ignore_errors=True)
    return 0 if held else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claw-acp demo",
        description="Watch the agent fix a small project: a real server process, driven over ACP, with the built-in "
        "offline assistant. It needs no key and no network, and touches nothing outside a temporary folder.",
    )
    parser.add_argument("--yes", action="store_true", help="allow everything the agent asks for")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder")
    return parser


@dataclass(slots=True)
class _Watch:
    """Measures seconds since its last start."""

    started: float = 0.0

    def start(self) -> None:
        self.started = SYSTEM_CLOCK.monotonic()

    def read(self) -> float:
        return SYSTEM_CLOCK.monotonic() - self.started


class _Demo:
    """One run. `log` is the server's stderr output."""

    def __init__(self, place: Path, *, by_key: bool, answered_by_option: bool) -> None:
        paint = Paint()
        self._project = place / "greeter"
        self._home = place / "home"
        self._watch = _Watch()
        self._first_update: float | None = None
        self.view = LiveView(sys.stdout, paint=paint, base=self._project)
        why = "--yes" if answered_by_option else "there is no terminal to ask on"
        self._desk = PermissionPrompt(self.view, by="key" if by_key else "allow", why=why)
        self.log = b""

    async def run(self) -> bool:
        """Run all parts, then check them."""
        project.create(self._project)
        failed_before = not await self._test_passes()
        self._introduce()
        facts = await self._work(failed_before=failed_before)
        await self._come_back(facts)
        facts.passes_now = await self._test_passes()
        report(facts, view=self.view)
        return facts.held

    def _introduce(self) -> None:
        self.view.line("claw-acp demo", colour="bold")
        self.view.line("")
        self.view.line(f"A small Python project whose test fails is in {self._project}")
        self.view.line("The agent runs as a process of its own; this program talks to it over ACP, as an editor does.")
        self.view.line("")
        self.view.line(f"» {project.PROMPT}", colour="bold")
        self.view.section("introduction")

    # ------------------------------------------------------------------ the two visits

    async def _work(self, *, failed_before: bool) -> Facts:
        self._watch.start()
        async with self._server(self._draw, self._desk.answer) as agent:
            self.view.terminal_text = agent.terminals.shown
            await agent.initialize()
            initialized = self._watch.read()
            self._watch.start()
            session = (await agent.new_session(self._project)).session_id
            opened = self._watch.read()
            self._watch.start()
            stop = (await agent.prompt(session, project.PROMPT)).stop_reason
        self.view.end()
        return Facts(
            session=session,
            stop=stop,
            failed_before=failed_before,
            initialized=initialized,
            opened=opened,
            first_update=self._first_update,
            cards=list(self.view.cards.values()),
            base=self._project,
        )

    async def _come_back(self, facts: Facts) -> None:
        """Check that a new server process knows the session and replays its history."""

        async def count(_session: str, update: SessionUpdate) -> None:
            facts.replayed += 1
            if isinstance(update, ContentChunk) and isinstance(update.content, TextContent):
                facts.prompt_replayed |= update.content.text == project.PROMPT

        async with self._server(count, self._desk.answer) as agent:
            await agent.initialize()
            facts.listed = facts.session in [one.session_id for one in await agent.list_sessions(cwd=self._project)]
            await agent.load_session(facts.session, cwd=self._project)

    def _server(self, update: OnUpdate, permission: OnPermission) -> AbstractAsyncContextManager[Agent]:
        handlers = Handlers(
            update=update, permission=permission, files=LocalFiles(), terminals=True, environment=_project_environment()
        )
        return spawn_agent(SERVER, handlers=handlers, env=self._server_environment(), on_stderr=self._remember)

    def _server_environment(self) -> Mapping[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAW_ACP_") or name in _KEPT}
        return kept | {"CLAW_ACP_HOME": str(self._home), "CLAW_ACP_MODEL": MODEL}

    def _remember(self, data: bytes) -> None:
        self.log = (self.log + data)[-LOG_SHOWN:]

    # ------------------------------------------------------------------ what is seen

    async def _draw(self, _session: str, update: SessionUpdate) -> None:
        if self._first_update is None and isinstance(update, ContentChunk):
            self._first_update = self._watch.read()
        self.view.draw(update)

    async def _test_passes(self) -> bool:
        with anyio.fail_after(TEST_TIMEOUT):
            test = [sys.executable, *project.TEST_ARGUMENTS]
            async with running_child(
                test, cwd=self._project, env=_project_environment(), stdout="null", stderr="null"
            ) as child:
                return await child.wait() == 0


def _project_environment() -> Mapping[str, str]:
    """The environment of programs in the project: `python3` is the Python that runs this, without compiled files."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return {**without_keys(os.environ), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
