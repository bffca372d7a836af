"""Where a benchmark finds what it needs: the model, directories of its own, agents to spawn, a store with a history."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.client import LIFETIME, Agent, BenchmarkFailed, spawned
from tests.benchmarks.model import Model, running_model
from tests.support.quiet import QUIET

HISTORY = 200  # turns in a long session
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR")  # of our environment; the rest could change what is measured
FILE = "notes.txt"  # in the project, for the agent to read
FILE_TEXT = "".join(f"line {number} of a small file\n" for number in range(40))


def installed_program() -> str:
    """The console script that was installed for this Python, else the first on the path."""
    beside = Path(sys.executable).with_name("claw-acp")
    return str(beside) if beside.exists() else shutil.which("claw-acp") or "claw-acp"


class LongSession(NamedTuple):
    """A home whose store holds a session of `HISTORY` turns."""

    home: Path
    session: str


class Lab:
    """One for all rows. Made by `opened_lab`."""

    def __init__(self, root: Path, model: Model, *, program: str, hub: bool) -> None:
        self.model = model
        self.program = program
        self._hub = hub
        self._hubs: dict[Path, subprocess.Popen[bytes]] = {}
        self.project = root / "project"
        self._root = root
        self._numbers = count(1)
        self._long: LongSession | None = None
        self.project.mkdir()
        (self.project / FILE).write_text(FILE_TEXT)

    def new_home(self) -> Path:
        """An empty directory that nobody else uses."""
        home = self._root / f"home-{next(self._numbers)}"
        home.mkdir(mode=0o700)
        return home

    @contextmanager
    def agent(
        self, home: Path | None = None, *, more: Mapping[str, str] | None = None, lifetime: float = LIFETIME
    ) -> Generator[Agent]:
        """A freshly spawned agent, in a home of its own unless one is given, with `more` in its environment."""
        home = home or self.new_home()
        env = {**self._environment(home), **(more or {})}
        if self._hub and home not in self._hubs:
            self._hubs[home] = self._start_hub(env)
        log = self._root / "stderr.txt"
        with spawned((self.program,), env=env, cwd=self.project, log=log, lifetime=lifetime) as agent:
            yield agent

    def _environment(self, home: Path) -> dict[str, str]:
        """The whole environment of an agent in this home."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        own = {"HOME": str(home), "CLAW_ACP_HOME": str(home)}
        key = {"OPENAI_API_KEY": "sk-test-of-the-benchmarks", "OPENAI_BASE_URL": self.model.url}
        return kept | QUIET | own | key

    def _start_hub(self, env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        """A hub in the same home, with a turn behind it: the first one loads what it needs."""
        command = (self.program, "serve", "--no-listen")
        hub = subprocess.Popen(command, env=dict(env), cwd=self.project, stdout=subprocess.PIPE)
        assert hub.stdout is not None
        if not hub.stdout.readline():
            raise BenchmarkFailed("the hub ended as soon as it was started")
        with spawned((self.program,), env=env, cwd=self.project, log=self._root / "stderr.txt") as agent:
            agent.initialize()
            agent.prompt(self.new_session(agent), "small")
        self.model.exchanges()
        return hub

    def hub_pid(self, home: Path) -> int:
        """The process of the hub in a home."""
        return self._hubs[home].pid

    def end_hub(self, home: Path) -> None:
        """Kill the hub in a home."""
        hub = self._hubs.pop(home)
        hub.kill()
        hub.communicate()

    def restart_hub(self, home: Path) -> None:
        """Kill the hub in a home, and start another one."""
        self.end_hub(home)
        self._hubs[home] = self._start_hub(self._environment(home))

    @contextmanager
    def without_hub(self) -> Generator[None]:
        """Agents that are started in the block have no hub."""
        before, self._hub = self._hub, False
        try:
            yield
        finally:
            self._hub = before

    def close(self) -> None:
        """End the hubs."""
        for home in tuple(self._hubs):
            self.end_hub(home)

    @contextmanager
    def session(self) -> Generator[tuple[Agent, str]]:
        """A freshly spawned agent with a new session."""
        with self.agent() as agent:
            agent.initialize()
            yield agent, self.new_session(agent)

    def new_session(self, agent: Agent) -> str:
        """The id of a new session in the project."""
        return agent.new_session(self.project).result["sessionId"]

    def long_session(self) -> LongSession:
        """A copy of a home with a long session, which is made by real prompts the first time."""
        if self._long is None:
            home = self.new_home()
            with self.agent(home) as agent:
                agent.initialize()
                session = self.new_session(agent)
                for number in range(HISTORY):
                    agent.prompt(session, f"small question number {number}, of about the length that people type")
            self.model.exchanges()
            self._long = LongSession(home, session)
        home = self.new_home()
        shutil.copytree(self._long.home, home, dirs_exist_ok=True, ignore=shutil.ignore_patterns("run"))
        return LongSession(home, self._long.session)


@contextmanager
def opened_lab(program: str, *, hub: bool = False) -> Generator[Lab]:
    """A lab in a temporary directory, with a running model, for the console script `program`.

    With `hub`, every agent is a bridge to a hub that is running already.
    """
    with tempfile.TemporaryDirectory(prefix="claw-acp-bench-") as root, running_model() as model:
        lab = Lab(Path(root).resolve(), model, program=program, hub=hub)
        try:
            yield lab
        finally:
            lab.close()
