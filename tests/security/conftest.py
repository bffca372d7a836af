"""A project, a home directory with keys, and a short way to ask the policy."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from claw_acp.contracts.tool import Access, FetchesUrl, ReadsPath, RunsCommand, WritesPath
from claw_acp.security.policy import Decision, Mode, Policy, PolicyContext
from claw_acp.security.rules import Rule, parse_rule


def rules(*, allow: Sequence[str] = (), ask: Sequence[str] = (), deny: Sequence[str] = ()) -> tuple[Rule, ...]:
    """Rules of all verdicts."""
    return (
        *(parse_rule(text, verdict="allow", source="config.toml") for text in allow),
        *(parse_rule(text, verdict="ask", source="config.toml") for text in ask),
        *(parse_rule(text, verdict="deny", source="config.toml") for text in deny),
    )


@dataclass(frozen=True)
class House:
    """Where the tests live: `root` is the project."""

    root: Path
    home: Path
    state: Path
    context: PolicyContext = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "context", PolicyContext(roots=(self.root,), home=self.home, protected=(self.state,)))

    def decide(self, access: Access | None, *, tool: str, mode: Mode = "ask", given: Sequence[Rule] = ()) -> Decision:
        accesses = () if access is None else (access,)
        return Policy(given).decide(tool=tool, accesses=accesses, mode=mode, context=self.context)

    def run(self, line: str, *, mode: Mode = "ask", given: Sequence[Rule] = ()) -> Decision:
        return self.decide(RunsCommand(line=line, cwd=self.root), tool="shell", mode=mode, given=given)

    def read(self, path: str, *, mode: Mode = "ask", given: Sequence[Rule] = (), tool: str = "read_file") -> Decision:
        return self.decide(ReadsPath(path=self.root / path), tool=tool, mode=mode, given=given)

    def write(self, path: str, *, mode: Mode = "ask", given: Sequence[Rule] = (), tool: str = "write_file") -> Decision:
        return self.decide(WritesPath(path=self.root / path), tool=tool, mode=mode, given=given)

    def fetch(self, url: str, *, mode: Mode = "ask", given: Sequence[Rule] = ()) -> Decision:
        return self.decide(FetchesUrl(url=url), tool="fetch", mode=mode, given=given)


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """One house for all tests: the policy only looks."""
    base = tmp_path_factory.mktemp("house").resolve()
    home, root, state = base / "home", base / "project", base / "state"
    for directory in (home / ".ssh", home / ".aws", root / "src", root / ".git", state):
        directory.mkdir(parents=True)
    (home / ".ssh" / "id_ed25519").write_text("key")
    (root / "README.md").write_text("hello")
    (root / "src" / "app.py").write_text("print()")
    (root / ".env").write_text("A=1")
    (root / "keys.txt").symlink_to(home / ".ssh" / "id_ed25519")
    (root / "elsewhere").symlink_to(base)
    return House(root=root, home=home, state=state)
