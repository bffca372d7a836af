"""Whole sessions whose commands run in the sandbox of this machine."""

import json
import os
import socket
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from claw_acp.core.mode import Mode
from claw_acp.security.command_profile import MOST_ENTRIES
from tests.sandbox.sessions import entries, repository, run, session, tree
from tests.support.editors.editor import FULL
from tests.support.editors.exchange import spoken
from tests.support.script_files import say
from tests.support.toolchain import missing

# ------------------------------------------------------------------ which command runs where


@pytest.mark.parametrize("protocol", [1, 2])
@pytest.mark.parametrize("mode", ["plan", "ask", "edit", "auto"])
async def test_a_command_that_only_reads_runs_unasked_in_every_mode(place: Path, mode: Mode, protocol: int) -> None:
    (place / "project" / "file").write_text("text\n")
    async with session(place, run("cat file"), mode=mode, protocol=protocol) as one:
        assert (one.calls[0]["status"], one.reasons) == ("completed", [])


async def test_a_command_that_changes_the_project_does_so_and_nothing_else(place: Path) -> None:
    outside = place / "home" / "x"
    script = f"import pathlib; pathlib.Path('made').touch(); pathlib.Path({str(outside)!r}).touch()"
    (place / "project" / "x.py").write_text(script)
    async with session(place, run(f"{sys.executable} x.py")) as one:
        assert (one.calls[0]["status"], one.reasons) == ("failed", [])
        assert "Read-only file system" in one.shown(0)
        assert "sandbox=off" in one.shown(0)
    assert (place / "project" / "made").exists()
    assert not outside.exists()


async def test_what_a_person_allows_outside_runs_outside_and_the_question_says_so(place: Path) -> None:
    async with session(place, run("touch ~/x"), run("true made", sandbox="off")) as one:
        assert [reason.count("outside of the sandbox") > 0 for reason in one.reasons] == [True, True]
        assert "outside(true made)" in one.reasons[1]
    assert (place / "home" / "x").exists()


async def test_a_rule_about_outside_needs_no_question_and_one_about_the_command_is_not_enough(place: Path) -> None:
    rules = '[permissions]\nallow = ["outside(touch ../home/x)", "shell(touch y)"]\n'
    steps = run("touch ../home/x"), run("touch y"), run("touch y", sandbox="off")
    async with session(place, *steps, mode="ask", config=rules, answer="reject_once") as one:
        assert [found["status"] for found in one.calls] == ["completed", "completed", "failed"]
        assert len(one.reasons) == 1
    assert (place / "home" / "x").exists()


async def test_the_question_says_where_a_command_would_run(place: Path) -> None:
    async with session(place, run("touch x"), mode="ask") as one:
        assert "It would run in the sandbox, without network." in one.reasons[0]


async def test_what_landlock_cannot_guard_is_told_before_anybody_relies_on_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("claw_acp.agent.command_sandboxes._told", set[str]())  # once a process, which tests share
    config = '[sandbox]\nbackend = "landlock"\n'
    async with session(place, run("touch x"), mode="ask", config=config, session={"notices": {}}) as one:
        assert "which does not guard git's hooks" in one.reasons[0]
        titles = [told["title"] for told in one.editor.updates("notice")]
        assert "The sandbox landlock does not keep git's hooks" in " ".join(titles)
        outcome = await one.editor.prompt("/permissions")
        assert "It does not keep git's hooks" in spoken(outcome.updates, "agent_message_chunk")


async def test_a_project_that_is_too_large_to_be_guarded_everywhere_is_told_of_once(place: Path) -> None:
    for number in range(MOST_ENTRIES + 1):
        (place / "project" / "deep" / str(number)).mkdir(parents=True)
    async with session(place, run("touch x"), run("touch y"), session={"notices": {}}) as one:
        titles = [told["title"] for told in one.editor.updates("notice")]
    assert len([title for title in titles if "is too large for all settings of editors" in title]) == 1


async def test_the_command_about_permissions_names_the_sandbox(place: Path) -> None:
    async with session(place, say("hello")) as one:
        outcome = await one.editor.prompt("/permissions")
        assert "Commands run in the sandbox " in spoken(outcome.updates, "agent_message_chunk")


