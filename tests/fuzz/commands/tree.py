"""The project that lines run in, and the home directory beside it: ordinary files, and every trap a clone can hold."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

ARENA = Path("/tmp/arena")  # in a file system of our own; the same path each time, since lines name it
PROJECT = ARENA / "project"
UNPACKED = ARENA / "unpacked"  # the same project, out of an archive: its own git configuration is hostile
HOME = ARENA / "home"
OUTSIDE = ARENA / "outside"
CANARY = "CANARY7f3a"  # stands in every secret
MANY = 2100  # files of one folder

_MARK = "#!/bin/sh\necho ran >> /tmp/arena/RAN\n"
"""A program of the project. Nothing that only reads starts one."""

_FILES: Mapping[str, str] = {
    "README.md": "# hello\n\nword count 3\nx=1\n",
    "Makefile": "all test version help:\n\t@echo ran >> /tmp/arena/RAN\n$(shell echo ran >> /tmp/arena/RAN)\n",
    "conftest.py": "open('/tmp/arena/RAN', 'a')\n",
    "sitecustomize.py": "open('/tmp/arena/RAN', 'a')\n",
    "version": _MARK,
    "package.json": '{"name": "x", "version": "1.0.0", "scripts": {"test": "echo ran >> /tmp/arena/RAN"}}\n',
    ".yarnrc": 'yarn-path "./run"\n',
    ".npmrc": "script-shell=./run\n",
    "rust-toolchain.toml": '[toolchain]\npath = "/tmp/arena/project/evil"\n',
    "data.json": '{"a": [1, 2, {"b": "c"}], "env": 1}\n',
    "data.csv": "a,b\n1,2\n3,4\n",
    "src/app.py": "import os\n\n\ndef main():\n    # TODO x\n    print('hello')\n",
    "src/util.py": "def helper():\n    return 1\n",
    "src/deep/er/most.py": "x = 1\n",
    "tests/test_app.py": "def test_x():\n    assert True\n",
    "docs/a b.md": "two words\n",
    "run": _MARK,
    "ls": _MARK,
    "cat": _MARK,
    "evil/run": _MARK,
    "evil/.gitconfig": "[core]\n\tfsmonitor = /tmp/arena/project/run\n\tpager = /tmp/arena/project/run\n",
    "list": "/tmp/arena/home/.ssh/id_ed25519\0",
    "opts": "/tmp/arena/home/.ssh/id_ed25519\n",
    "payload.txt": "a[$(touch PWNED)]\n$(touch PWNED)\n`touch PWNED`\n",
    "names.txt": "README.md\nkeys.txt\n-delete\n--pre=./run\n$(touch PWNED)\n",
    "x.sed": "w PWNED\n1e touch PWNED\n",
    "x.awk": 'BEGIN { system("touch PWNED"); print "x" > "PWNED" }\n',
    "x.jq": "env\n",
    "magic": "0 string x evil\n",
    "$(touch PWNED)": "x\n",
    "`touch PWNED`": "x\n",
    "a[$(touch PWNED)]": "x\n",
    "a\nb": "x\n",
    ";touch PWNED": "x\n",
    "-rf": "x\n",
    "-n": "x\n",
    "-delete": "x\n",
    "-exec": "x\n",
    "-o": "x\n",
    "-f": "x\n",
    "-Tl": "x\n",
    "--pre=run": "x\n",
    "--output=PWNED": "x\n",
    "--compress-program=run": "x\n",
    "--files0-from=list": "x\n",
    "--help": "x\n",
    "--ext-diff": "x\n",
    "\u00a0": "x\n",
    **{
        f"evil/{name}": _MARK for name in ("ls", "cat", "git", "grep", "rg", "head", "wc", "sort", "sed", "awk", "find")
    },
}
_PROGRAMS = ("run", "ls", "cat", "version")
_LINKS: Mapping[str, Path | str] = {
    "keys.txt": HOME / ".ssh/id_ed25519",
    "-k": HOME / ".ssh/id_ed25519",
    "zkey": HOME / ".ssh/id_ed25519",
    "elsewhere": OUTSIDE,
    "src/deep/er/link": OUTSIDE / "secret.txt",
    "src/deep/key.py": HOME / ".ssh/id_ed25519",
    "d1/a": OUTSIDE / "secret.txt",
    "d2/a": HOME / ".ssh/id_ed25519",
    "many/key": HOME / ".ssh/id_ed25519",
    "dangling": ARENA / "nothing",
}
_HOME_FILES: Mapping[str, str] = {
    ".ssh/id_ed25519": CANARY,
    ".ssh/config": CANARY,
    ".aws/credentials": CANARY,
    ".netrc": CANARY,
    ".config/gh/hosts.yml": CANARY,
    "notes.txt": CANARY,
    ".bashrc": "echo ran >> /tmp/arena/RAN\n",
    ".gitconfig": '[user]\n\tname = A\n\temail = a@example.org\n[protocol "file"]\n\tallow = always\n',
}
_HOSTILE = {
    "core.fsmonitor": "/tmp/arena/project/run",
    "core.pager": "/tmp/arena/project/run",
    "core.sshCommand": "/tmp/arena/project/run",
    "core.editor": "/tmp/arena/project/run",
    "core.hooksPath": "/tmp/arena/project/evil",
    "diff.external": "/tmp/arena/project/run",
    "diff.evil.textconv": "/tmp/arena/project/run",
    "diff.evil.command": "/tmp/arena/project/run",
    "filter.evil.clean": "/tmp/arena/project/run",
    "filter.evil.smudge": "/tmp/arena/project/run",
    "filter.evil.process": "/tmp/arena/project/run",
    "gpg.program": "/tmp/arena/project/run",
    "log.showSignature": "true",
    "alias.x": "!/tmp/arena/project/run",
    "credential.helper": "/tmp/arena/project/run",
    "pager.log": "/tmp/arena/project/run",
    "pager.status": "/tmp/arena/project/run",
    "trailer.x.command": "/tmp/arena/project/run",
    "uploadpack.packObjectsHook": "/tmp/arena/project/run",
}


def watched() -> list[Path]:
    """The files that only a question may open, and their folders."""
    secrets = [HOME / name for name, text in _HOME_FILES.items() if text == CANARY]
    return [*secrets, OUTSIDE / "secret.txt", HOME / ".ssh"]


def plant(*, user: int) -> None:
    """Make everything below `ARENA`, owned by `user`."""
    for folder in (ARENA, PROJECT, HOME, OUTSIDE):
        folder.mkdir(mode=0o755)
        os.chown(folder, user, user)
    _write(HOME, _HOME_FILES, programs=())
    _write(OUTSIDE, {"secret.txt": CANARY, "README.md": "outside\n"}, programs=())
    _write(PROJECT, _FILES, programs=(*_PROGRAMS, *(name for name in _FILES if name.startswith("evil/"))))
    _write(PROJECT, {f"many/{number:04}.txt": "x\n" for number in range(MANY)}, programs=())
    for name, target in _LINKS.items():
        (PROJECT / name).parent.mkdir(exist_ok=True, parents=True)
        (PROJECT / name).symlink_to(target)
    _own(ARENA, user=user)
    _repositories(user=user)
    _own(ARENA, user=user)


def _write(root: Path, files: Mapping[str, str], *, programs: tuple[str, ...]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, "utf-8")
        path.chmod(0o755 if name in programs else 0o644)


def _own(root: Path, *, user: int) -> None:
    for folder, folders, files in os.walk(root):
        for name in (".", *folders, *files):
            os.chown(Path(folder, name), user, user, follow_symlinks=False)


def _repositories(*, user: int) -> None:
    """The project's own, a bare one and a submodule inside it that are hostile, and the copy that is itself."""
    vendor = PROJECT / "vendor"
    _git("init", "-q", "-b", "main", at=PROJECT, user=user)
    _git("config", "core.checkStat", "minimal", at=PROJECT, user=user)
    _git("config", "core.trustctime", "false", at=PROJECT, user=user)
    _git("add", "README.md", "src/app.py", "src/util.py", "Makefile", "many", at=PROJECT, user=user)
    _git("commit", "-q", "-m", "first", at=PROJECT, user=user)
    (PROJECT / "src/util.py").write_text("def helper():\n    return 2\n", "utf-8")
    _git("commit", "-q", "-am", "second", at=PROJECT, user=user)
    _git("tag", "v1.0", at=PROJECT, user=user)
    _git("branch", "feature", at=PROJECT, user=user)
    (PROJECT / "src/app.py").write_text("import os\n\n\ndef main():\n    print('changed')\n", "utf-8")
    vendor.mkdir()
    os.chown(vendor, user, user)
    _git("init", "-q", "--bare", "bare", at=vendor, user=user)
    _git("clone", "-q", "--no-hardlinks", str(PROJECT), "module", at=vendor, user=user)
    for folder in (vendor / "bare", vendor / "module"):
        _make_hostile(folder, user=user)
    _git("config", "core.bare", "false", at=vendor / "bare", user=user)
    _git("config", "core.worktree", "..", at=vendor / "bare", user=user)
    shutil.copytree(PROJECT, UNPACKED, symlinks=True, ignore=shutil.ignore_patterns("many", "vendor"))
    _own(UNPACKED, user=user)
    _make_hostile(UNPACKED, user=user)
    shutil.rmtree(UNPACKED / "many", ignore_errors=True)


def _make_hostile(folder: Path, *, user: int) -> None:
    for name, value in _HOSTILE.items():
        _git("config", name, value, at=folder, user=user)
    (folder / ".gitattributes").write_text("* diff=evil filter=evil\n", "utf-8")


def _git(*arguments: str, at: Path, user: int) -> None:
    environment = {"HOME": str(HOME), "PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=at, env=environment, user=user, group=user, extra_groups=[], check=True)
