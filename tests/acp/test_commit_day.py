"""A day of work up to a commit in `ask` mode: only what changes something is asked about, once where that is enough."""

import subprocess
from pathlib import Path

from tests.support.editors.shared_house import Guest, SharedHouse
from tests.support.script_files import Script, call, say, turn

LOOKS = [
    "git status --short && git diff --stat",
    "git log --oneline -5 | cat",
    "git diff HEAD -- calc.py",
    "grep -rn --include='*.py' 'def ' . | head -20",
    "find . -name '*.py' -not -path './.git/*' | sort",
    "sed -n '1,20p' calc.py",
    'for f in *.py; do wc -l "$f"; done',
    "git ls-files | xargs wc -l",
    'ls {src,docs} 2>/dev/null || echo "none: $?"',
    "python3 --version",
]
TEST = "python3 -m unittest -q 2>&1 | tail -3"
COMMIT = ["git add calc.py", "git commit -q -m 'add two numbers'"]


def _git(project: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=project, check=True, capture_output=True, text=True).stdout


def _project(project: Path) -> None:
    (project / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (project / "test_calc.py").write_text(
        "import unittest\nimport calc\n\n\nclass T(unittest.TestCase):\n    def test(self):\n"
        "        self.assertEqual(calc.add(2, 2), 4)\n"
    )
    _git(project, "init", "-q")
    _git(project, "config", "user.name", "me")
    _git(project, "config", "user.email", "me@example.org")
    _git(project, "add", ".")
    _git(project, "commit", "-q", "-m", "first")


def _asked(guest: Guest) -> list[str]:
    return [frame["params"]["toolCall"]["title"] for frame in guest.received("session/request_permission")]


async def test_a_commit_day_asks_for_the_edit_the_tests_and_the_commit(project: Path, home: Path) -> None:
    _project(project)
    edit = call("edit_file", path="calc.py", edits=[{"old_text": "a - b", "new_text": "a + b"}])
    day = [*(call("shell", command=line) for line in LOOKS), edit, call("shell", command=TEST)]
    script = Script(
        *(turn(step) for step in day),
        turn(call("shell", command=TEST)),  # again: agreed to for good
        *(turn(call("shell", command=line)) for line in COMMIT),
        turn(say("done")),
    )
    async with SharedHouse.opened(project=project, home=home, script=script, config='mode = "ask"') as house:
        guest = await house.visit()
        await guest.new_session()
        guest.will_answer("allow_once", "allow_always", "allow_once", "allow_once")
        outcome = await guest.prompt("mend calc.py and commit")
        assert outcome.text == "done"
        assert _asked(guest) == ["Edit calc.py", TEST, *COMMIT]
    assert _git(project, "log", "-1", "--format=%s") == "add two numbers\n"
