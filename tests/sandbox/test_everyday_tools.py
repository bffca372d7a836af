"""The tools of every day work in a sandbox: in a project whose guarded files cannot be changed, without network."""

import sys
import zipfile
from pathlib import Path

import pytest

from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.sandbox.backend import SandboxBackend
from claw_acp.sandbox.machine import sandbox_of_this_machine
from tests.sandbox.inside import guarded, run_inside
from tests.support.toolchain import ENVIRONMENT, missing

PEOPLE = "-c user.name=a -c user.email=a@b.c"
FILES = {
    "Makefile": "all: hello\n\t./hello\n",
    "hello.c": '#include <stdio.h>\nint main(void) { puts("made"); return 0; }\n',
    "test_it.py": "def test_it(tmp_path):\n    (tmp_path / 'x').write_text('x')\n",
    "library/package.json": '{"name": "library", "version": "1.0.0", "main": "main.js"}',
    "library/main.js": "module.exports = 'required';\n",
    "package.json": '{"name": "it", "version": "1.0.0", "scripts": {"test": "node -p \\"require(\'library\')\\""}}',
    "go/go.mod": "module example.com/it\n\ngo 1.20\n",
    "go/it.go": "package it\n\nfunc Four() int { return 4 }\n",
    "go/it_test.go": 'package it\n\nimport "testing"\n\nfunc TestFour(t *testing.T) { t.Log(Four()) }\n',
    "Cargo.toml": '[package]\nname = "it"\nversion = "1.0.0"\nedition = "2021"\n',
    "src/main.rs": 'fn main() { println!("run"); }\n',
}
LINES = {
    "git": f"""git add -A && git {PEOPLE} commit -qm one && echo two > new && git add new && git {PEOPLE} commit -qm two
        git gc -q && git worktree add -q inner && git switch -qc other && git stash list && git status --short""",
    "make": "make",
    "gcc": "gcc hello.c -o compiled && ./compiled",
    "node": "node -p 'require(\"./library/main.js\")'",
    "npm": "npm install --offline --no-audit --no-fund ./library && npm test",
    "go": "cd go && go build ./... && go test ./...",
    "cargo": "cargo run --quiet",
    "python": f"""{sys.executable} -m venv --without-pip made && made/bin/python -c 'import sys; print(sys.prefix)'
        {sys.executable} -m pip install -q --no-index --prefix made it-1.0-py3-none-any.whl && made/bin/python -m it""",
    "pytest": f"{sys.executable} -m pytest -q -n 0 test_it.py",
}
SAID = {
    "git": "", "make": "made", "gcc": "made", "node": "required", "npm": "required", "go": "ok", "cargo": "run",
    "python": "installed", "pytest": "1 passed",
}  # fmt: skip
COMPILED = Path(ENVIRONMENT.get("GOCACHE") or Path(ENVIRONMENT["HOME"], ".cache", "go-build"))
SHARED = (COMPILED,) if COMPILED.is_dir() else ()  # compiling Go's library anew takes most of a minute
VERSIONS = {"go": "version"}
OURS = {"python", "pytest"}


@pytest.fixture
def backend(disk: Path) -> SandboxBackend:
    """The strongest sandbox of this machine, if it guards files of projects."""
    found = sandbox_of_this_machine(cache=disk / "cache")
    if found is None or "read_only" not in found.enforces:
        pytest.skip("no sandbox here guards single files of projects")
    return found


def fill(project: Path) -> None:
    for name, text in FILES.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    with zipfile.ZipFile(project / "it-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("it.py", "print('installed')\n")
        wheel.writestr("it-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: it\nVersion: 1.0\n")
        wheel.writestr("it-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("it-1.0.dist-info/RECORD", "")


@pytest.mark.parametrize("tool", LINES)
def test_a_tool_works(tool: str, backend: SandboxBackend, project: Path) -> None:
    if tool not in OURS and (reason := missing(tool, VERSIONS.get(tool, "--version"))):
        pytest.skip(reason)
    fill(project)
    run_inside(backend, "git init -q -b main .", cwd=project, profile=SandboxProfile(writable=(project,)))
    own = {"GOCACHE": str(COMPILED), "PATH": f"{ENVIRONMENT['PATH']}:{Path(sys.executable).parent}"}
    ended = run_inside(backend, LINES[tool], cwd=project, profile=guarded(project, *SHARED), **own)
    assert (ended.code, SAID[tool] in ended.stdout.decode()) == (0, True), ended
    assert {"HEAD", ".mcp.json", ".vscode"}.isdisjoint(path.name for path in project.iterdir())