async def test_temporary_files_last_from_command_to_command_and_are_not_those_of_the_machine(place: Path) -> None:
    name = f"claw-{place.name}"
    async with session(place, run(f"echo kept > /tmp/{name}"), run(f"cat /tmp/{name}")) as one:
        assert "kept" in one.shown(1)
        assert one.reasons == []
    assert not os.path.lexists(f"/tmp/{name}")  # noqa: ASYNC240


# ------------------------------------------------------------------ the net under the reader of lines


def liar(place: Path) -> str:
    """A PATH on which `head`, which only reads, runs the file that it is given."""
    program = place / "programs" / "head"
    program.write_text('#!/bin/sh\nexec /bin/sh "$1" 2>&1\n')
    program.chmod(0o755)
    return f"{program.parent}:/usr/bin:/bin"


@pytest.mark.parametrize(("mode", "answer", "asked", "made"), [
    ("plan", "allow_once", 0, False),
    ("ask", "reject_once", 1, False),
    ("ask", "allow_once", 1, True),
    ("auto", "allow_once", 0, True),
])  # fmt: skip
async def test_a_command_that_only_seemed_to_read_is_asked_about_and_runs_again(
    place: Path,
    mode: Mode,
    answer: str,
    asked: int,
    made: bool,  # noqa: FBT001
) -> None:
    (place / "project" / "way").write_text("touch made\n")
    async with session(place, run("head way"), mode=mode, answer=answer, path=liar(place)) as one:
        assert len(one.reasons) == asked
        assert all("seemed to only read" in reason for reason in one.reasons)
        assert one.calls[0]["status"] == ("completed" if made else "failed")
    assert (place / "project" / "made").exists() is made


PYTHON = f"{sys.executable} -IS -c"
WAYS = {
    "create": "echo x > made",
    "append": "echo x >> file",
    "empty": ": > file",
    "remove": "rm -f file",
    "rename": "mv file other",
    "link": "ln -s /etc/passwd made",
    "hard link": "ln file made",
    "mode": "chmod 777 file",
    "time": "touch file",
    "directory": "mkdir made",
    "pipe": "mkfifo made",
    "by descriptor": f"{PYTHON} 'import os; os.open(\"made\", os.O_CREAT | os.O_WRONLY)'",
    "truncate": f"{PYTHON} 'import os; os.truncate(\"file\", 0)'",
    "attributes": f'{PYTHON} \'import os; os.setxattr("file", "user.x", b"1")\'',
    "through /proc": "echo x > /proc/self/cwd/made",
    "through another root": "echo x > /proc/1/root$PWD/made",
    "remount": "mount -o remount,rw / && echo x > made",
    "namespace": "unshare -Urm sh -c 'mount -o remount,rw /; echo x > made'",
    "git hook": "echo x > .git/hooks/pre-commit",
    "git settings": "git config core.fsmonitor ./x",
    "git commit": "git commit --allow-empty -m x",
    "git directory away": "mv .git away",
    "home": "echo x > $HOME/made",
    "home by its path": "echo x > ../home/made",
    "beside the project": "echo x > ../made",
    "detached": "setsid sh -c 'sleep 0.1; echo x > made' & exit",
    "environment of ours": "tr '\\0' '\\n' < /proc/$PPID/environ | grep FAKE_API_KEY=planted && echo LEAKED",
    "credentials": "cat $HOME/.ssh/id_x | grep planted && echo LEAKED",
    "our settings": "cat $HOME/claw/config.toml | grep scripted && echo LEAKED",
    "connection": f"{PYTHON} 'import socket; socket.create_connection((\"127.0.0.1\", PORT))'",
    "datagram": f'{PYTHON} \'import socket; socket.socket(2, 2).sendto(b"x", ("127.0.0.1", PORT))\'',
    "shell's connection": "exec 3<>/dev/tcp/127.0.0.1/PORT && echo x >&3",
    "local socket": f"{PYTHON} 'import socket; socket.socket(1).connect(\"../home/socket\")'",
    "kill us": "kill -TERM OURS",
    "stop us": "kill -STOP OURS",
}


