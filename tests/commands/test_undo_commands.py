"""The changes that shell commands made to files are taken back, too, whatever they are."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, say, turn

AUTO = 'mode = "auto"\n[permissions]\nallow = ["shell(*)"]'
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]

TREE = {"a.txt": b"one\n", "sub/b.bin": bytes(range(256)), "sub/deep/c.txt": b"c\r\n", ".env": b"KEY=1\n"}


def _grow(project: Path) -> None:
    for path in project.iterdir():
        path.unlink()
    for name, content in TREE.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes(content)
    (project / "run.sh").write_text("#!/bin/sh\n")
    (project / "run.sh").chmod(0o755)
    (project / "link").symlink_to("sub/b.bin")
    (project / "empty").mkdir()


def _commit(project: Path) -> None:
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*GIT, *command], cwd=project, check=True, env={"PATH": os.environ["PATH"], "HOME": "/"})
    for path in project.rglob("*"):  # as if it had been some time ago: git trusts no time of its own writing
        if ".git" not in path.parts and not path.is_symlink():
            os.utime(path, (1_700_000_000, 1_700_000_000))
    subprocess.run([*GIT, "status"], cwd=project, check=True, capture_output=True)


def _leave(project: Path) -> None:
    assert not (project / ".git").exists()


def _state(project: Path) -> dict[str, object]:
    """All that an undo has to bring back."""
    found: dict[str, object] = {}
    for path in sorted(project.rglob("*")):
        name = str(path.relative_to(project))
        if not name.startswith(".git"):
            content = (
                str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else "directory"
            )
            found[name] = content, path.lstat().st_mode
    return found


@pytest.mark.parametrize("prepare", [_commit, _leave], ids=["in git", "without git"])
@pytest.mark.parametrize(
    "line",
    [
        "rm -r sub a.txt .env",
        "mv sub moved && mv a.txt sub",
        "chmod 600 run.sh a.txt && mkdir new && echo x > new/x",
        "rm link && ln -s a.txt link && ln -s nowhere other",
        "rm -r sub && echo file > sub && rm a.txt && mkdir -p a.txt/b && echo y > a.txt/b/c",
        "rmdir empty; printf 'a\\0b' > sub/b.bin; : > a.txt",
        "for f in a.txt .env; do echo more >> $f; done",
        "git add -A; git rm -qrf sub; git stash -q; git mv run.sh walk.sh; rm -rf .git/objects; touch t",
    ],
)
async def test_a_command_is_taken_back_and_done_again(
    opened: Spawn, project: Path, prepare: Callable[[Path], None], line: str
) -> None:
    _grow(project)
    prepare(project)
    (project / "untracked.txt").write_text("new\n")
    (project / "a.txt").write_text("dirty\n")
    before = _state(project)
    async with opened(script=Script(turn(call("shell", command=line)), turn(say("done"))), config=AUTO) as editor:
        editor.will_answer("allow_once")
        outcome = await editor.prompt("do it")
        after = _state(project)
        assert after != before, outcome.calls
        said = (await editor.prompt("/undo")).text
        assert _state(project) == before, said
        said = (await editor.prompt("/redo")).text
        assert _state(project) == after, said


async def test_what_a_background_command_did_is_taken_back_when_that_is_wanted(opened: Spawn, project: Path) -> None:
    _grow(project)
    before = _state(project)
    line = "echo new > sub/deep/c.txt; rm a.txt; exec sleep 60"
    script = Script(
        turn(call("shell", command=line, background=True)),
        turn(call("write_file", path="other.txt", content="beside\n")),
        turn(say("done")),
    )
    async with opened(script=script, config=AUTO) as editor:
        editor.will_answer("allow_once")
        await editor.prompt("do it")
        await eventually(lambda: not (project / "a.txt").exists(), what="the command to get so far")
        assert "`a.txt`" in (await editor.prompt("/undo")).text
        said = (await editor.prompt("/undo overwrite")).text
        assert _state(project) == before, said


async def test_what_a_command_goes_on_to_do_belongs_to_its_turn(opened: Spawn, project: Path, tmp_path: Path) -> None:
    line = (
        "; ".join(f"until test -e {tmp_path}/go{n}; do sleep 0.02; done; echo new > {n}" for n in "123") + "; sleep 60"
    )
    script = Script(turn(call("shell", command=line, background=True)), turn(say("done")), loop=True)
    async with opened(script=script, config=AUTO) as editor:
        editor.will_answer("allow_once")
        await editor.prompt("start")
        for name in "123":
            (tmp_path / f"go{name}").touch()
            await eventually((project / name).exists, what="the command to go on")
            await editor.prompt("and?")
        assert "| 1 | start | `1`, `2`, `3` |" in (await editor.prompt("/undo list")).text
        assert "+new" in (await editor.prompt("/diff 1")).text
        await editor.prompt("/undo 1 overwrite")
        assert not any((project / name).exists() for name in "123")


async def test_a_large_file_without_a_copy_is_not_shown_as_new(opened: Spawn, project: Path) -> None:
    (project / "large").write_bytes(b"a" * 2_000_000)
    line = 'python3 -c \'open(chr(108) + "arge", "w").write("b")\''
    async with opened(script=Script(turn(call("shell", command=line)), turn(say("done"))), config=AUTO) as editor:
        editor.will_answer("allow_once")
        await editor.prompt("change it")
        shown = (await editor.prompt("/diff")).text
        assert "`large` (2,000,000 bytes, not kept)" in shown
        assert "+b" not in shown


async def test_names_that_are_no_text_come_back_and_our_own_files_are_left_out(
    opened: Spawn, project: Path, home: Path
) -> None:
    odd = home / os.fsdecode(b"odd\xff\n.txt")
    odd.write_text("one\n")
    script = Script(turn(call("shell", command="rm ./odd*; mkdir d; echo new > d/x")), turn(say("done")))
    assert project.parent == home.parent
    async with opened(script=script, config=AUTO, project=home) as editor:
        editor.will_answer("allow_once")
        await editor.prompt("do it")
        assert not odd.exists()
        shown = (await editor.prompt("/diff")).text
        assert "+new" in shown
        assert "claw" not in shown
        undone = (await editor.prompt("/undo")).text
        assert odd.read_text() == "one\n", undone