class Doors:
    """Sockets of this machine that nobody should come to."""

    def __init__(self, place: Path) -> None:
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._unix = socket.socket(socket.AF_UNIX)
        self._unix.bind(str(place / "home" / "socket"))
        self._unix.listen()
        self._all = (self._tcp, self._udp, self._unix)
        for each in self._all:
            each.settimeout(0)

    def visitors(self) -> list[str]:
        found: list[str] = []
        for name, come in (("tcp", self._tcp.accept), ("udp", lambda: self._udp.recv(9)), ("unix", self._unix.accept)):
            try:
                come()
            except BlockingIOError:
                continue
            found.append(name)
        return found

    def close(self) -> None:
        for each in self._all:
            each.close()


@pytest.fixture
def doors(place: Path) -> Iterator[Doors]:
    made = Doors(place)
    yield made
    made.close()


async def test_a_line_that_is_taken_for_reading_reaches_nothing(place: Path, doors: Doors) -> None:
    project, home = place / "project", place / "home"
    (project / "file").write_text("text\n")
    repository(project)
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_x").write_text("planted")
    for index, way in enumerate(WAYS.values()):
        (project / f"way{index}").write_text(way.replace("PORT", str(doors.port)).replace("OURS", str(os.getpid())))
    before, beside = tree(project), entries(place)
    steps = [run(f"head way{index}") for index in range(len(WAYS))]
    async with session(place, *steps, mode="plan", path=liar(place)) as one:
        told = {name: one.shown(index) for index, name in enumerate(WAYS)}
        assert one.reasons == []
    assert [name for name, text in told.items() if "LEAKED" in text] == []
    assert doors.visitors() == []
    assert tree(project) == before
    assert entries(place) == beside
    assert not (home / "made").exists()
    assert len(told) == len(WAYS) >= 30


# ------------------------------------------------------------------ terminals of the editor


async def test_a_command_in_the_editors_terminal_is_confined_and_called_as_people_know_it(place: Path) -> None:
    async with session(place, run("echo x > made; pwd"), **FULL) as one:
        created = [f.message["params"] for f in one.editor.transcript if f.message.get("method") == "terminal/create"]
        assert "bwrap" in " ".join(created[0]["args"])
        assert one.calls[0]["title"] == "echo x > made; pwd"
        assert one.calls[0]["status"] == "completed"
    assert (place / "project" / "made").exists()


# ------------------------------------------------------------------ programs in the background

SERVER = """
import http.server, pathlib
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
pathlib.Path("port").write_text(f"{server.server_port}\\n")
server.serve_forever()
"""
ASK = """
import pathlib, time, urllib.request
port = pathlib.Path("port")
while not port.exists() or not port.read_text().endswith("\\n"):
    time.sleep(0.01)
print(urllib.request.urlopen(f"http://127.0.0.1:{port.read_text().strip()}").status)
"""


@pytest.mark.parametrize("terminal", [False, True])
async def test_a_server_in_the_background_is_reached_by_the_commands_that_follow(
    place: Path, *, terminal: bool
) -> None:
    (place / "project" / "server.py").write_text(SERVER)
    (place / "project" / "ask.py").write_text(ASK)
    steps = run(f"{sys.executable} server.py", background=True), run(f"{sys.executable} ask.py")
    async with session(place, *steps, **(FULL if terminal else {})) as one:
        assert [found["status"] for found in one.calls] == ["completed", "completed"], one.shown(1)
        port = int((place / "project" / "port").read_text())
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        assert one.reasons == []


# ------------------------------------------------------------------ checks of a project


async def test_a_projects_own_check_runs_in_the_sandbox_now_and_on_the_files_as_they_were(place: Path) -> None:
    project, made = place / "project", place / "home" / "made"
    (project / "sums.py").write_text("def double(number):\n    return number * 2\n")
    tests = ("double(2) == 4", "double(2) == 5")
    cases = (f"def test_{index}():\n    assert {test}\n" for index, test in enumerate(tests))
    (project / "test_sums.py").write_text("\n".join(("from sums import double", *cases)))
    (project / "conftest.py").write_text(
        f"import contextlib, pathlib\nwith contextlib.suppress(OSError):\n    pathlib.Path({str(made)!r}).touch()\n"
    )
    (place / "programs" / "pytest").symlink_to(Path(sys.executable).with_name("pytest"))
    env = {"CLAW_ACP_REPAIR": "checks"}
    edit = run("sed -i 's/number . 2/number * 3/' sums.py")
    async with session(place, edit, say("done"), env=env, path=f"{place / 'programs'}:/usr/bin:/bin") as one:
        [check] = [found for found in one.calls if found["title"] != edit["call"]["arguments"]["command"]]
        assert check["status"] == "failed"
        assert "test_0 fails" in json.dumps(check["content"])
        assert "test_1" not in json.dumps(check["content"])
    assert not made.exists()


# ------------------------------------------------------------------ a day's work

WHEEL = {
    "tiny.py": "x = 'installed'\n",
    "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
    "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "tiny-1.0.dist-info/RECORD": "tiny.py,,\n",
}
DAY = (
    "git clone ../origin.git app",
    "cd app && git status && git log --oneline",
    f"cd app && {sys.executable} -m venv --without-pip .venv",
    f"cd app && {sys.executable} -m pip --python .venv install --no-index ../tiny-1.0-py3-none-any.whl",
    "cd app && .venv/bin/python -c 'import tiny; print(tiny.x)'",
    f"cd app && {sys.executable} -m pytest -q -p no:cacheprovider test_two.py",
    "cd app && echo '# more' >> test_two.py && git add test_two.py && git commit -qm second",
    "cd app && git log --oneline | head -3",
    "cd app && git checkout -q -b topic && git merge -q main && git gc -q && git worktree list",
    "cd app && npm test --silent",
)


@pytest.mark.skipif(bool(missing("git")), reason=missing("git"))
@pytest.mark.skipif(bool(missing("npm")), reason=missing("npm"))
async def test_a_days_work_in_auto_mode_asks_at_most_three_times(place: Path) -> None:
    project, person = place / "project", {"name": "Ada", "email": "ada@example.org"}
    (place / "home" / ".gitconfig").write_text("".join(["[user]\n", *(f"{k} = {v}\n" for k, v in person.items())]))
    source = place / "source"
    source.mkdir()
    (source / "test_two.py").write_text("def test_two():\n    assert 1 + 1 == 2\n")
    (source / "package.json").write_text(json.dumps({"name": "d", "version": "1.0.0", "scripts": {"test": "node -v"}}))
    with zipfile.ZipFile(project / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in WHEEL.items():
            wheel.writestr(name, text)
    for words in ("init -qb main", "add -A", "commit -qm first", "clone -q --bare . ../origin.git"):
        await anyio.run_process(["git", *words.split()], cwd=source)
    steps, path = [run(line) for line in DAY], f"{os.environ['PATH']}"
    async with session(place, *steps, path=path) as one:
        outcomes = {call["title"]: call["status"] for call in one.calls}
        assert outcomes == dict.fromkeys(DAY, "completed"), one.editor.transcript[-30:]
        assert "installed" in one.shown(4)
        assert len(one.reasons) <= 3


async def test_a_sandbox_that_failed_before_the_command_began_is_made_once_more(place: Path) -> None:
    failing = 'mkdir first && echo "bwrap: Can\'t create file at /gone: Read-only file system" && exit 1 || echo again'
    async with session(place, run(failing)) as one:
        assert "again" in one.shown(0)


# ------------------------------------------------------------------ a machine without a sandbox


@pytest.mark.parametrize(("use", "asked"), [("on", 1), ("tolerant", 0)])
async def test_without_a_sandbox_people_are_told_and_auto_mode_asks_about_commands(
    place: Path, use: str, asked: int
) -> None:
    config = '[sandbox]\nbackend = "unheard-of"\n'
    steps = run("cat /dev/null"), run("touch x")
    async with session(place, *steps, config=config, env={"CLAW_ACP_SANDBOX": use}) as one:
        assert [found["status"] for found in one.calls] == ["completed", "completed"]
        assert len(one.reasons) == asked
        assert all("no sandbox works on this machine" in reason for reason in one.reasons)
